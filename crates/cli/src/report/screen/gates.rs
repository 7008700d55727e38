//! One line per gate that was missed or has no evidence.

use super::super::RunReport;
use super::super::escape::escape_control;
use super::super::gate_lines::GateLine;
use super::super::judgement_text::bound;
use super::super::wrap::{PaintedCell, fitted_rows};
use crate::io::CliOutput;
use model::Verdict;

/// Narrower screens do not show the number of readings.
const WIDTH_FOR_N: usize = 100;
/// Gates listed even if the screen has no room for them.
const MIN_GATES: usize = 5;
/// Lines kept for gates without evidence if there are missed ones too.
const LINES_WITHOUT_EVIDENCE: usize = 7;

/// Lists the gates in about as many lines as `room` says.
pub(super) fn render(io: &CliOutput, shown: &RunReport<'_>, lines: &[GateLine<'_>], room: usize) -> String {
    let several = shown.summary.subjects.len() > 1;
    let rows = |verdict| -> Vec<Vec<PaintedCell>> {
        lines.iter().filter(|line| line.verdict == verdict).map(|line| row(io, line, several)).collect()
    };
    let without_evidence = |room| section(io, "gates without evidence", &rows(Verdict::NoEvidence), room);
    let kept = without_evidence(LINES_WITHOUT_EVIDENCE).lines().count();
    let missed = section(io, "missed gates, safety first, then worst first", &rows(Verdict::Missed), room.saturating_sub(kept));
    let left = room.saturating_sub(missed.lines().count());
    missed + &without_evidence(left)
}

/// Returns the title and as many rows as fit the room, and the number of the others.
fn section(io: &CliOutput, title: &str, rows: &[Vec<PaintedCell>], room: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let with_rows = |n: usize| {
        let hidden = rows.len() - n;
        let hidden = if hidden > 0 { io.paint.dim(&format!(" and {hidden} more; --verbose shows all\n")) } else { String::new() };
        format!("{}\n{}{hidden}", io.paint.strong(title), fitted_rows(&rows[..n], io.width, 1))
    };
    let least = MIN_GATES.min(rows.len());
    (least..=rows.len()).rev().map(with_rows).find(|text| text.lines().count() <= room).unwrap_or_else(|| with_rows(least))
}

fn row(io: &CliOutput, line: &GateLine<'_>, several: bool) -> Vec<PaintedCell> {
    let metric = &line.worst.metric;
    let gate = PaintedCell::new(line.gate, |text| match line.verdict {
        Verdict::Missed if line.is_safety() => io.paint.bad(text),
        Verdict::Missed | Verdict::NoEvidence | Verdict::Met => text.to_owned(),
    });
    let value = metric.value.map_or("–".to_owned(), |value| if value < 1000.0 { format!("{value:.3}") } else { format!("{value:.0}") });
    let mut row = vec![gate];
    if several {
        row.push(PaintedCell::plain(line.subject));
    }
    row.push(PaintedCell::right(&value, 6, str::to_owned));
    row.push(PaintedCell::plain(bound(line.worst.bound)));
    if io.width >= WIDTH_FOR_N {
        row.push(PaintedCell::right(&format!("n {}", metric.n), 6, |text| io.paint.dim(text)));
    }
    row.push(PaintedCell::plain(escape_control(&note(line))));
    row
}

/// Returns the worst slice of several, and the reason if there is no evidence.
fn note(line: &GateLine<'_>) -> String {
    let because = match line.verdict {
        Verdict::NoEvidence => line.worst.because.as_str(),
        Verdict::Missed | Verdict::Met => "",
    };
    if line.all_slices == 1 {
        return because.to_owned();
    }
    // A slice is labelled with its axis, as in "agent trade-executor".
    let (axis, slice) = line.worst.metric.slice.split_once(' ').unwrap_or(("slice", &line.worst.metric.slice));
    let slices = format!("{} of {}, worst {slice}", line.slices, model::count(line.all_slices, axis));
    if because.is_empty() { slices } else { format!("{slices}: {because}") }
}
