//! Comparison as text that fits one screen.

use super::super::cause_text::cause;
use super::super::escape::escape_control;
use super::super::wrap::{PaintedCell, fitted_rows, wrap};
use super::gate_changes::{GateChange, gate_changes};
use super::show_commands::show_command;
use super::{
    ComparisonHeadline, ComparisonReport, cases_advice, cost_and_time, left_out, left_out_note, newly_missed_note, paired_text, sides,
    verdict_limit, verdict_reason,
};
use crate::args::FailOn;
use crate::io::CliOutput;
use campaign::SubjectComparison;
use present::changed_values::changed_values;
use score::pairing::{ChangeVerdict, FlipDirection, FlipGroup, FlippedCase, PairedSlice, RunNoise};
use std::collections::HashSet;

/// Rows of gates, groups of flipped cases, and cases of a group without `--verbose`.
const MAX_GATES: usize = 6;
const MAX_GROUPS: usize = 4;
const MAX_CASES: usize = 3;

pub(in crate::report) fn render(io: &CliOutput, shown: &ComparisonReport<'_>) -> String {
    shown.comparisons.iter().map(|compared| one(io, compared, shown)).collect::<Vec<_>>().join("\n")
}

fn one(io: &CliOutput, compared: &SubjectComparison, shown: &ComparisonReport<'_>) -> String {
    let (store_flag, fail_on) = (shown.store_flag.as_str(), shown.fail_on);
    let mut text = headline(io, compared, shown);
    let gates = gate_changes(&compared.result.slices);
    text.push_str(&rows(io, compared, &gates, fail_on));
    for (direction, title) in [(FlipDirection::Worse, "worse, by cause"), (FlipDirection::Better, "better, by former cause")] {
        text.push_str(&flips(io, compared, store_flag, direction, title));
    }
    text.push_str(&gate_cases(io, compared, store_flag, &gates));
    let mut notes = vec![cost_and_time(compared).join("; ")];
    notes.extend(left_out_note(compared, shown));
    let left_out = left_out(compared);
    if !left_out.is_empty() {
        notes.push(format!("not compared: {}", left_out.join(", ")));
    }
    notes.extend(cases_advice(compared, fail_on));
    if compared.noise == RunNoise::None {
        notes.push("the subject answers the same every time, so every change counts".to_owned());
    }
    for note in notes.iter().filter(|note| !note.is_empty()) {
        text.push_str(&wrapped(io, note));
    }
    text
}

fn wrapped(io: &CliOutput, line: &str) -> String {
    wrap(line, io.width.saturating_sub(2)).iter().map(|line| format!("{}\n", io.paint.dim(line))).collect()
}

fn headline(io: &CliOutput, compared: &SubjectComparison, shown: &ComparisonReport<'_>) -> String {
    let headline = ComparisonHeadline::of(compared, shown.fail_on);
    let word = headline.word().to_uppercase();
    let word = match headline {
        ComparisonHeadline::Verdict(verdict) => paint(io, verdict, &word),
        ComparisonHeadline::Worse => io.paint.bad(&word),
        ComparisonHeadline::NothingWorse => word,
    };
    let (sides, limit) = (escape_control(&sides(compared)), verdict_limit(shown));
    let reason = verdict_reason(compared, shown.fail_on);
    // The sides follow on a line of their own if a reason leaves no room for them.
    let gap = if reason.is_empty() { "  " } else { "\n" };
    format!("{word}{reason}{gap}{sides}{limit}\n{}\n", paired_text(compared))
}

fn paint(io: &CliOutput, verdict: ChangeVerdict, text: &str) -> String {
    match verdict {
        ChangeVerdict::Regression => io.paint.bad(text),
        ChangeVerdict::Improvement => io.paint.good(text),
        ChangeVerdict::Tied => text.to_owned(),
        ChangeVerdict::NotEnoughData => io.paint.unsure(text),
    }
}

