//! `guard eval`: measures a guard on labelled texts.

mod guard_report;
mod guard_source;

use crate::args::{GuardCommand, GuardEvalArgs, SplitArg};
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report;
use ::guard::{
    CorpusSplit, GuardBounds, GuardEvaluation, GuardVerdictKind, LabelledText, ReferenceGuard, embedded_corpus, parse_labelled_texts,
};
use ::run::external::{GuardFault, GuardQuestion};
use guard_report::{GuardReport, GuardSpeed, LeftOutFamily};
pub(super) use guard_source::subject_guard;
use guard_source::{GuardSource, parse_guard};
use model::{AttackChannel, UserError};
use std::collections::BTreeSet;
use std::time::Duration;

/// Least time that the embedded guard is measured for.
const MIN_MEASURED: Duration = Duration::from_millis(300);

pub(crate) fn guard(io: &CliOutput, command: &GuardCommand) -> ExitKind {
    match command {
        GuardCommand::Eval(args) => eval(io, args),
    }
}

fn eval(io: &CliOutput, args: &GuardEvalArgs) -> ExitKind {
    const COMMAND: &str = "guard eval";
    let prepared =
        read_texts(args).and_then(|texts| Ok((texts, parse_guard(&args.guard, &args.pass_env, Duration::from_secs(args.timeout))?)));
    let (texts, source) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return report::print_refusal(io, COMMAND, &[error]),
    };
    let measured = match &source {
        GuardSource::Embedded => Ok(measure_embedded(&texts)),
        GuardSource::External(client) => {
            let questions: Vec<GuardQuestion<'_>> =
                texts.iter().map(|text| GuardQuestion { channel: &text.channel, text: &text.text }).collect();
            let watch = ::run::Clock::system().stopwatch();
            super::block_on(client.inspect(&questions))
                .map_err(|error| GuardFault::Unreachable(error.to_string()))
                .and_then(|answers| answers)
                .map(|flags| (flags, GuardSpeed::new(&texts, 1, watch.elapsed())))
        }
    };
    let (flags, speed) = match measured {
        Ok(measured) => measured,
        Err(fault) => return report::print_refusal(io, COMMAND, &[UserError::caused_by(fault)]),
    };
    let evaluation = GuardEvaluation::new(texts.iter().zip(flags));
    let bounds = GuardBounds { detection: args.min_detection, false_positives: args.max_false_positives };
    let verdicts = [evaluation.detection(bounds), evaluation.false_positives(bounds)];
    let exit = if verdicts.contains(&GuardVerdictKind::Missed) {
        ExitKind::Missed
    } else if verdicts.contains(&GuardVerdictKind::NoEvidence) {
        ExitKind::Incomplete
    } else {
        ExitKind::Clean
    };
    let left_out = if matches!(source, GuardSource::Embedded) { left_out_families(&texts) } else { vec![] };
    let report = GuardReport { guard: &args.guard, evaluation: &evaluation, bounds, left_out: &left_out, speed, exit };
    io.print_result(&report.render(io.format), exit)
}

fn read_texts(args: &GuardEvalArgs) -> Result<Vec<LabelledText>, UserError> {
    let mut texts = match &args.file {
        Some(path) => {
            let content = files::read_file(path).map_err(|why| UserError::caused_by(why).with_context(path.display()))?;
            parse_labelled_texts(&content).map_err(|wrong| UserError::caused_by(wrong).with_context(path.display()))?
        }
        None => embedded_corpus().map_err(UserError::caused_by)?,
    };
    if let Some(split) = args.split {
        let wanted = match split {
            SplitArg::Seen => CorpusSplit::Seen,
            SplitArg::HeldOut => CorpusSplit::HeldOut,
        };
        texts.retain(|text| text.split == Some(wanted));
    }
    if texts.is_empty() {
        return Err(UserError::new("there are no texts", "write one JSON line per text: {\"text\": \"…\", \"label\": \"attack\"}"));
    }
    Ok(texts)
}

fn channel(text: &LabelledText) -> AttackChannel {
    text.channel().unwrap_or(AttackChannel::ToolResult)
}

/// Inspects all texts, again and again until the time can be measured.
fn measure_embedded(texts: &[LabelledText]) -> (Vec<bool>, GuardSpeed) {
    let guard = ReferenceGuard::new();
    let inspect = || -> Vec<bool> { texts.iter().map(|text| !guard.inspect(channel(text), &text.text).is_empty()).collect() };
    let flags = inspect();
    let watch = ::run::Clock::system().stopwatch();
    let mut passes = 0;
    while passes == 0 || watch.elapsed() < MIN_MEASURED {
        std::hint::black_box(inspect());
        passes += 1;
    }
    (flags, GuardSpeed::new(texts, passes, watch.elapsed()))
}

/// Measures every family of attacks without the rules that were written for it.
fn left_out_families(texts: &[LabelledText]) -> Vec<LeftOutFamily> {
    let attacks = || texts.iter().filter(|text| text.label == ::guard::TextLabel::Attack);
    let families: BTreeSet<&str> = attacks().map(|text| text.family.as_str()).collect();
    let measured = families.into_iter().filter_map(|family| {
        let rules = ::guard::rules_of_family(family);
        if rules.is_empty() {
            return None;
        }
        let rest = ReferenceGuard::without(&rules);
        let own = attacks().filter(|text| text.family == family);
        let (flagged, of) =
            own.fold((0, 0), |(flagged, of), text| (flagged + u64::from(!rest.inspect(channel(text), &text.text).is_empty()), of + 1));
        Some(LeftOutFamily { family: family.to_owned(), rules, flagged, of })
    });
    measured.collect()
}
