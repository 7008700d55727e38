//! Steps that make a failed case smaller: fewer turns, fewer fixtures, smaller answers in them. The first turn stays: it says what the user
//! wants, and without it the case would be another one.

use super::ShrinkError;
use super::case_text::CaseText;
use super::json_parts::{count_parts, with_parts};
use super::search::ShrinkSearch;
use serde_json::{Value, json};

/// Reduces a case as far as the trials allow.
///
/// # Errors
/// If a trial is aborted.
pub(super) async fn reduce_case(search: &mut ShrinkSearch<'_>, text: CaseText) -> Result<(), ShrinkError> {
    let text = drop_items(search, text, "turns", 1).await?;
    let text = drop_items(search, text, "fixtures", 0).await?;
    shrink_answers(search, text).await
}

/// Removes items of a list of the brief, all but the first `fixed` ones.
async fn drop_items(search: &mut ShrinkSearch<'_>, text: CaseText, list: &str, fixed: usize) -> Result<CaseText, ShrinkError> {
    let items: Vec<Value> = text.case["brief"][list].as_array().cloned().unwrap_or_default();
    let (first, rest) = items.split_at(fixed.min(items.len()));
    if rest.is_empty() {
        return Ok(text);
    }
    let with = |kept: &[usize]| {
        let mut smaller = text.clone();
        let left: Vec<Value> = first.iter().chain(kept.iter().map(|at| &rest[*at])).cloned().collect();
        smaller.case["brief"][list] = json!(left);
        smaller
    };
    // Often none is needed.
    if search.accepts(with(&[])).await? {
        return Ok(with(&[]));
    }
    let kept = search.minimise(rest.len(), |kept| Some(with(kept))).await?;
    Ok(with(&kept))
}

async fn shrink_answers(search: &mut ShrinkSearch<'_>, mut text: CaseText) -> Result<(), ShrinkError> {
    let fixtures = text.case["brief"]["fixtures"].as_array().map_or(0, Vec::len);
    for at in 0..fixtures {
        let answer = text.case["brief"]["fixtures"][at]["is"].clone();
        let with = |kept: &[usize]| {
            let mut smaller = text.clone();
            smaller.case["brief"]["fixtures"][at]["is"] = with_parts(&answer, kept);
            smaller
        };
        let parts = count_parts(&answer);
        let kept = search.minimise(parts, |kept| Some(with(kept))).await?;
        if kept.len() < parts {
            let smaller = with(&kept);
            text = smaller;
        }
    }
    Ok(())
}
