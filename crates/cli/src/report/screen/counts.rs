//! Counts of trials and verdicts, what a run could not decide, and what it was run on.

use super::super::escape::escape_control;
use super::super::gate_lines::GateLine;
use super::super::wrap::wrap;
use super::super::{RunReport, deviations, judge_correction, judge_hint};
use crate::io::CliOutput;
use campaign::{OutcomeCounts, RepeatedTrials, RunSummary};
use model::{AbortCause, Gate, GateResult, Money, Verdict};
use score::gates::reads_attacks_only;
use std::collections::BTreeSet;
use std::time::Duration;

/// Aborted trials and flaky cases listed without `--verbose`.
const MAX_LISTED: usize = 3;
/// Failed trials up to which the cases are named.
const MAX_FAILED_LISTED: u64 = 8;

/// `lines` are the gates that are counted on the screen.
pub(super) fn render(io: &CliOutput, shown: &RunReport<'_>, lines: &[GateLine<'_>]) -> String {
    let summary = shown.summary;
    let unsure = |text: &str| io.paint.unsure(text);
    let mut text = format!("{}{}", aborted(io, summary), flaky(io, summary));
    text.push_str(&wrapped(io, &failed_line(summary), str::to_owned));
    text.push_str(&wrapped(io, &trials_line(shown), str::to_owned));
    text.extend(summary.repeats.iter().map(|repeats| wrapped(io, &repeats_line(repeats), str::to_owned)));
    text.push_str(&wrapped(io, &verdicts_line(shown, lines), str::to_owned));
    text.push_str(&wrapped(io, &few_cases_line(io, shown), unsure));
    let unrecorded = summary.outcomes.aborted_by(AbortCause::NeedsRecording);
    if unrecorded > 0 {
        let what = format!("needs recording: {}", model::count(unrecorded, "trial"));
        text.push_str(&wrapped(
            io,
            &[&what, "rerun with --record-missing for replies of models, with --imported-tools record:… for answers of tools"].join("; "),
            unsure,
        ));
    }
    if shown.left_out > 0 {
        let cases = model::count(shown.left_out, "case");
        text.push_str(&wrapped(io, &format!("left out: {cases} beyond the budget of the tier; --budget raises it"), unsure));
    }
    if let Some([what, remedy]) = judge_hint::hint(shown) {
        text.push_str(&wrapped(io, &[what, remedy].join("; "), unsure));
    }
    if summary.rubrics_without_verdict > 0 {
        let trials = model::count(summary.rubrics_without_verdict, "trial");
        text.push_str(&wrapped(io, &format!("rubrics: {trials} without a readable verdict, so the run is incomplete"), unsure));
    }
    for (scorer, failures) in &summary.failed_scorers {
        let what = format!("{} has no reading of {}", scorer.as_str(), model::count(failures.trials, "trial"));
        let line = format!("scorer {what}: {}; so the run is incomplete", first_line(&failures.why));
        text.push_str(&wrapped(io, &escape_control(&line), unsure));
    }
    if let Some(judge) = &shown.judge {
        text.push_str(&wrapped(io, judge, str::to_owned));
    }
    text.extend(judge_correction::lines(shown).iter().map(|line| wrapped(io, line, str::to_owned)));
    text.extend(deviations::lines(io, shown.workspace).iter().map(|line| wrapped(io, line, unsure)));
    text.push_str(&wrapped(io, &footer(shown), |text| io.paint.dim(text)));
    if summary.subjects == ["reference"] {
        let line = "the reference follows the scripts of the cases: this tests the evaluation, no agent was evaluated";
        text.push_str(&wrapped(io, line, unsure));
    }
    text
}

/// Breaks a line at words, further ones indented.
fn wrapped(io: &CliOutput, line: &str, paint: impl Fn(&str) -> String) -> String {
    if line.is_empty() {
        return String::new();
    }
    let lines = wrap(line, io.width.saturating_sub(2));
    lines.iter().enumerate().map(|(n, line)| format!("{}{}\n", if n == 0 { "" } else { "  " }, paint(line))).collect()
}

/// Names failed cases that no gate reads.
pub(super) fn failures_without_gate(io: &CliOutput, summary: &RunSummary) -> String {
    let unread = &summary.failures_without_gate;
    if unread.trials == 0 {
        return String::new();
    }
    let trials = model::count_of(unread.trials, "failed trial that no gate reads", "failed trials that no gate reads");
    let scorers: Vec<&str> = unread.scorers.iter().map(|scorer| scorer.word()).collect();
    let what = format!("{trials}: {}", escape_control(&unread.cases.join(", ")));
    wrapped(io, &format!("{what}; add a gate on {}", scorers.join(" and on ")), |text| io.paint.unsure(text))
}

