//! `latency` and `cost`: at most the threshold, in milliseconds and US dollars. Read from what is stored with the replies of the model.

use super::{AssertionFinding, AssertionInput, MissingEvidence};
use model::suite::CaseAssertion;

pub(super) fn latency(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    within(assertion, input.latency_ms, "no response time is stored with the replies", |found| format!("took {found} ms"))
}

pub(super) fn cost(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    within(assertion, input.cost_usd, "no cost is stored with the replies", |found| format!("cost ${found}"))
}

fn within(
    assertion: &CaseAssertion,
    measured: Option<f64>,
    missing: &str,
    shown: fn(f64) -> String,
) -> Result<AssertionFinding, MissingEvidence> {
    let (Some(found), Some(most)) = (measured, assertion.threshold) else { return Err(MissingEvidence(missing.to_owned())) };
    Ok(AssertionFinding::of(found <= most, shown(found)))
}
