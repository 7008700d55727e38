//! Statistics of rates: intervals, repeated trials, paired runs, sequential stopping, sample sizes and errors of the judge.

mod anytime;
mod clustered;
mod interval;
mod judge_error;
mod mcnemar;
mod pass_k;
mod sample_size;

#[cfg(test)]
mod coverage_tests;

pub use anytime::AnytimeRate;
pub use clustered::{CaseTally, ClusteredRate};
pub use interval::{clopper_pearson, lower_bound, ruled_out_failure_rate, upper_bound, wilson};
pub use judge_error::{CorrectedRate, JudgeErrorRates};
pub use mcnemar::{holm_adjusted, mcnemar_exact};
pub use pass_k::{CaseTrials, pass_at_k, pass_hat_k};
pub use sample_size::SampleAdvice;
