//! How far a judge can be trusted: measured on labelled examples, kept beside the runs, printed with what it judges.

use super::models;
use crate::args::{CalibrateArgs, Format, JudgeCommand};
use crate::exit::Exit;
use crate::files;
use crate::io::Io;
use crate::open::Source;
use crate::report;
use ::run::providers::Cassette;
use ::score::questions::{Calibration, ExampleError, Labelled};
use campaign::{NotCalibrated, calibrate_judge};
use model::{Hash, SubjectFile, UserError, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Where the workspace keeps its examples.
const EXAMPLES: &str = "judge/examples.jsonl";

pub(crate) fn judge(io: &Io, source: &Source, command: &JudgeCommand) -> Exit {
    match command {
        JudgeCommand::Calibrate(args) => calibrate(io, source, args),
    }
}

/// A calibration with what it was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calibrated {
    pub judge: String,
    pub configuration: Hash,
    pub examples: Hash,
    pub found: Calibration,
}

fn calibrate(io: &Io, source: &Source, args: &CalibrateArgs) -> Exit {
    let workspace = match super::open(io, source, "judge calibrate") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let (text, examples) = match examples(source, args.file.as_deref()) {
        Ok(read) => read,
        Err(wrong) => return report::refused(io, "judge calibrate", &wrong),
    };
    let prepared = models::subject(&workspace, &args.judge)
        .and_then(|file| models::judge(file, &models::terms(Some(args.budget)), Cassette::Off).map(|judge| (file, judge)));
    let (file, judge) = match prepared {
        Ok(prepared) => prepared,
        Err(why) => return report::refused(io, "judge calibrate", &[why]),
    };
    let at_once = usize::try_from(args.concurrency).unwrap_or(1);
    let found = match super::block_on(calibrate_judge(&judge, &examples, at_once)) {
        Ok(Ok(found)) => found,
        Ok(Err(NotCalibrated::OneLabel)) => {
            return report::refused(io, "judge calibrate", &[UserError::plain("the examples need both labels, pass and fail")]);
        }
        Ok(Err(NotCalibrated::Fault(fault))) => {
            io.say(&format!("the judge was not calibrated: {fault}"));
            return Exit::Incomplete;
        }
        Err(error) => {
            io.say(&format!("the judge was not calibrated: {error}"));
            return Exit::Incomplete;
        }
    };
    let calibrated = Calibrated { judge: file.name.value.clone(), configuration: file.identity(), examples: Hash::of_text(&text), found };
    let kept = keep(io, &args.store.store, &calibrated);
    io.result(&shown(io, &calibrated), kept)
}

fn examples(source: &Source, file: Option<&Path>) -> Result<(String, Vec<Labelled>), Vec<UserError>> {
    let text = match file {
        Some(path) => files::read_text(path).map_err(|why| vec![UserError::caused_by(why).within(path.display())])?,
        None => {
            let files = source.files().map_err(|problems| problems.into_iter().map(UserError::from).collect::<Vec<_>>())?;
            let absent = || vec![UserError::new(format!("the workspace has no {EXAMPLES}"), "name a FILE")];
            files.get(EXAMPLES).ok_or_else(absent)?.to_owned()
        }
    };
    let name = file.map_or_else(|| EXAMPLES.to_owned(), |path| path.display().to_string());
    let wrong = |wrong: Vec<ExampleError>| wrong.iter().map(|wrong| UserError::caused_by(wrong).within(&name)).collect::<Vec<_>>();
    let examples = Labelled::read_all(&text).map_err(wrong)?;
    Ok((text, examples))
}

fn shown(io: &Io, calibrated: &Calibrated) -> String {
    let Calibrated { judge, found, .. } = calibrated;
    if io.format == Format::Json {
        return format!(
            "{:#}\n",
            json!({ "format": report::FORMAT, "command": "judge calibrate", "judge": judge, "calibration": found, "exit": 0 })
        );
    }
    let rows = [
        ("agreement", found.agreement, "examples with the verdict of their label"),
        ("kappa", found.kappa, "0 is chance, 1 is full agreement"),
        ("false pass", found.false_pass, "of the fails, how many it passed"),
        ("false fail", found.false_fail, "of the passes, how many it failed"),
        ("order flips", found.order_flips, "verdicts that changed with the order in which they were offered"),
        ("order bias", found.order_bias, "how much more often it passes when pass is offered first"),
        ("length bias", found.length_bias, "how much more than the labels it favours longer material"),
    ];
    let rows = rows.map(|(name, value, meaning)| vec![name.to_owned(), format!("{value:.3}"), meaning.to_owned()]);
    let unread = if found.unread > 0 { format!(", {} of them without a readable verdict", found.unread) } else { String::new() };
    format!("{}\n\njudge {judge} on {} examples{unread}\n", report::table(&["measure", "value", "meaning"], rows.to_vec()), found.examples)
}

/// Beside the store, one file for each configuration of a judge.
fn path(store: &Path, configuration: &Hash) -> PathBuf {
    store.parent().unwrap_or(Path::new(".")).join("judges").join(format!("{}.json", configuration.short()))
}

fn keep(io: &Io, store: &Path, calibrated: &Calibrated) -> Exit {
    let path = path(store, &calibrated.configuration);
    let folder = path.parent().unwrap_or(Path::new("."));
    let kept = files::create_folder(folder).and_then(|()| files::write(&path, &format!("{:#}\n", json!(calibrated))));
    match kept {
        Ok(()) => Exit::Clean,
        Err(error) => {
            io.say(&format!("the calibration could not be kept in {}: {error}", path.display()));
            Exit::Incomplete
        }
    }
}

/// What is known about a judge, in a line.
pub(super) fn known(workspace: &Workspace, store: &Path, name: &str) -> Option<String> {
    let file: &SubjectFile = workspace.subject(name)?;
    let path = path(store, &file.identity());
    let kept = files::exists(&path).then(|| files::read_text(&path).ok()).flatten();
    let calibrated =
        kept.and_then(|text| serde_json::from_str::<Calibrated>(&text).ok()).filter(|kept| kept.configuration == file.identity());
    Some(match calibrated {
        Some(Calibrated { found, .. }) => format!(
            "judge {name}: agrees with people on {:.3} of {} labelled examples, kappa {:.3}, passes {:.3} of what should fail",
            found.agreement, found.examples, found.kappa, found.false_pass
        ),
        None => format!("judge {name}: nobody has measured how far it can be trusted; run bardo-eval judge calibrate --judge {name}"),
    })
}
