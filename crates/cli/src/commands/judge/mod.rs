//! `judge calibrate`: measures a judge on labelled examples. The result is stored beside the runs and printed with judged runs.

mod calibration_text;

use super::models;
use crate::args::{CalibrateArgs, JudgeCommand};
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use ::run::providers::CassetteMode;
use ::score::questions::{AgreementBounds, CalibrationVerdict, ExampleError, JudgeCalibration, LabelledExample};
use ::score::statistics::JudgeErrorRates;
use calibration_text::CalibrationResult;
use campaign::{CalibrationError, calibrate_judge};
use model::{ContentHash, SubjectFile, UserError, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::{Path, PathBuf};
use store::StoreLocation;

/// Labelled examples of the workspace.
const EXAMPLES_PATH: &str = "judge/examples.jsonl";

pub(crate) fn judge(io: &CliOutput, source: &WorkspaceSource, command: &JudgeCommand) -> ExitKind {
    match command {
        JudgeCommand::Calibrate(args) => calibrate(io, source, args),
    }
}

/// Calibration with the configuration and examples it was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredCalibration {
    pub judge: String,
    pub configuration: ContentHash,
    pub examples: ContentHash,
    pub found: JudgeCalibration,
}

fn calibrate(io: &CliOutput, source: &WorkspaceSource, args: &CalibrateArgs) -> ExitKind {
    let workspace = match super::open_workspace(io, source, "judge calibrate") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let (text, examples) = match read_examples(source, args.file.as_deref()) {
        Ok(read) => read,
        Err(wrong) => return report::print_refusal(io, "judge calibrate", &wrong),
    };
    let config = models::provider_config(Some(args.budget));
    let prepared = models::find_subject(&workspace, &args.judge)
        .and_then(|file| models::open_judge(file, &config, CassetteMode::Off).map(|judge| (file, judge)));
    let (file, judge) = match prepared {
        Ok(prepared) => prepared,
        Err(why) => return report::print_refusal(io, "judge calibrate", &[why]),
    };
    let at_once = usize::try_from(args.concurrency).unwrap_or(1);
    let report = match super::block_on(calibrate_judge(&judge, &examples, at_once)) {
        Ok(Ok(report)) => report,
        Ok(Err(CalibrationError::OneLabel)) => {
            return report::print_refusal(
                io,
                "judge calibrate",
                &[UserError::without_remedy("the examples need both labels, pass and fail")],
            );
        }
        Ok(Err(CalibrationError::Fault(fault))) => {
            io.print_message(&format!("the judge was not calibrated: {}", report::escape_control(&fault.to_string())));
            return ExitKind::Incomplete;
        }
        Err(error) => {
            io.print_message(&format!("the judge was not calibrated: {error}"));
            return ExitKind::Incomplete;
        }
    };
    let bounds = AgreementBounds { agreement: args.min_agreement, kappa: args.min_kappa };
    let calibrated = StoredCalibration {
        judge: file.name.value.clone(),
        configuration: file.identity(),
        examples: ContentHash::of_text(&text),
        found: report.found.clone(),
    };
    let exit = match report.found.verdict(bounds) {
        CalibrationVerdict::Reliable => save_calibration(io, &args.store.store, &calibrated),
        CalibrationVerdict::BelowBounds => {
            save_calibration(io, &args.store.store, &calibrated);
            ExitKind::Missed
        }
        CalibrationVerdict::NothingRead => ExitKind::Incomplete,
    };
    let spent = config.budget.spent();
    io.print_result(&calibration_text::render(io, &CalibrationResult { judge: &args.judge, report: &report, bounds, spent, exit }), exit)
}

fn read_examples(source: &WorkspaceSource, file: Option<&Path>) -> Result<(String, Vec<LabelledExample>), Vec<UserError>> {
    let text = match file {
        Some(path) => files::read_file(path).map_err(|why| vec![UserError::caused_by(why).with_context(path.display())])?,
        None => {
            let files = source.files().map_err(|problems| problems.into_iter().map(UserError::from).collect::<Vec<_>>())?;
            let absent = || vec![UserError::new(format!("the workspace has no {EXAMPLES_PATH}"), "give a FILE")];
            files.get(EXAMPLES_PATH).ok_or_else(absent)?.to_owned()
        }
    };
    let name = file.map_or_else(|| EXAMPLES_PATH.to_owned(), |path| path.display().to_string());
    let wrong = |wrong: Vec<ExampleError>| wrong.iter().map(|wrong| UserError::caused_by(wrong).with_context(&name)).collect::<Vec<_>>();
    let examples = LabelledExample::parse_lines(&text).map_err(wrong)?;
    Ok((text, examples))
}

/// Returns the path of a calibration: beside the store, one file per configuration of a judge.
fn calibration_path(store: &StoreLocation, configuration: &ContentHash) -> PathBuf {
    store.folder().join("judges").join(format!("{}.json", configuration.short()))
}

fn save_calibration(io: &CliOutput, store: &StoreLocation, calibrated: &StoredCalibration) -> ExitKind {
    let path = calibration_path(store, &calibrated.configuration);
    let folder = path.parent().unwrap_or(Path::new("."));
    let saved = files::create_folder(folder).and_then(|()| files::write(&path, &format!("{:#}\n", json!(calibrated))));
    match saved {
        Ok(()) => ExitKind::Clean,
        Err(error) => {
            io.print_message(&format!("the calibration could not be stored in {}: {error}", path.display()));
            ExitKind::Incomplete
        }
    }
}

/// Returns the stored calibration of a judge as it is configured now.
fn stored_calibration(store: &StoreLocation, file: &SubjectFile) -> Option<JudgeCalibration> {
    let path = calibration_path(store, &file.identity());
    let text = files::exists(&path).then(|| files::read_file(&path).ok()).flatten()?;
    let saved: StoredCalibration = serde_json::from_str(&text).ok()?;
    (saved.configuration == file.identity()).then_some(saved.found)
}

/// Returns the errors of a judge, if it was calibrated.
pub(super) fn judge_errors(workspace: &Workspace, store: &StoreLocation, name: &str) -> Option<JudgeErrorRates> {
    stored_calibration(store, workspace.subject(name)?)?.error_rates()
}

/// Returns the calibration of a judge in one line; `None` if the workspace has no such subject.
pub(super) fn calibration_summary(workspace: &Workspace, store: &StoreLocation, name: &str) -> Option<String> {
    let file: &SubjectFile = workspace.subject(name)?;
    Some(match stored_calibration(store, file) {
        Some(found) => format!(
            "judge {name}: agreement {:.3} on {}, kappa {:.3}, false pass rate {:.3}{}",
            found.agreement,
            model::count(found.examples, "labelled example"),
            found.kappa,
            found.false_pass,
            match found.verdict(AgreementBounds::DEFAULT) {
                CalibrationVerdict::Reliable => "",
                CalibrationVerdict::BelowBounds | CalibrationVerdict::NothingRead => "; too little agreement to rely on its verdicts",
            }
        ),
        None => format!("judge {name}: not calibrated; run bardo-eval judge calibrate --judge {name}"),
    })
}
