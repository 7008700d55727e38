//! A run for a machine.

use super::{FORMAT, Shown};
use crate::io::Io;
use model::Judgement;
use serde_json::{Value, json};

pub(super) fn document(io: &Io, shown: &Shown<'_>) -> Value {
    let Shown { summary, spent, .. } = shown;
    let verdicts: Vec<Value> = summary.judgements.iter().map(|judgement| verdict(io, shown, judgement)).collect();
    let metrics: Vec<Value> =
        summary.judgements.iter().map(|judgement| serde_json::to_value(&judgement.metric).unwrap_or_default()).collect();
    let flaky = summary.flaky.iter();
    let flaky: Vec<Value> =
        flaky.map(|one| json!({ "case": one.case, "subject": one.subject, "passed": one.passed, "of": one.of })).collect();
    json!({
        "format": FORMAT, "command": shown.command, "record": summary.record, "verdicts": verdicts, "metrics": metrics,
        "out_of_scope": summary.out_of_scope,
        "trials": { "planned": summary.planned, "finished": summary.finished, "aborted": summary.aborted() }, "unread": summary.unread,
        "unjudged": summary.unjudged, "misjudged": summary.misjudged, "judge": shown.judge,
        "passed": summary.passed, "unfunded": summary.unfunded, "needs_recording": summary.unrecorded, "flaky": flaky,
        "claim": summary.claim, "spent_usd": spent.as_usd(), "exit": shown.exit.code(),
    })
}

fn verdict(io: &Io, shown: &Shown<'_>, judgement: &Judgement) -> Value {
    let metric = &judgement.metric;
    let worst: Vec<Value> = judgement
        .worst
        .iter()
        .map(|worst| json!({ "case": worst.case, "trial": worst.trial, "because": worst.because, "show": shown.command_for(io, &judgement.subject, worst) }))
        .collect();
    json!({
        "gate": judgement.gate, "spec": judgement.spec, "slice": metric.slice, "value": metric.value, "low": metric.low, "high": metric.high,
        "n": metric.n, "cases": metric.cases, "bound": judgement.bound, "verdict": judgement.verdict, "subject": judgement.subject, "because": judgement.because,
        "exact": metric.exact, "rules_out": judgement.rules_out, "worst": worst,
    })
}
