//! Report of a rescored run: the run report, and the changes against the stored scores.

use super::escape::{escape_cell, escape_control};
use super::show::reading_text;
use super::{RunReport, run, run_json};
use crate::args::ReportFormat;
use crate::io::CliOutput;
use crate::stored_runs::OpenedRun;
use campaign::{ChangedScore, ChangedVerdict, RunChanges, VerdictValue};
use model::{Reading, Verdict};
use serde_json::{Value, json};

/// Changed scores shown without `--verbose`.
const MAX_SCORES_SHOWN: usize = 20;

/// Differences between a run and the same run scored again.
#[derive(Debug)]
pub(crate) struct RescoreChanges<'c> {
    pub changes: &'c RunChanges,
    /// Trials of cases that are no longer in the workspace.
    pub gone: usize,
}

pub(crate) fn rescored(io: &CliOutput, shown: &RunReport<'_>, stored: &OpenedRun, rescored: &RescoreChanges<'_>) -> String {
    match io.format {
        ReportFormat::Text => format!("{}{}", run(io, shown), text(io, shown, stored, rescored)),
        ReportFormat::Markdown => {
            let (then, now) = (stored.workspace_version(), shown.workspace.version_number());
            let note = if then == now { String::new() } else { format!("{}\n", other_workspace(then, now)) };
            format!("{}\n### Against the stored scores\n\n{note}{}", run(io, shown), markdown(rescored.changes))
        }
        ReportFormat::Junit | ReportFormat::Github | ReportFormat::Sarif => run(io, shown),
        ReportFormat::Json => format!("{:#}\n", document(io, shown, stored, rescored)),
    }
}

fn text(io: &CliOutput, shown: &RunReport<'_>, stored: &OpenedRun, rescored: &RescoreChanges<'_>) -> String {
    let mut text = format!("\nrun {} of {}, scored again\n", stored.short_id(), escape_control(&stored.run.started));
    if stored.run.workspace != shown.workspace.hash {
        text.push_str(&io.paint.unsure(&other_workspace(stored.workspace_version(), shown.workspace.version_number())));
    }
    let RescoreChanges { changes, gone } = *rescored;
    if gone > 0 {
        text.push_str(&io.paint.bad(&format!("{} of cases that are no longer in the workspace\n", model::count(gone, "trial"))));
    }
    if changes.is_empty() {
        text.push_str("no score and no verdict changed\n");
        return text;
    }
    text.push_str(&format!(
        "{} and {} changed\n",
        model::count(changes.changed_scores(), "score"),
        model::count(changes.verdicts.len(), "verdict")
    ));
    for line in changes.verdicts.iter().map(verdict_line) {
        text.push_str(&format!("  {line}\n"));
    }
    let most = if io.verbose { changes.scores.len() } else { MAX_SCORES_SHOWN };
    for line in changes.scores.iter().take(most).map(score_line) {
        text.push_str(&format!("  {line}\n"));
    }
    let hidden = changes.changed_scores().saturating_sub(most.min(changes.scores.len()));
    if hidden > 0 {
        let all = if io.verbose { "" } else { "; --verbose shows more" };
        text.push_str(&io.paint.dim(&format!("  and {}{all}\n", model::count(hidden, "more score"))));
    }
    text
}

/// Returns the line that says that scores of another workspace are compared.
fn other_workspace(then: Option<u64>, now: Option<u64>) -> String {
    match (then, now) {
        (then, now) if then == now => "the workspace is not the one the run was planned from\n".to_owned(),
        (then, now) => {
            let shown = |version: Option<u64>| version.map_or_else(|| "no version".to_owned(), |version| format!("version {version}"));
            format!("the run is of {} of the workspace, scored with {}: their scores do not measure the same\n", shown(then), shown(now))
        }
    }
}

fn markdown(changes: &RunChanges) -> String {
    if changes.is_empty() {
        return "No score and no verdict changed.\n".to_owned();
    }
    let lines = changes.verdicts.iter().map(verdict_line).chain(changes.scores.iter().map(score_line));
    let mut text: String = lines.map(|line| format!("- {}\n", escape_cell(&line))).collect();
    if changes.more_scores > 0 {
        text.push_str(&format!("- and {}\n", model::count(changes.more_scores, "more score")));
    }
    text
}

fn verdict_line(change: &ChangedVerdict) -> String {
    let text_of = |judged: Option<VerdictValue>| match judged {
        None => "not judged".to_owned(),
        Some(judged) => {
            let word = match judged.verdict {
                Verdict::Met => "met",
                Verdict::Missed => "missed",
                Verdict::NoEvidence => "no evidence",
            };
            judged.value.map_or(word.to_owned(), |value| format!("{word} at {value:.3}"))
        }
    };
    let of = format!("{} ({}, {})", change.gate, escape_control(&change.slice), escape_control(&change.subject));
    format!("gate {of}: {} → {}", text_of(change.before), text_of(change.after))
}

fn score_line(change: &ChangedScore) -> String {
    let text_of = |read: &Option<Reading>| read.as_ref().map_or("not scored".to_owned(), reading_text);
    let of = format!("{} {} {}", escape_control(&change.case), change.trial, change.scorer);
    format!("score {of}: {} → {}", text_of(&change.before), text_of(&change.after))
}

fn document(io: &CliOutput, shown: &RunReport<'_>, stored: &OpenedRun, rescored: &RescoreChanges<'_>) -> Value {
    let changes = rescored.changes;
    let scores: Vec<Value> = changes
        .scores
        .iter()
        .map(|change| {
            json!({ "case": change.case, "trial": change.trial, "scorer": change.scorer, "before": change.before, "after": change.after })
        })
        .collect();
    let judged = |judged: Option<VerdictValue>| judged.map(|judged| json!({ "verdict": judged.verdict, "value": judged.value }));
    let verdicts: Vec<Value> = changes
        .verdicts
        .iter()
        .map(|change| {
            json!({ "gate": change.gate, "subject": change.subject, "slice": change.slice, "before": judged(change.before),
                "after": judged(change.after) })
        })
        .collect();
    let mut document = run_json::document(io, shown);
    document["run"] = json!(stored.run.record.as_ref().map_or(stored.run.id.as_str(), model::ContentHash::as_str));
    document["workspace_version_of_run"] = json!(stored.workspace_version());
    document["changed"] = json!({ "scores": scores, "scores_count": changes.changed_scores(), "verdicts": verdicts });
    document
}