/// Returns the row of all cases, those of gates that changed, and the number of the others. Gates that were met and are not any more are
/// always among the former; where every change counts, those with a worse reading are too.
fn rows(io: &CliOutput, compared: &SubjectComparison, gates: &[GateChange<'_>], fail_on: Option<FailOn>) -> String {
    let is_worse = |gate: &GateChange<'_>| gate.is_newly_missed || (fail_on == Some(FailOn::Any) && gate.worst.counts.worse > 0);
    let is_changed = |gate: &&GateChange<'_>| match gate.verdict {
        _ if is_worse(gate) => true,
        ChangeVerdict::Regression | ChangeVerdict::Improvement => true,
        ChangeVerdict::Tied | ChangeVerdict::NotEnoughData => io.verbose,
    };
    let changed: Vec<&GateChange<'_>> = gates.iter().filter(is_changed).collect();
    let is_shown = |(n, gate): &(usize, &&GateChange<'_>)| io.verbose || *n < MAX_GATES || gate.is_newly_missed;
    let listed: Vec<&GateChange<'_>> = changed.iter().enumerate().filter(is_shown).map(|(_, gate)| *gate).collect();
    let row = |name: &str, slice: &PairedSlice, note: String| row(io, name, slice, &format!("{}{note}", p_note(compared.noise, slice)));
    let mut rows = vec![row("cases passed", &compared.result.cases, String::new())];
    rows.extend(listed.iter().map(|gate| row(gate.gate, gate.worst, gate_note(gate))));
    let mut text = fitted_rows(&rows, io.width, 1);
    let of = |verdict| gates.iter().filter(|gate| gate.verdict == verdict && !is_worse(gate)).map(|gate| 1 + gate.repeated).sum::<usize>();
    let hidden = changed.len() - listed.len();
    let hidden = if hidden > 0 { format!("; {hidden} more changed, see --verbose") } else { String::new() };
    let (tied, unknown) = (of(ChangeVerdict::Tied), of(ChangeVerdict::NotEnoughData));
    text.push_str(&wrapped(io, &format!("other gates: {tied} tied, {unknown} without enough data{hidden}")));
    text
}

fn row(io: &CliOutput, name: &str, slice: &PairedSlice, note: &str) -> Vec<PaintedCell> {
    let [before, after] = changed_values(slice.before, slice.after);
    let values = format!("{before:>5} → {after:>5}");
    let (worse, better) = (slice.counts.worse, slice.counts.better);
    let verdict = format!("{}: {worse} worse, {better} better{}{note}", slice.verdict.word(), newly_missed_note(slice));
    let name = PaintedCell::new(escape_control(name), |text| paint(io, slice.verdict, text));
    vec![name, PaintedCell::plain(values), PaintedCell::plain(verdict)]
}

/// Returns the adjusted p-value of a slice; nothing where chance plays no part or nothing changed.
fn p_note(noise: RunNoise, slice: &PairedSlice) -> String {
    match noise {
        RunNoise::Sampled if slice.p_value < 1.0 => format!(", p {}", p_text(slice.adjusted)),
        RunNoise::Sampled | RunNoise::None => String::new(),
    }
}

/// Returns a p-value as in "0.031" or "< 0.001".
pub(super) fn p_text(p_value: f64) -> String {
    if p_value < 0.001 { "< 0.001".to_owned() } else { format!("{p_value:.3}") }
}

fn gate_note(gate: &GateChange<'_>) -> String {
    let slices = match gate.all_slices {
        1 => String::new(),
        all => format!("; {} of {all} slices, most in {}", gate.slices, escape_control(&gate.worst.slice)),
    };
    let repeated = match gate.repeated {
        0 => String::new(),
        more => format!("; same in {}", model::count(more, "more gate")),
    };
    format!("{slices}{repeated}")
}

fn flips(io: &CliOutput, compared: &SubjectComparison, store_flag: &str, direction: FlipDirection, title: &str) -> String {
    let groups: Vec<&FlipGroup> = compared.result.flips.iter().filter(|group| group.direction == direction).collect();
    if groups.is_empty() {
        return String::new();
    }
    let (most, cases) = match (io.verbose, direction) {
        (true, _) => (usize::MAX, usize::MAX),
        (false, FlipDirection::Worse) => (MAX_GROUPS, MAX_CASES),
        (false, FlipDirection::Better) => (2, MAX_CASES),
    };
    let mut text = format!("{}\n", io.paint.strong(title));
    for group in groups.iter().take(most) {
        text.push_str(&group_lines(io, compared, store_flag, group, cases));
    }
    let hidden: usize = groups.iter().skip(most).map(|group| group.cases.len()).sum();
    if hidden > 0 {
        text.push_str(&wrapped(io, &format!(" and {} with other causes; --verbose shows them", model::count(hidden, "case"))));
    }
    text
}

/// Returns the cases that are worse for a gate and no flipped cases: they passed or failed before as they do now.
fn gate_cases(io: &CliOutput, compared: &SubjectComparison, store_flag: &str, gates: &[GateChange<'_>]) -> String {
    let worse = compared.result.flips.iter().filter(|group| group.direction == FlipDirection::Worse);
    let flipped: HashSet<&str> = worse.flat_map(|group| &group.cases).map(|case| case.case.as_str()).collect();
    let (most, names) = if io.verbose { (usize::MAX, usize::MAX) } else { (MAX_GROUPS, MAX_CASES) };
    let unseen = gates.iter().map(|gate| {
        (gate.gate, gate.worst.worse.iter().filter(|case| !flipped.contains(case.case.as_str())).collect::<Vec<&FlippedCase>>())
    });
    let groups: Vec<(&str, Vec<&FlippedCase>)> = unseen.filter(|(_, cases)| !cases.is_empty()).collect();
    if groups.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", io.paint.strong("worse in a gate, where the case passes or fails as before"));
    for (gate, cases) in groups.iter().take(most) {
        text.push_str(&case_lines(io, gate, (cases, names), |case| show_command(io, compared, store_flag, case)));
    }
    let hidden = groups.len().saturating_sub(most);
    if hidden > 0 {
        text.push_str(&wrapped(io, &format!(" and {}; --verbose shows them", model::count(hidden, "more gate"))));
    }
    text
}

/// Returns the cause with its first cases, and the command that shows the first one; with `--verbose` that of every case.
fn group_lines(io: &CliOutput, compared: &SubjectComparison, store_flag: &str, group: &FlipGroup, most: usize) -> String {
    let cases: Vec<&FlippedCase> = group.cases.iter().collect();
    case_lines(io, &cause(group.cause.as_ref()), (&cases, most), |case| show_command(io, compared, store_flag, case))
}

fn case_lines(io: &CliOutput, title: &str, (cases, most): (&[&FlippedCase], usize), command: impl Fn(&FlippedCase) -> String) -> String {
    let names: Vec<&str> = cases.iter().take(most).map(|case| case.case.as_str()).collect();
    let more = match cases.len().saturating_sub(names.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let line = format!("{title} ({}): {}{more}", cases.len(), names.join(", "));
    let mut text: String = wrap(&escape_control(&line), io.width.saturating_sub(3))
        .iter()
        .enumerate()
        .map(|(n, line)| format!("{}{line}\n", if n == 0 { " " } else { "   " }))
        .collect();
    let shown = if io.verbose { cases.len() } else { 1 };
    for case in cases.iter().take(shown) {
        text.push_str(&format!("   {}\n", io.paint.dim(&command(case))));
    }
    text
}
