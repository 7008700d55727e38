//! Text of gate results shared by the reports.

use model::{GateBound, GateResult};
use score::statistics::SampleAdvice;

/// Returns a bound as in "≥ 0.85".
pub fn bound(bound: GateBound) -> String {
    match bound {
        GateBound::AtLeast(value) => format!("≥ {value}"),
        GateBound::AtMost(value) => format!("≤ {value}"),
    }
}

/// Returns the value and the bound that it misses or meets.
pub fn value_and_bound(judgement: &GateResult) -> String {
    let value = judgement.metric.value.map_or("–".to_owned(), |value| format!("{value:.3}"));
    format!("{value}, bound {}", bound(judgement.bound))
}

/// Returns the confidence interval, or nothing where there is none.
pub fn interval(judgement: &GateResult) -> String {
    match (judgement.metric.low, judgement.metric.high) {
        (Some(low), Some(high)) => format!("{low:.2} to {high:.2}"),
        (Some(_) | None, Some(_) | None) => String::new(),
    }
}

/// Returns advice if the interval of a gate holds its bound, and more cases would tell on which side the rate lies.
pub fn sample_advice(judgement: &GateResult) -> Option<SampleAdvice> {
    let metric = &judgement.metric;
    let (low, high, bound) = (metric.low?, metric.high?, judgement.bound.value());
    if bound < low || bound > high { None } else { SampleAdvice::for_bound(bound, metric.cases) }
}

/// Returns the number of readings, and the number of independent ones that they are worth if cases repeat.
pub fn observations(judgement: &GateResult) -> String {
    match judgement.metric.effective_n {
        Some(effective) => format!("{} (worth {effective:.0})", judgement.metric.n),
        None => judgement.metric.n.to_string(),
    }
}

/// Returns the reason of the verdict and, for zero-tolerance gates, the failure rate ruled out.
pub fn note(judgement: &GateResult) -> String {
    let ruled_out = judgement.rules_out.map(|shown| {
        let (rate, sure) = (shown.failure_rate * 100.0, shown.confidence * 100.0);
        format!("rules out failure rates above {rate:.1} % at {sure:.0} %")
    });
    let because = Some(judgement.because.clone()).filter(|because| !because.is_empty());
    [because, ruled_out].into_iter().flatten().collect::<Vec<_>>().join("; ")
}