/// Names cases with a rubric that was not judged and that no gate reads.
pub(super) fn unjudged_without_gate(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let unread = &shown.summary.unjudged_without_gate;
    if unread.trials == 0 {
        return String::new();
    }
    let trials = model::count_of(unread.trials, "unjudged trial that no gate reads", "unjudged trials that no gate reads");
    let what = format!("{trials}: {}", escape_control(&unread.cases.join(", ")));
    let remedy = judge_hint::remedy(shown.workspace, shown.summary.claim.tier);
    wrapped(io, &format!("{what}; add a gate on judged, and {remedy}"), |text| io.paint.unsure(text))
}

/// Names the failed cases if they are few. Many are listed by gate.
fn failed_line(summary: &RunSummary) -> String {
    let few = summary.failed_cases.len() as u64 <= MAX_FAILED_LISTED && summary.outcomes.failed <= MAX_FAILED_LISTED;
    if summary.failed_cases.is_empty() || !few {
        return String::new();
    }
    format!("failed: {}", escape_control(&summary.failed_cases.join(", ")))
}

/// Returns a text up to its first line break.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn trials_line(shown: &RunReport<'_>) -> String {
    let outcomes = &shown.summary.outcomes;
    let unread = if shown.summary.unscored > 0 { format!(", {} without a score", shown.summary.unscored) } else { String::new() };
    let time = shown.elapsed.map_or_else(String::new, |elapsed| format!("; took {}", duration_text(elapsed)));
    let spent = if shown.spent > Money::ZERO { format!("; spent: {} USD", shown.spent) } else { String::new() };
    format!(
        "trials: {} planned, {} passed, {} failed{}, {} unjudged, {}{unread}{time}{spent}",
        outcomes.planned(),
        outcomes.passed,
        outcomes.failed,
        endings_text(shown.summary),
        outcomes.unjudged,
        aborted_text(outcomes)
    )
}

/// Returns the disorderly endings among the trials, in parentheses; empty if there are none.
fn endings_text(summary: &RunSummary) -> String {
    let endings: Vec<String> = summary.causes.endings().iter().map(|(kind, trials)| format!("{trials} {kind}")).collect();
    if endings.is_empty() { String::new() } else { format!(" (of them {})", endings.join(", ")) }
}

/// Returns the number of aborted trials, with those that lacked money and those that the run did not reach.
pub(in crate::report) fn aborted_text(outcomes: &OutcomeCounts) -> String {
    let causes = [(AbortCause::Unfunded, "not funded"), (AbortCause::Interrupted, "not run")];
    let parts = causes.map(|(cause, what)| (outcomes.aborted_by(cause), what));
    let parts: Vec<String> = parts.iter().filter(|(trials, _)| *trials > 0).map(|(trials, what)| format!("{trials} {what}")).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" (of them {})", parts.join(", ")) };
    format!("{} aborted{parts}", outcomes.aborted())
}

/// Returns the chances that one, or all, of the trials of a case pass.
fn repeats_line(repeats: &RepeatedTrials) -> String {
    let RepeatedTrials { subject, k, cases, pass_at_k, pass_hat_k } = repeats;
    let cases = model::count(*cases, "case");
    format!("repeated trials of {}: pass@{k} {pass_at_k:.3}, pass^{k} {pass_hat_k:.3} over {cases}", escape_control(subject))
}

/// Returns seconds with one decimal below a minute, else whole seconds.
fn duration_text(elapsed: Duration) -> String {
    if elapsed < Duration::from_secs(60) {
        return format!("{:.1} s", elapsed.as_secs_f64());
    }
    humantime::format_duration(Duration::from_secs(elapsed.as_secs())).to_string()
}

/// Returns the verdicts of all slices. The screen counts a gate once, by its worst slice.
fn verdicts_line(shown: &RunReport<'_>, lines: &[GateLine<'_>]) -> String {
    let summary = shown.summary;
    let repeated = match repeated_gates(shown, lines) {
        0 => String::new(),
        repeated => format!("; gates with the number of another: {repeated}"),
    };
    let of = |verdict| summary.verdicts.judgements.iter().filter(|judgement| judgement.verdict == verdict).count();
    format!(
        "verdicts by slice: {} met, {} missed, {} without evidence{}; gates not in scope: {}{}{repeated}",
        of(Verdict::Met),
        of(Verdict::Missed),
        of(Verdict::NoEvidence),
        missed_elsewhere(shown, lines),
        summary.verdicts.out_of_scope.len(),
        scope_reason(shown)
    )
}

/// Says how many slices without evidence are of gates that the screen counts as missed.
fn missed_elsewhere(shown: &RunReport<'_>, lines: &[GateLine<'_>]) -> String {
    let unknown: Vec<&GateResult> =
        shown.summary.verdicts.judgements.iter().filter(|result| result.verdict == Verdict::NoEvidence).collect();
    let is_missed = |result: &&&GateResult| {
        let same = |line: &&GateLine<'_>| line.gate == result.gate && line.subject == result.subject;
        lines.iter().find(same).is_some_and(|line| line.verdict == Verdict::Missed)
    };
    match (unknown.iter().filter(is_missed).count(), unknown.len()) {
        (0, _) => String::new(),
        (1, 1) => " (of a gate that is missed)".to_owned(),
        (missed, all) if missed == all => " (of gates that are missed)".to_owned(),
        (missed, _) => format!(" ({missed} of gates that are missed)"),
    }
}

