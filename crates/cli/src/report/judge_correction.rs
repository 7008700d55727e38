//! Judged gates without the errors that the judge made on labelled examples.

use super::RunReport;
use model::{GateResult, ScorerId};
use score::statistics::CorrectedRate;

/// Gates listed in text.
const MAX_LINES: usize = 3;

/// Returns the corrected rate of a gate on rubrics; `None` for other gates and judges that were not calibrated.
pub(super) fn correction(shown: &RunReport<'_>, judgement: &GateResult) -> Option<CorrectedRate> {
    let metric = &judgement.metric;
    let (value, errors) = (metric.value.filter(|_| metric.scorer == ScorerId::Judged && metric.low.is_some())?, shown.judge_errors?);
    errors.correct(value, metric.effective_n.unwrap_or(metric.n as f64))
}

/// Returns one line per judged gate and slice.
pub(super) fn lines(shown: &RunReport<'_>) -> Vec<String> {
    let corrected = shown.summary.verdicts.judgements.iter().filter_map(|judgement| Some((judgement, correction(shown, judgement)?)));
    let line = |(judgement, rate): (&GateResult, CorrectedRate)| {
        let CorrectedRate { value, low, high } = rate;
        let by_judge = judgement.metric.value.unwrap_or_default();
        format!("{}: {by_judge:.3} by the judge, {value:.3} ({low:.3} to {high:.3}) without its errors", judgement.gate)
    };
    corrected.take(MAX_LINES).map(line).collect()
}
