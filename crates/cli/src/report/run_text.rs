//! Run as text: the gate table with missed gates first, the worst cases, then counts.

use super::escape::escape_control;
use super::judgement_text::{bound, interval, note};
use super::{RunReport, columns, deviations, judge_hint, table};
use crate::io::CliOutput;
use campaign::RunSummary;
use model::{AbortCause, GateResult, Money, Verdict};

pub(super) fn render(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let RunReport { source, summary, .. } = shown;
    let mut judgements: Vec<&GateResult> = summary.verdicts.judgements.iter().collect();
    judgements.sort_by_key(|judgement| rank(judgement.verdict));
    let rows = judgements.iter().map(|judgement| row(io, judgement)).collect();
    let mut text = table(&["gate", "subject", "slice", "value", "95 % interval", "bound", "n", "cases", "verdict", "note"], rows);
    text.push_str("\n\n");
    text.push_str(&worst(io, shown, &judgements));
    text.push_str(&aborted(io, summary));
    let of = |verdict| summary.verdicts.judgements.iter().filter(|judgement| judgement.verdict == verdict).count();
    text.push_str(&format!(
        "verdicts: {} met, {} missed, {} without evidence; gates not in scope: {}\n",
        of(Verdict::Met),
        of(Verdict::Missed),
        of(Verdict::NoEvidence),
        summary.verdicts.out_of_scope.len()
    ));
    text.push_str(&flaky(summary));
    let unread = if summary.unscored > 0 { format!(", {} without a score", summary.unscored) } else { String::new() };
    let unfunded = summary.outcomes.aborted_by(AbortCause::Unfunded);
    let unfunded = if unfunded > 0 { format!(", {unfunded} of them not funded") } else { String::new() };
    let (planned, finished, aborted) = (summary.outcomes.planned(), summary.outcomes.finished(), summary.outcomes.aborted());
    text.push_str(&format!("trials: {planned} planned, {finished} finished, {aborted} aborted{unfunded}{unread}\n"));
    let unrecorded = summary.outcomes.aborted_by(AbortCause::NeedsRecording);
    if unrecorded > 0 {
        let what = format!("needs recording: {}", model::count(unrecorded, "trial"));
        text.push_str(&io.paint.unsure(&columns([&what, "rerun with --record-missing\n"])));
    }
    if shown.left_out > 0 {
        let cases = model::count(shown.left_out, "case");
        text.push_str(&io.paint.unsure(&columns([&format!("left out: {cases} beyond the budget of the tier"), "--budget raises it\n"])));
    }
    if let Some([what, remedy]) = judge_hint::hint(shown) {
        text.push_str(&io.paint.unsure(&columns([&what, &format!("{remedy}\n")])));
    }
    if summary.rubrics_without_verdict > 0 {
        let trials = model::count(summary.rubrics_without_verdict, "trial");
        let line = format!("rubrics: {trials} without a readable verdict, so the run is incomplete\n");
        text.push_str(&io.paint.unsure(&line));
    }
    if let Some(judge) = &shown.judge {
        text.push_str(&format!("{judge}\n"));
    }
    text.push_str(&deviations::text(io, shown.workspace));
    if shown.spent > Money::ZERO {
        text.push_str(&format!("spent: {} USD\n", shown.spent));
    }
    let mut subjects: Vec<&str> = summary.subjects.iter().map(String::as_str).collect();
    subjects.sort_unstable();
    let sandbox = shown.sandbox.map(|mode| format!(", sandbox {mode}")).unwrap_or_default();
    let version = shown.workspace.version_number().map_or_else(String::new, |version| format!(" version {version}"));
    let footer =
        format!("subject {}, workspace {}{version}, record {}{sandbox}\n", subjects.join(", "), source.label(), summary.record.short());
    text.push_str(&io.paint.dim(&footer));
    if subjects == ["reference"] {
        text.push_str(
            &io.paint.unsure("the reference follows the scripts of the cases: this tests the evaluation, no agent was evaluated\n"),
        );
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
        metric.n.to_string(),
        metric.cases.to_string(),
        verdict,
        escape_control(&note(judgement)),
    ]
}

fn worst(io: &CliOutput, shown: &RunReport<'_>, judgements: &[&GateResult]) -> String {
    let mut text = String::new();
    for judgement in judgements.iter().filter(|judgement| judgement.verdict == Verdict::Missed) {
        text.push_str(&format!("{} ({})\n", io.paint.bad(&judgement.gate), judgement.metric.slice));
        for case in &judgement.worst {
            text.push_str(&format!("  {}  {}\n", io.paint.strong(&case.case), escape_control(&case.because)));
            text.push_str(&io.paint.dim(&format!("    {}\n", shown.show_command(io, &judgement.subject, case))));
        }
        text.push('\n');
    }
    text
}

/// Lists aborted trials. Those that never started are not listed.
fn aborted(io: &CliOutput, summary: &RunSummary) -> String {
    let all = summary.outcomes.aborted() - summary.outcomes.aborted_by(AbortCause::Interrupted);
    if all == 0 {
        return String::new();
    }
    let lines = summary.aborted_trials.iter().map(|trial| format!("  {}  {}\n", trial.case, escape_control(&trial.ending.to_string())));
    let more = all - summary.aborted_trials.len() as u64;
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    format!("{}\n{}{more}\n", io.paint.bad(&model::count(all, "aborted trial")), lines.collect::<String>())
}

/// Lists cases that passed some of their trials and failed others.
fn flaky(summary: &RunSummary) -> String {
    if summary.flaky.is_empty() {
        return String::new();
    }
    let lines = summary.flaky.iter().map(|one| format!("  {}  {}  {} of {} passed\n", one.case, one.subject, one.passed, one.of));
    format!("{}\n{}\n", model::count(summary.flaky.len(), "flaky case"), lines.collect::<String>())
}
