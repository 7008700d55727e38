//! Comparison as JSON.

use super::super::FORMAT;
use super::show_commands::show_command;
use super::{ComparisonReport, overall_verdict};
use crate::io::CliOutput;
use campaign::{SideFacts, SideSource, SubjectComparison};
use score::causes::FailureCause;
use score::pairing::{ChangeVerdict, FlipDirection, FlipGroup, FlippedCase, PairedSlice, RunNoise};
use serde_json::{Value, json};

pub(in crate::report) fn document(io: &CliOutput, shown: &ComparisonReport<'_>) -> Value {
    json!({ "format": FORMAT, "command": "compare", "comparisons": comparisons(io, shown), "exit": shown.exit.code() })
}

pub(in crate::report) fn comparisons(io: &CliOutput, shown: &ComparisonReport<'_>) -> Vec<Value> {
    shown.comparisons.iter().map(|compared| comparison(io, compared, &shown.store_flag)).collect()
}

fn comparison(io: &CliOutput, compared: &SubjectComparison, store_flag: &str) -> Value {
    let result = &compared.result;
    let paired = |one: &PairedSlice| slice(io, compared, store_flag, one);
    let flips: Vec<Value> = result.flips.iter().map(|group| flip_group(io, compared, store_flag, group)).collect();
    json!({
        "verdict": verdict(overall_verdict(compared)), "got_worse": result.got_worse(), "before": side(&compared.before), "after": side(&compared.after),
        "deterministic": compared.noise == RunNoise::None, "cases": paired(&result.cases),
        "slices": result.slices.iter().map(paired).collect::<Vec<_>>(), "flips": flips,
        "only_before": result.only_before, "only_after": result.only_after, "changed_cases": result.changed_cases,
        "without_result": result.without_result, "unplayed": result.unplayed, "never_judged": result.never_judged,
    })
}

fn side(side: &SideFacts) -> Value {
    let (source, run) = match &side.source {
        SideSource::Run(id) => ("run", id.as_deref()),
        SideSource::Golden => ("golden", None),
        SideSource::File(name) => ("file", Some(name.as_str())),
    };
    json!({ "source": source, "run": run, "subject": side.subject, "trials": side.trials, "gone": side.gone, "unplayed": side.unplayed,
        "spent_usd": side.spent.as_usd(), "usd_per_trial": side.usd_per_trial(), "seconds_per_trial": side.seconds_per_trial() })
}

fn slice(io: &CliOutput, compared: &SubjectComparison, store_flag: &str, slice: &PairedSlice) -> Value {
    let counts = slice.counts;
    json!({ "gate": slice.gate, "slice": slice.slice, "before": slice.before, "after": slice.after, "paired": counts.paired(),
        "worse": counts.worse, "better": counts.better, "p": slice.p_value, "p_adjusted": slice.adjusted, "verdict": verdict(slice.verdict),
        "newly_missed": slice.is_newly_missed,
        "worse_cases": slice.worse.iter().map(|worse| case(io, compared, store_flag, worse)).collect::<Vec<_>>() })
}

fn verdict(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::Regression => "regression",
        ChangeVerdict::Improvement => "improvement",
        ChangeVerdict::Tied => "tied",
        ChangeVerdict::NotEnoughData => "not_enough_data",
    }
}

fn flip_group(io: &CliOutput, compared: &SubjectComparison, store_flag: &str, group: &FlipGroup) -> Value {
    let cause = match &group.cause {
        Some(FailureCause::Ending(kind)) => json!({ "kind": "ending", "ending": kind }),
        Some(FailureCause::Tool(tools)) => json!({ "kind": "tool", "called": tools.called, "expected": tools.expected }),
        Some(FailureCause::Missing(what)) => json!({ "kind": "missing", "missing": what }),
        Some(FailureCause::Argument(name)) => json!({ "kind": "argument", "argument": name }),
        Some(FailureCause::Rule(scorer)) => json!({ "kind": "rule", "scorer": scorer }),
        None => Value::Null,
    };
    let direction = match group.direction {
        FlipDirection::Worse => "worse",
        FlipDirection::Better => "better",
    };
    let cases: Vec<Value> = group.cases.iter().map(|flipped| case(io, compared, store_flag, flipped)).collect();
    json!({ "direction": direction, "cause": cause, "cases": cases })
}

fn case(io: &CliOutput, compared: &SubjectComparison, store_flag: &str, one: &FlippedCase) -> Value {
    json!({ "case": one.case, "before": one.before, "after": one.after, "show": show_command(io, compared, store_flag, one) })
}
