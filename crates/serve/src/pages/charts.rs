//! Drawings: the range of a gate, the course of a number over runs, a histogram.

use maud::{Markup, html};
use model::{GateResult, Verdict};
use present::judgement_text::bound;

/// Width of a range in units of its picture.
const WIDTH: f64 = 150.0;
const MARGIN: f64 = 6.0;

pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::NoEvidence => "no evidence",
    }
}

/// Returns the class of a verdict in the style.
pub(super) fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::NoEvidence => "no_evidence",
    }
}

pub(super) fn verdict_badge(verdict: Verdict) -> Markup {
    html! { span class={ "badge " (verdict_class(verdict)) } { (verdict_word(verdict)) } }
}

/// Draws value, interval and bound of a gate. Numbers above 1 are drawn relative to the largest of them.
pub(super) fn gate_range(result: &GateResult) -> Markup {
    let metric = &result.metric;
    let numbers = [metric.value, metric.low, metric.high, Some(result.bound.value())];
    let top = numbers.into_iter().flatten().filter(|number| number.is_finite()).fold(1.0, f64::max);
    let x = |number: f64| MARGIN + (number / top).clamp(0.0, 1.0) * (WIDTH - 2.0 * MARGIN);
    let value = metric.value.map_or("no value".to_owned(), |value| format!("{value:.3}"));
    let label = format!("{value}, bound {}, {}", bound(result.bound), verdict_word(result.verdict));
    html! {
        svg.range viewBox="0 0 150 18" role="img" aria-label=(label) {
            line.axis x1="6" y1="9" x2="144" y2="9" {}
            @if let (Some(low), Some(high)) = (metric.low, metric.high) {
                line.span x1=(number(x(low))) y1="9" x2=(number(x(high))) y2="9" {}
            }
            line.bound x1=(number(x(result.bound.value()))) y1="1" x2=(number(x(result.bound.value()))) y2="17" {}
            @if let Some(value) = metric.value {
                circle class={ "dot-" (verdict_class(result.verdict)) } cx=(number(x(value))) cy="9" r="5" {}
            }
        }
    }
}

/// Draws numbers between 0 and 1 in the order of time.
pub(super) fn sparkline(values: &[Option<f64>]) -> Markup {
    let step = 116.0 / (values.len().max(2) - 1) as f64;
    let points: Vec<String> = values
        .iter()
        .enumerate()
        .filter_map(|(n, value)| {
            value.map(|value| format!("{},{}", number(2.0 + n as f64 * step), number(20.0 - value.clamp(0.0, 1.0) * 18.0)))
        })
        .collect();
    let last = values.iter().rev().flatten().next().map_or("none".to_owned(), |value| format!("{value:.3}"));
    html! {
        svg.spark viewBox="0 0 120 22" role="img" aria-label={ "last value " (last) } { polyline points=(points.join(" ")) {} }
    }
}

/// Alarm in the course of a quantity, as shares of the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CourseMark {
    pub since: f64,
    pub found: f64,
}

/// Draws the course of a quantity over a window, with the times of its alarms. Shares are drawn between 0 and 1, others from 0 to their largest value.
pub(super) fn course_chart(label: &str, values: &[Option<f64>], is_rate: bool, marks: &[CourseMark]) -> Markup {
    const LEFT: f64 = 44.0;
    const RIGHT: f64 = 412.0;
    const TOP: f64 = 8.0;
    const BOTTOM: f64 = 92.0;
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let top = if is_rate || most <= 0.0 { 1.0 } else { most };
    let x = |share: f64| number(LEFT + share * (RIGHT - LEFT));
    let y = |value: f64| number(BOTTOM - (value / top).clamp(0.0, 1.0) * (BOTTOM - TOP));
    let last = values.len().max(2) - 1;
    let points: Vec<(String, String)> =
        values.iter().enumerate().filter_map(|(n, value)| value.map(|value| (x(n as f64 / last as f64), y(value)))).collect();
    let line: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
    let newest = values.iter().rev().flatten().next().map_or("none".to_owned(), |value| format!("{value:.3}"));
    html! {
        svg.course viewBox="0 0 420 100" role="img" aria-label={ (label) ": last value " (newest) ", " (marks.len()) " alarms" } {
            line.axis x1=(number(LEFT)) y1=(number(BOTTOM)) x2=(number(RIGHT)) y2=(number(BOTTOM)) {}
            text x="40" y="14" text-anchor="end" { (scale_text(top)) }
            text x="40" y="95" text-anchor="end" { "0" }
            @for mark in marks {
                line.since x1=(x(mark.since)) x2=(x(mark.since)) y1=(number(TOP)) y2=(number(BOTTOM)) {}
                line.alarm x1=(x(mark.found)) x2=(x(mark.found)) y1=(number(TOP)) y2=(number(BOTTOM)) {}
            }
            polyline points=(line.join(" ")) {}
            @for (x, y) in &points { circle cx=(x) cy=(y) r="1.8" {} }
        }
    }
}

fn scale_text(value: f64) -> String {
    match value {
        1.0 => "1".to_owned(),
        _ if value >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.3}"),
    }
}

/// Draws how many of the values fall into each of ten parts of their range.
pub(super) fn histogram(label: &str, values: &[f64], text: impl Fn(f64) -> String) -> Markup {
    const BARS: usize = 10;
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
    if values.is_empty() {
        return html! {};
    }
    let width = (high - low) / BARS as f64;
    let mut counts = [0_usize; BARS];
    for value in values {
        let bar = if width > 0.0 { ((value - low) / width) as usize } else { 0 };
        counts[bar.min(BARS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    html! {
        svg.bars viewBox="0 0 420 90" role="img" aria-label={ (label) ": from " (text(low)) " to " (text(high)) ", " (values.len()) " values" } {
            @for (n, count) in counts.iter().enumerate() {
                rect x=(n * 42 + 2) y=(number(70.0 - *count as f64 / most * 64.0)) width="38" height=(number(*count as f64 / most * 64.0)) {}
            }
            text x="2" y="86" { (text(low)) }
            text x="418" y="86" text-anchor="end" { (text(high)) }
        }
    }
}

fn number(value: f64) -> String {
    format!("{value:.1}")
}
