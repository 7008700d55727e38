//! JSON report of a run.

use super::judgement_text::sample_advice;
use super::{FORMAT, RunReport, changed, comparison, deviations, judge_correction, red_team};
use crate::io::CliOutput;
use campaign::{EarlyStop, RunSummary};
use model::{AbortCause, GateResult};
use score::statistics::CorrectedRate;
use serde_json::{Value, json};

/// Causes of a kind, most frequent first.
const MAX_CAUSES: usize = 20;

pub(super) fn document(io: &CliOutput, shown: &RunReport<'_>) -> Value {
    let RunReport { summary, spent, .. } = shown;
    let outcomes = &summary.outcomes;
    let verdicts: Vec<Value> = summary.verdicts.judgements.iter().map(|judgement| verdict(io, shown, judgement)).collect();
    let metrics: Vec<Value> =
        summary.verdicts.judgements.iter().map(|judgement| serde_json::to_value(&judgement.metric).unwrap_or_default()).collect();
    let flaky = summary.flaky.iter();
    let flaky: Vec<Value> =
        flaky.map(|case| json!({ "case": case.case, "subject": case.subject, "passed": case.passed, "of": case.of })).collect();
    let mut document = json!({
        "format": FORMAT, "command": shown.command, "record": summary.record, "workspace_version": shown.workspace.version_number(), "verdicts": verdicts, "metrics": metrics,
        "out_of_scope": summary.verdicts.out_of_scope, "deviations": deviations::json(io, shown.workspace),
        "trials": { "planned": outcomes.planned(), "finished": outcomes.finished(), "aborted": outcomes.aborted() }, "unread": summary.unscored,
        "unjudged": summary.rubrics_not_judged, "undecided_without_judge": shown.undecided_without_judge, "left_out": shown.left_out, "misjudged": summary.rubrics_without_verdict, "judge": shown.judge, "failed_scorers": failed_scorers(summary),
        "passed": outcomes.passed, "unfunded": outcomes.aborted_by(AbortCause::Unfunded),
        "needs_recording": outcomes.aborted_by(AbortCause::NeedsRecording), "flaky": flaky,
        "claim": summary.claim, "spent_usd": spent.as_usd(), "exit": shown.exit.code(),
    });
    document["failed"] = outcomes.failed.into();
    document["outcomes"] =
        json!({ "passed": outcomes.passed, "failed": outcomes.failed, "unjudged": outcomes.unjudged, "aborted": outcomes.aborted() });
    document["run"] = json!(shown.run);
    document["started"] = shown.started.into();
    document["subjects"] = json!(summary.subjects);
    document["workspace"] = json!(shown.workspace.hash);
    document["failures_without_gate"] =
        json!({ "trials": summary.failures_without_gate.trials, "cases": summary.failures_without_gate.cases });
    document["unjudged_without_gate"] =
        json!({ "trials": summary.unjudged_without_gate.trials, "cases": summary.unjudged_without_gate.cases });
    document["causes"] = causes(summary);
    if !shown.red_team.is_empty() {
        document["red_team"] = red_team::json(&shown.red_team);
    }
    let repeats = summary.repeats.iter().map(
        |one| json!({ "subject": one.subject, "k": one.k, "cases": one.cases, "pass_at_k": one.pass_at_k, "pass_hat_k": one.pass_hat_k }),
    );
    if !summary.repeats.is_empty() {
        document["pass_k"] = repeats.collect();
    }
    if let Some(compared) = shown.comparison() {
        document["comparisons"] = json!(comparison::json::comparisons(io, &compared));
    }
    if let Some(selected) = shown.changed {
        document["changed_parts"] = changed::json(selected);
    }
    if let Some(stop) = &summary.stop {
        document["stopped"] = stop_word(stop).into();
    }
    if shown.is_replay {
        document["replies"] = "recorded".into();
    }
    if let Some(sandbox) = shown.sandbox {
        document["sandbox"] = sandbox.into();
    }
    document
}

fn stop_word(stop: &EarlyStop) -> &'static str {
    match stop {
        EarlyStop::MaxFail { .. } => "max_fail",
        EarlyStop::Decided => "decided",
        EarlyStop::Preflight { .. } => "preflight",
        EarlyStop::NoWorker(_) => "no_worker",
    }
}

fn failed_scorers(summary: &RunSummary) -> Value {
    let trials: u64 = summary.failed_scorers.values().map(|failures| failures.trials).sum();
    let scorers: Vec<Value> = summary
        .failed_scorers
        .iter()
        .map(|(scorer, failures)| json!({ "scorer": scorer, "trials": failures.trials, "why": failures.why }))
        .collect();
    json!({ "trials": trials, "scorers": scorers })
}

fn causes(summary: &RunSummary) -> Value {
    let causes = &summary.causes;
    let tools: Vec<Value> = causes
        .confused_tools()
        .into_iter()
        .take(MAX_CAUSES)
        .map(|(tools, trials)| json!({ "called": tools.called, "expected": tools.expected, "trials": trials }))
        .collect();
    let uncalled: Vec<Value> =
        causes.uncalled_tools().into_iter().take(MAX_CAUSES).map(|(tool, trials)| json!({ "expected": tool, "trials": trials })).collect();
    let arguments: Vec<Value> =
        causes.arguments().into_iter().take(MAX_CAUSES).map(|(name, trials)| json!({ "argument": name, "trials": trials })).collect();
    let rules: Vec<Value> =
        causes.rules().into_iter().take(MAX_CAUSES).map(|(rule, trials)| json!({ "scorer": rule, "trials": trials })).collect();
    let endings: Vec<Value> = causes.endings().into_iter().map(|(kind, trials)| json!({ "ending": kind, "trials": trials })).collect();
    let broken: Vec<Value> =
        causes.broken_rules().into_iter().take(MAX_CAUSES).map(|(rule, trials)| json!({ "rule": rule, "trials": trials })).collect();
    let missing: Vec<Value> =
        causes.missing().into_iter().take(MAX_CAUSES).map(|(what, trials)| json!({ "missing": what, "trials": trials })).collect();
    json!({ "endings": endings, "tools": tools, "no_tool": uncalled, "missing": missing, "arguments": arguments, "rules": rules, "broken_rules": broken })
}

fn verdict(io: &CliOutput, shown: &RunReport<'_>, judgement: &GateResult) -> Value {
    let metric = &judgement.metric;
    let worst: Vec<Value> = judgement
        .worst
        .iter()
        .map(|worst| json!({ "case": worst.case, "trial": worst.trial, "because": worst.because, "show": shown.show_command(io, &judgement.subject, worst) }))
        .collect();
    let mut document = json!({
        "gate": judgement.gate, "spec": judgement.spec, "slice": metric.slice, "value": metric.value, "low": metric.low, "high": metric.high,
        "n": metric.n, "cases": metric.cases, "bound": judgement.bound, "verdict": judgement.verdict, "effective_n": metric.effective_n, "subject": judgement.subject, "because": judgement.because,
        "exact": metric.exact, "rules_out": judgement.rules_out, "worst": worst,
    });
    if let Some(advice) = sample_advice(judgement) {
        document["advice"] = advice.to_string().into();
    }
    if let Some(CorrectedRate { value, low, high }) = judge_correction::correction(shown, judgement) {
        document["without_judge_errors"] = json!({ "value": value, "low": low, "high": high });
    }
    document
}
