//! A run for a machine.

use super::FORMAT;
use crate::exit::Exit;
use model::{Judgement, RunRecord};
use serde_json::{Value, json};

pub(super) fn render(record: &RunRecord, exit: Exit) -> String {
    let verdicts: Vec<Value> = record.judgements.iter().map(verdict).collect();
    let metrics: Vec<Value> =
        record.judgements.iter().map(|judgement| serde_json::to_value(&judgement.metric).unwrap_or_default()).collect();
    let document = json!({
        "format": FORMAT, "command": "run", "record": record.hash(), "verdicts": verdicts, "metrics": metrics,
        "out_of_scope": record.out_of_scope,
        "trials": { "planned": record.plan.trials.len(), "finished": record.finished(), "aborted": record.aborted() }, "unread": record.unread(),
        "spent_usd": 0.0, "exit": exit.code(),
    });
    format!("{document:#}\n")
}

fn verdict(judgement: &Judgement) -> Value {
    let metric = &judgement.metric;
    json!({
        "gate": judgement.gate, "spec": judgement.spec, "slice": metric.slice, "value": metric.value, "low": metric.low, "high": metric.high,
        "n": metric.n, "cases": metric.cases, "bound": judgement.bound, "verdict": judgement.verdict, "subject": judgement.subject, "because": judgement.because,
        "worst": judgement.worst,
    })
}
