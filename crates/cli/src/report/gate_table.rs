//! Every slice of every gate, missed ones first, and the worst cases of the missed ones.

use super::escape::escape_control;
use super::gate_lines::verdict_rank;
use super::judgement_text::{bound, interval, note, observations, sample_advice};
use super::{RunReport, table};
use crate::io::CliOutput;
use model::{GateResult, Verdict};

pub(super) fn render(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let mut judgements: Vec<&GateResult> = shown.summary.verdicts.judgements.iter().collect();
    judgements.sort_by_key(|judgement| verdict_rank(judgement.verdict));
    let rows = judgements.iter().map(|judgement| row(io, judgement)).collect();
    let mut text = table(&["gate", "subject", "slice", "value", "95 % interval", "bound", "n", "cases", "verdict", "note"], rows);
    text.push_str("\n\n");
    text.push_str(&worst(io, shown, &judgements));
    text
}

fn row(io: &CliOutput, judgement: &GateResult) -> Vec<String> {
    let metric = &judgement.metric;
    let verdict = match judgement.verdict {
        Verdict::Met => io.paint.good("met"),
        Verdict::Missed => io.paint.bad("missed"),
        Verdict::NoEvidence => io.paint.unsure("no evidence"),
    };
    vec![
        judgement.gate.clone(),
        judgement.subject.clone(),
        metric.slice.clone(),
        metric.value.map_or("–".to_owned(), |value| format!("{value:.3}")),
        interval(judgement),
        bound(judgement.bound),
        observations(judgement),
        metric.cases.to_string(),
        verdict,
        escape_control(&note_and_advice(judgement)),
    ]
}

fn note_and_advice(judgement: &GateResult) -> String {
    let advice = sample_advice(judgement).map(|advice| advice.to_string());
    [Some(note(judgement)).filter(|note| !note.is_empty()), advice].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn worst(io: &CliOutput, shown: &RunReport<'_>, judgements: &[&GateResult]) -> String {
    let mut text = String::new();
    for judgement in judgements.iter().filter(|judgement| judgement.verdict == Verdict::Missed) {
        text.push_str(&format!("{} ({}, {})\n", io.paint.bad(&judgement.gate), judgement.subject, judgement.metric.slice));
        for case in &judgement.worst {
            text.push_str(&format!("  {}  {}\n", io.paint.strong(&case.case), escape_control(&case.because)));
            text.push_str(&io.paint.dim(&format!("    {}\n", shown.show_command(io, &judgement.subject, case))));
        }
        text.push('\n');
    }
    text
}
