//! A run for a person: the gate table, what is wrong first; then the worst cases; then counts.

use super::problems::visible;
use super::{Shown, count, table};
use crate::io::Io;
use model::{Bound, Judgement, RunRecord, Verdict};

pub(super) fn render(io: &Io, shown: &Shown<'_>) -> String {
    let Shown { source, record, .. } = shown;
    let mut judgements: Vec<&Judgement> = record.judgements.iter().collect();
    judgements.sort_by_key(|judgement| rank(judgement.verdict));
    let rows = judgements.iter().map(|judgement| row(io, judgement)).collect();
    let mut text = table(&["gate", "subject", "slice", "value", "95 % interval", "bound", "n", "cases", "verdict", "note"], rows);
    text.push_str("\n\n");
    text.push_str(&worst(io, shown, &judgements));
    text.push_str(&broken(io, record));
    let of = |verdict| record.judgements.iter().filter(|judgement| judgement.verdict == verdict).count();
    text.push_str(&format!(
        "verdicts: {} met, {} missed, {} without evidence; gates not in scope: {}\n",
        of(Verdict::Met),
        of(Verdict::Missed),
        of(Verdict::NoEvidence),
        record.out_of_scope.len()
    ));
    let unread = if record.unread() > 0 { format!(", {} read by no scorer", record.unread()) } else { String::new() };
    let trials = (record.plan.trials.len(), record.finished(), record.aborted());
    text.push_str(&format!("trials: {} planned, {} finished, {} aborted{unread}\n", trials.0, trials.1, trials.2));
    let mut subjects: Vec<&str> = record.plan.trials.iter().map(|trial| trial.subject.as_str()).collect();
    subjects.sort_unstable();
    subjects.dedup();
    let footer = format!("subject {}, workspace {}, record {}\n", subjects.join(", "), source.label(), record.hash().short());
    text.push_str(&io.paint.dim(&footer));
    if subjects == ["reference"] {
        text.push_str(&io.paint.unsure("the reference plays the written answers: this tests the evaluation, no agent was evaluated\n"));
    }
    text
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Missed => 0,
        Verdict::NoEvidence => 1,
        Verdict::Met => 2,
    }
}

fn row(io: &Io, judgement: &Judgement) -> Vec<String> {
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
        metric.n.to_string(),
        metric.cases.to_string(),
        verdict,
        visible(&note(judgement)),
    ]
}

pub(super) fn bound(bound: Bound) -> String {
    match bound {
        Bound::AtLeast(value) => format!("≥ {value}"),
        Bound::AtMost(value) => format!("≤ {value}"),
    }
}

pub(super) fn interval(judgement: &Judgement) -> String {
    match (judgement.metric.low, judgement.metric.high) {
        (Some(low), Some(high)) => format!("{low:.2} to {high:.2}"),
        (Some(_) | None, Some(_) | None) => String::new(),
    }
}

/// What is missing or wrong; of a gate that allows no miss also what its clean run rules out.
pub(super) fn note(judgement: &Judgement) -> String {
    let ruled_out = judgement.rules_out.map(|shown| {
        let (rate, sure) = (shown.failure_rate * 100.0, shown.confidence * 100.0);
        format!("rules out failure rates above {rate:.1} % at {sure:.0} %")
    });
    let because = Some(judgement.because.clone()).filter(|because| !because.is_empty());
    [because, ruled_out].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn worst(io: &Io, shown: &Shown<'_>, judgements: &[&Judgement]) -> String {
    let mut text = String::new();
    for judgement in judgements.iter().filter(|judgement| judgement.verdict == Verdict::Missed) {
        text.push_str(&format!("{} ({})\n", io.paint.bad(&judgement.gate), judgement.metric.slice));
        for case in &judgement.worst {
            text.push_str(&format!("  {}  {}\n", io.paint.strong(&case.case), visible(&case.because)));
            text.push_str(&io.paint.dim(&format!("    {}\n", shown.command_for(io, case))));
        }
        text.push('\n');
    }
    text
}

fn broken(io: &Io, record: &RunRecord) -> String {
    let aborted: Vec<String> = record
        .transcripts
        .iter()
        .filter(|transcript| !transcript.ending.is_scorable())
        .map(|transcript| format!("  {}  {}\n", transcript.case, visible(&transcript.ending.to_string())))
        .collect();
    if aborted.is_empty() {
        String::new()
    } else {
        format!("{}\n{}\n", io.paint.bad(&count(aborted.len(), "aborted trial")), aborted.concat())
    }
}
