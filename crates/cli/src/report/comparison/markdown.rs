//! Comparison as Markdown for a pull request: ten lines, the rest folded.

use super::super::cause_text::cause;
use super::super::escape::{escape_cell, markdown_code};
use super::gate_changes::{GateChange, gate_changes};
use super::show_commands::show_command;
use super::text::p_text;
use super::{
    ComparisonHeadline, ComparisonReport, cases_advice, cost_and_time, left_out, left_out_note, newly_missed_note, sides, verdict_limit,
    verdict_reason,
};
use crate::args::FailOn;
use crate::io::CliOutput;
use campaign::SubjectComparison;
use present::changed_values::changed_values;
use score::pairing::{ChangeVerdict, FlipDirection, PairedSlice};

/// Rows of gates before the folded part.
const MAX_GATES: usize = 3;
/// Flipped cases with their commands.
const MAX_CASES: usize = 200;

pub(in crate::report) fn render(io: &CliOutput, shown: &ComparisonReport<'_>) -> String {
    shown.comparisons.iter().map(|compared| one(io, compared, shown)).collect::<Vec<_>>().join("\n")
}

fn one(io: &CliOutput, compared: &SubjectComparison, shown: &ComparisonReport<'_>) -> String {
    let headline = ComparisonHeadline::of(compared, shown.fail_on);
    let gates = gate_changes(&compared.result.slices);
    let is_changed = |verdict| matches!(verdict, ChangeVerdict::Regression | ChangeVerdict::Improvement);
    let mut head = vec![
        format!(
            "### {}{}: {}{}",
            headline.word(),
            escape_cell(&verdict_reason(compared, shown.fail_on)),
            escape_cell(&sides(compared)),
            verdict_limit(shown)
        ),
        String::new(),
        "| | before | after | worse | better | verdict |".to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
        row("cases passed", &compared.result.cases),
    ];
    let is_worse = |gate: &GateChange<'_>| gate.is_newly_missed || (shown.fail_on == Some(FailOn::Any) && gate.worst.counts.worse > 0);
    head.extend(
        gates.iter().filter(|gate| is_changed(gate.verdict) || is_worse(gate)).take(MAX_GATES).map(|gate| row(gate.gate, gate.worst)),
    );
    head.push(String::new());
    head.push(most_common_cause(compared, shown));
    format!("{}\n\n{}", head.join("\n"), folded(io, compared, &shown.store_flag))
}

fn row(name: &str, slice: &PairedSlice) -> String {
    let verdict = match slice.verdict {
        ChangeVerdict::Regression => "**regression**",
        ChangeVerdict::Improvement | ChangeVerdict::Tied | ChangeVerdict::NotEnoughData => slice.verdict.word(),
    };
    let ([before, after], counts) = (changed_values(slice.before, slice.after), slice.counts);
    format!("| {} | {before} | {after} | {} | {} | {verdict}{} |", escape_cell(name), counts.worse, counts.better, newly_missed_note(slice))
}

/// Returns one line: the largest group of cases that got worse, and the cost.
fn most_common_cause(compared: &SubjectComparison, shown: &ComparisonReport<'_>) -> String {
    let worst = compared.result.flips.iter().find(|group| group.direction == FlipDirection::Worse);
    let cause = worst.map(|group| {
        let cases = model::count(group.cases.len(), "case");
        format!("Most common cause: {} ({cases}).", escape_cell(&cause(group.cause.as_ref())))
    });
    let left_out = left_out_note(compared, shown).map(|note| format!("Note: {}.", escape_cell(&note)));
    let advice = cases_advice(compared, shown.fail_on).map(|advice| format!("{advice}."));
    let parts = [cause, left_out, advice, Some(cost_and_time(compared).join("; "))];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn folded(io: &CliOutput, compared: &SubjectComparison, store_flag: &str) -> String {
    let mut text = "<details><summary>All slices, flipped cases and commands</summary>\n\n".to_owned();
    text.push_str("| gate | slice | before | after | worse | better | p | verdict |\n|---|---|---|---|---|---|---|---|\n");
    for slice in &compared.result.slices {
        let [before, after] = changed_values(slice.before, slice.after);
        text.push_str(&format!(
            "| {} | {} | {before} | {after} | {} | {} | {} | {} |\n",
            escape_cell(slice.gate.as_deref().unwrap_or_default()),
            escape_cell(&slice.slice),
            slice.counts.worse,
            slice.counts.better,
            p_text(slice.adjusted),
            slice.verdict.word()
        ));
    }
    text.push('\n');
    let flipped = compared.result.flips.iter().flat_map(|group| group.cases.iter().map(move |case| (group, case)));
    for (group, case) in flipped.clone().take(MAX_CASES) {
        let direction = match group.direction {
            FlipDirection::Worse => "worse",
            FlipDirection::Better => "better",
        };
        let (name, cause) = (markdown_code(&case.case), escape_cell(&cause(group.cause.as_ref())));
        let command = markdown_code(&show_command(io, compared, store_flag, case));
        text.push_str(&format!("- {name} {direction}, {:.2} → {:.2}: {cause}; {command}\n", case.before, case.after));
    }
    let hidden = flipped.count().saturating_sub(MAX_CASES);
    if hidden > 0 {
        text.push_str(&format!("- and {}\n", model::count(hidden, "more case")));
    }
    let left_out = left_out(compared);
    if !left_out.is_empty() {
        text.push_str(&format!("\nNot compared: {}.\n", left_out.join(", ")));
    }
    text.push_str("\n</details>\n");
    text
}
