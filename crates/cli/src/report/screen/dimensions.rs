//! Gates by dimension of the specification.

use super::super::gate_lines::GateLine;
use super::super::wrap::{PaintedCell, fitted_rows};
use crate::io::CliOutput;
use model::{EvalDimension, Verdict};

pub(super) fn render(io: &CliOutput, lines: &[GateLine<'_>]) -> String {
    const HEADER: [&str; 4] = ["", "met", "missed", "no evidence"];
    if lines.is_empty() {
        return String::new();
    }
    let mut rows = vec![HEADER.map(|title| PaintedCell::new(title, |text| io.paint.dim(text))).to_vec()];
    for (name, dimension) in EvalDimension::ALL {
        let of = |verdict| lines.iter().filter(|line| line.dimension == *dimension && line.verdict == verdict).count();
        let cell = |verdict, at: usize, paint: &dyn Fn(&str) -> String| match of(verdict) {
            0 => PaintedCell::right("–", HEADER[at].len(), |text| io.paint.dim(text)),
            gates => PaintedCell::right(&gates.to_string(), HEADER[at].len(), paint),
        };
        rows.push(vec![
            PaintedCell::plain(*name),
            cell(Verdict::Met, 1, &|text| io.paint.good(text)),
            cell(Verdict::Missed, 2, &|text| io.paint.bad(text)),
            cell(Verdict::NoEvidence, 3, &|text| io.paint.unsure(text)),
            PaintedCell::plain(""),
        ]);
    }
    rows[0].push(PaintedCell::plain(""));
    fitted_rows(&rows, io.width, 1)
}
