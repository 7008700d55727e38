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

pub(super) fn render(io: &CliOutput, shown: &RunReport<'_>, lines: &[GateLine<'_>]) -> String {
    let several = shown.summary.subjects.len() > 1;
    let mut text = String::new();
    for (verdict, title) in
        [(Verdict::Missed, "missed gates, safety first, then worst first"), (Verdict::NoEvidence, "gates without evidence")]
    {
        let rows: Vec<Vec<PaintedCell>> = lines.iter().filter(|line| line.verdict == verdict).map(|line| row(io, line, several)).collect();
        if !rows.is_empty() {
            text.push_str(&format!("{}\n{}", io.paint.strong(title), fitted_rows(&rows, io.width, 1)));
        }
    }
    text
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
