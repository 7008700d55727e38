//! Report of `judge calibrate`.

use crate::args::ReportFormat;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, escape_control};
use ::score::questions::{AgreementBounds, CalibrationVerdict};
use campaign::{CalibrationReport, UnreadVerdict};
use model::Money;
use serde_json::json;

/// Verdicts without a readable answer that are listed; `--verbose` lists all.
const UNREAD_SHOWN: usize = 5;

/// Calibration as it is printed.
pub(super) struct CalibrationResult<'r> {
    pub judge: &'r str,
    pub report: &'r CalibrationReport,
    pub bounds: AgreementBounds,
    pub spent: Money,
    pub exit: ExitKind,
}

pub(super) fn render(io: &CliOutput, result: &CalibrationResult<'_>) -> String {
    if io.format == ReportFormat::Json { document(result) } else { text(io, result) }
}

fn document(result: &CalibrationResult<'_>) -> String {
    let CalibrationResult { judge, report, bounds, spent, exit } = result;
    let document = json!({
        "format": report::FORMAT, "command": "judge calibrate", "judge": judge, "calibration": report.found, "intervals": report.intervals,
        "bounds": { "agreement": bounds.agreement, "kappa": bounds.kappa }, "unread": report.unread, "spent_usd": spent.as_usd(),
        "exit": exit.code(),
    });
    format!("{document:#}\n")
}

fn text(io: &CliOutput, result: &CalibrationResult<'_>) -> String {
    let CalibrationResult { judge, report, bounds, spent, .. } = result;
    let CalibrationReport { found, intervals, unread } = report;
    let interval = |(low, high): (f64, f64)| format!("{low:.3} to {high:.3}");
    let rows = [
        ("agreement", found.agreement, interval(intervals.agreement), "examples judged as labelled"),
        ("kappa", found.kappa, String::new(), "0 is chance, 1 is full agreement"),
        ("false pass", found.false_pass, interval(intervals.false_pass), "share of failing examples that it passed"),
        ("false fail", found.false_fail, interval(intervals.false_fail), "share of passing examples that it failed"),
        ("order flips", found.order_flips, interval(intervals.order_flips), "verdicts that changed with the order of the options"),
        ("order bias", found.order_bias, String::new(), "how much more often it passes when pass is offered first"),
        ("length bias", found.length_bias, String::new(), "preference for longer material beyond that of the labels"),
    ];
    // Without a readable verdict nothing was measured, and a rate of 0 would say that it was.
    let is_measured = found.verdict(*bounds) != CalibrationVerdict::NothingRead;
    let measured = |text: String| if is_measured { text } else { "–".to_owned() };
    let rows = rows.map(|(name, value, interval, meaning)| {
        let interval = if interval.is_empty() { interval } else { measured(interval) };
        vec![name.to_owned(), measured(format!("{value:.3}")), interval, meaning.to_owned()]
    });
    let mut text = format!("{}\n", report::table(&["measure", "value", "95 % interval", "meaning"], rows.to_vec()));
    text.push_str(&unread_lines(io, unread));
    let examples = model::count(found.examples, "example");
    text.push_str(&format!("\njudge {judge} on {examples}, each asked in both orders; spent {spent} USD\n"));
    let AgreementBounds { agreement, kappa } = bounds;
    let needed = format!("it needs agreement {agreement:.3} and kappa {kappa:.3}");
    text.push_str(&match found.verdict(*bounds) {
        CalibrationVerdict::Reliable => format!("{}: {needed}\n", io.paint.good("reliable")),
        CalibrationVerdict::BelowBounds => {
            format!("{}: {needed}; use another judge, or look at the examples it got wrong\n", io.paint.bad("not reliable"))
        }
        CalibrationVerdict::NothingRead => {
            format!("{}: no verdict could be read, so nothing was measured\n", io.paint.bad("not calibrated"))
        }
    });
    text
}

/// Lists the answers without a verdict, with the reason and first words of each.
fn unread_lines(io: &CliOutput, unread: &[UnreadVerdict]) -> String {
    if unread.is_empty() {
        return String::new();
    }
    let shown = if io.verbose { unread.len() } else { UNREAD_SHOWN.min(unread.len()) };
    let mut text = format!("\n{} without a readable verdict, counted as disagreement:\n", model::count(unread.len(), "example"));
    for UnreadVerdict { example, why } in &unread[..shown] {
        text.push_str(&format!("  {example}: {}\n", escape_control(why)));
    }
    if shown < unread.len() {
        text.push_str(&format!("  and {} more; --verbose lists them\n", unread.len() - shown));
    }
    text
}
