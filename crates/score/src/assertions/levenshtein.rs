//! `levenshtein`: the edit distance to the value is at most the threshold. Counted in UTF-16 units, like promptfoo.

use super::{AssertionFinding, AssertionInput, MissingEvidence, excerpt};
use model::suite::{AssertionValue, CaseAssertion};
use rapidfuzz::distance::levenshtein::{Args, distance_with_args};

/// Threshold of an assertion that has none.
const DEFAULT_THRESHOLD: f64 = 5.0;
/// Maximum UTF-16 units of a text, so that the time is bounded.
const MAX_UNITS: usize = 50_000;

pub(super) fn levenshtein(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let AssertionValue::Text(wanted) = &assertion.value else { return Err(MissingEvidence("levenshtein has no value".into())) };
    let most = assertion.threshold.unwrap_or(DEFAULT_THRESHOLD);
    let (found, wanted): (Vec<u16>, Vec<u16>) = (input.text.encode_utf16().collect(), wanted.encode_utf16().collect());
    if found.len().max(wanted.len()) > MAX_UNITS {
        return Ok(AssertionFinding::Unreadable(format!("a text with more than {MAX_UNITS} characters is not compared")));
    }
    let limit = if most < 0.0 { 0 } else { most as usize };
    let distance = distance_with_args(found, wanted, &Args::default().score_cutoff(limit)).filter(|distance| *distance as f64 <= most);
    let shown = distance.map_or_else(|| format!("more than {most}"), |distance| distance.to_string());
    Ok(AssertionFinding::of(distance.is_some(), format!("distance {shown}, found {}", excerpt(input.text))))
}