/// Returns the number of judged gates that have no line, because another gate reads the same number.
fn repeated_gates(shown: &RunReport<'_>, lines: &[GateLine<'_>]) -> usize {
    let distinct = |gates: Vec<&str>| gates.into_iter().collect::<BTreeSet<_>>().len();
    let judged = distinct(shown.summary.verdicts.judgements.iter().map(|result| result.gate.as_str()).collect());
    judged - distinct(lines.iter().map(|line| line.gate).collect())
}

/// Returns the names of the gates that were not judged, if they are few, and why.
fn scope_reason(shown: &RunReport<'_>) -> String {
    let names = &shown.summary.verdicts.out_of_scope;
    if names.is_empty() || names.len() > MAX_LISTED {
        return String::new();
    }
    let of_attacks = |name: &String| shown.workspace.gates.iter().any(|gate| *gate.id == *name && reads_attacks_only(&gate.scorer));
    let why = if names.iter().all(of_attacks) { "judged by `bardo-eval redteam`" } else { "outside of these cases" };
    format!(" ({}; {why})", escape_control(&names.join(", ")))
}

/// Names the gates that are met here but would have no evidence in a tier; empty if there are none.
fn few_cases_line(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let RunSummary { claim, verdicts, .. } = shown.summary;
    if claim.tier.is_some() {
        return String::new();
    }
    let mut few: Vec<(&Gate, usize)> = vec![];
    for gate in &shown.workspace.gates {
        let of_gate = verdicts.judgements.iter().filter(|result| result.gate == *gate.id && result.verdict == Verdict::Met);
        few.extend(of_gate.map(|result| result.metric.cases).min().filter(|cases| *cases < gate.min_cases).map(|cases| (gate, cases)));
    }
    let Some(tier) = few.iter().find_map(|(gate, _)| gate.tiers.first()) else { return String::new() };
    let shown = if io.verbose { few.len() } else { 1 };
    let listed = few.iter().take(shown).map(|(gate, cases)| format!("{} {cases} of {}", *gate.id, gate.min_cases));
    let listed = listed.collect::<Vec<_>>().join(", ");
    let more = few.len() - shown;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("met on fewer cases than min_cases: {}{more}; no evidence with --tier {tier}", escape_control(&listed))
}

fn footer(shown: &RunReport<'_>) -> String {
    let mut subjects: Vec<&str> = shown.summary.subjects.iter().map(String::as_str).collect();
    subjects.sort_unstable();
    let sandbox = shown.sandbox.map(|mode| format!(", sandbox {mode}")).unwrap_or_default();
    let version = shown.workspace.version_number().map_or_else(String::new, |version| format!(" version {version}"));
    let (label, record) = (shown.source.label(), shown.summary.record.short());
    let replies = if shown.is_replay { ", replies from recordings: no model was asked as a subject" } else { "" };
    format!("subject {}, workspace {label}{version}, record {record}{sandbox}{replies}", escape_control(&subjects.join(", ")))
}

/// Lists aborted trials. Those that never started are not listed.
fn aborted(io: &CliOutput, summary: &RunSummary) -> String {
    let all = summary.outcomes.aborted() - summary.outcomes.aborted_by(AbortCause::Interrupted);
    if all == 0 {
        return String::new();
    }
    let shown = if io.verbose { summary.aborted_trials.len() } else { MAX_LISTED.min(summary.aborted_trials.len()) };
    let listed = summary.aborted_trials.iter().take(shown);
    let lines = listed.map(|trial| format!("  {}  {}\n", escape_control(&trial.case), escape_control(&trial.ending.to_string())));
    let more = all - shown as u64;
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    format!("{}\n{}{more}", io.paint.bad(&model::count(all, "aborted trial")), lines.collect::<String>())
}

/// Lists cases that passed some of their trials and failed others.
fn flaky(io: &CliOutput, summary: &RunSummary) -> String {
    if summary.flaky.is_empty() {
        return String::new();
    }
    let shown = if io.verbose { summary.flaky.len() } else { MAX_LISTED.min(summary.flaky.len()) };
    let listed = summary.flaky.iter().take(shown);
    let lines = listed.map(|one| {
        let (case, subject) = (escape_control(&one.case), escape_control(&one.subject));
        format!("  {case}  {subject}  {} of {} passed\n", one.passed, one.of)
    });
    let more = summary.flaky.len() - shown;
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    format!("{}\n{}{more}", model::count(summary.flaky.len(), "flaky case"), lines.collect::<String>())
}
