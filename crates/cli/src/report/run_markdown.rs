//! Run as Markdown, for a job summary.

use super::changed::{changed_text, left_out_note};
use super::escape::{escape_cell, markdown_code};
use super::judgement_text::{bound, interval, note, observations};
use super::{RunReport, comparison, deviations, judge_hint, red_team, screen};
use crate::io::CliOutput;
use model::Verdict;

pub(super) fn render(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let changed = shown.changed.map_or_else(String::new, |changed| {
        let note = if shown.against.is_some() { None } else { left_out_note(changed.left_out_showing, None) };
        let lines = [Some(changed_text(changed)), note].into_iter().flatten();
        lines.map(|line| format!("{}\n\n", escape_cell(&line))).collect()
    });
    match shown.comparison() {
        Some(compared) if shown.against.is_some() => {
            let run = run(io, shown);
            format!(
                "{}\n{changed}<details><summary>The run itself</summary>\n\n{run}\n</details>\n",
                comparison::markdown::render(io, &compared)
            )
        }
        Some(compared) => format!("{changed}{}\n{}", run(io, shown), comparison::markdown::render(io, &compared)),
        None => format!("{changed}{}", run(io, shown)),
    }
}

fn run(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let summary = shown.summary;
    let rows: String = summary
        .verdicts
        .judgements
        .iter()
        .map(|judgement| {
            let verdict = match judgement.verdict {
                Verdict::Met => "met",
                Verdict::Missed => "**missed**",
                Verdict::NoEvidence => "**no evidence**",
            };
            let value = judgement.metric.value.map_or("–".to_owned(), |value| format!("{value:.3}"));
            format!(
                "| {} | {} | {value} | {} | {} | {} | {verdict} | {} |\n",
                escape_cell(&judgement.gate),
                escape_cell(&judgement.metric.slice),
                interval(judgement),
                bound(judgement.bound),
                observations(judgement),
                escape_cell(&note(judgement))
            )
        })
        .collect();
    let missed: String = summary
        .verdicts
        .judgements
        .iter()
        .filter(|judgement| judgement.verdict == Verdict::Missed)
        .flat_map(|judgement| {
            judgement.worst.iter().map(move |worst| {
                format!(
                    "- {} ({}): {}; {}\n",
                    markdown_code(&worst.case),
                    escape_cell(&judgement.gate),
                    escape_cell(&worst.because),
                    markdown_code(&shown.show_command(io, &judgement.subject, worst))
                )
            })
        })
        .collect();
    let hint = judge_hint::hint(shown).map_or_else(String::new, |parts| format!("\n{}\n", parts.join("; ")));
    let left_out = match shown.left_out {
        0 => String::new(),
        cases => format!("\n{} left out, beyond the budget of the tier\n", model::count(cases, "case")),
    };
    let missed = if missed.is_empty() { missed } else { format!("\n### Worst cases\n\n{missed}") };
    let provenance: Vec<String> = shown.provenance().into_iter().map(|(name, value)| format!("{name} {}", escape_cell(&value))).collect();
    let outcomes = &summary.outcomes;
    format!(
        "## {}\n\n{}\n\n### Gates\n\n| gate | slice | value | 95 % interval | bound | n | verdict | note |\n|---|---|---|---|---|---|---|---|\n{rows}{missed}{}{hint}{left_out}{}\n{} planned, {} passed, {} failed, {} unjudged, {}; {} not in scope\n",
        escape_cell(&screen::headline_text(shown)),
        provenance.join(", "),
        red_team::markdown(&shown.red_team),
        deviations::markdown(io, shown.workspace),
        model::count(outcomes.planned(), "trial"),
        outcomes.passed,
        outcomes.failed,
        outcomes.unjudged,
        screen::aborted_text(outcomes),
        model::count(summary.verdicts.out_of_scope.len(), "gate")
    )
}
