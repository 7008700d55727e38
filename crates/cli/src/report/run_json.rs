//! A run for a machine.

use super::{FORMAT, Shown};
use crate::io::Io;
use model::Judgement;
use serde_json::{Value, json};

pub(super) fn document(io: &Io, shown: &Shown<'_>) -> Value {
    let record = shown.record;
    let verdicts: Vec<Value> = record.judgements.iter().map(|judgement| verdict(io, shown, judgement)).collect();
    let metrics: Vec<Value> =
        record.judgements.iter().map(|judgement| serde_json::to_value(&judgement.metric).unwrap_or_default()).collect();
    json!({
        "format": FORMAT, "command": shown.command, "record": record.hash(), "verdicts": verdicts, "metrics": metrics,
        "out_of_scope": record.out_of_scope,
        "trials": { "planned": record.plan.trials.len(), "finished": record.finished(), "aborted": record.aborted() }, "unread": record.unread(),
        "claim": record.claim, "spent_usd": 0.0, "exit": shown.exit.code(),
    })
}

fn verdict(io: &Io, shown: &Shown<'_>, judgement: &Judgement) -> Value {
    let metric = &judgement.metric;
    let worst: Vec<Value> = judgement
        .worst
        .iter()
        .map(|worst| json!({ "case": worst.case, "trial": worst.trial, "because": worst.because, "show": shown.command_for(io, worst) }))
        .collect();
    json!({
        "gate": judgement.gate, "spec": judgement.spec, "slice": metric.slice, "value": metric.value, "low": metric.low, "high": metric.high,
        "n": metric.n, "cases": metric.cases, "bound": judgement.bound, "verdict": judgement.verdict, "subject": judgement.subject, "because": judgement.because,
        "exact": metric.exact, "rules_out": judgement.rules_out, "worst": worst,
    })
}
