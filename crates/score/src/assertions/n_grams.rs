//! `rouge-n`, `bleu` and `gleu`: overlap of word sequences with a reference. The score is the metric; it holds from the threshold on.

use super::js_space::{js_trim, js_words};
use super::treebank::treebank_tokens;
use super::{AssertionFinding, AssertionInput, MissingEvidence};
use model::suite::{AssertionValue, CaseAssertion};
use std::collections::BTreeMap;

/// Longest sequence of words that `bleu` and `gleu` compare.
const MAX_ORDER: usize = 4;

pub(super) fn rouge_n(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let AssertionValue::Text(reference) = &assertion.value else { return MissingEvidence::of("rouge-n has no value") };
    let score = rouge_score(&input.text.to_lowercase(), &reference.to_lowercase());
    Ok(finding(assertion, score, 0.75))
}

pub(super) fn bleu(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let AssertionValue::TextList(references) = &assertion.value else { return MissingEvidence::of("bleu has no value") };
    Ok(finding(assertion, bleu_score(input.text, references), 0.5))
}

pub(super) fn gleu(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let AssertionValue::TextList(references) = &assertion.value else { return MissingEvidence::of("gleu has no value") };
    Ok(finding(assertion, gleu_score(input.text, references), 0.5))
}

fn finding(assertion: &CaseAssertion, score: f64, default_threshold: f64) -> AssertionFinding {
    AssertionFinding::scored(score, assertion.threshold.unwrap_or(default_threshold), format!("{} {score:.4}", assertion.kind))
}

/// Returns the F-score of the words that both texts have, each counted as often as in both.
fn rouge_score(candidate: &str, reference: &str) -> f64 {
    let (candidate, reference) = (treebank_tokens(candidate), treebank_tokens(reference));
    let (found, wanted) = (n_grams(&candidate, 1), n_grams(&reference, 1));
    let overlap = overlap(&found, &wanted);
    if overlap == 0 {
        return 0.0;
    }
    let (precision, recall) = (overlap as f64 / total(&found) as f64, overlap as f64 / total(&wanted) as f64);
    match precision.total_cmp(&recall) {
        std::cmp::Ordering::Equal => precision,
        std::cmp::Ordering::Greater => precision.min(recall * (2.0 / (1.0 + recall / precision))),
        std::cmp::Ordering::Less => recall.min(precision * (2.0 / (1.0 + precision / recall))),
    }
}

fn bleu_score(candidate: &str, references: &[String]) -> f64 {
    if js_trim(candidate).is_empty() {
        return 0.0;
    }
    let candidate = lower_words(candidate);
    let references: Vec<Vec<String>> = references.iter().map(|reference| lower_words(reference)).collect();
    let lengths = references.iter().map(Vec::len);
    let closest = lengths.min_by_key(|length| (length.abs_diff(candidate.len()), *length)).unwrap_or_default();
    let mut precisions = vec![];
    for order in 1..=MAX_ORDER {
        let found = n_grams(&candidate, order);
        if found.is_empty() {
            continue;
        }
        let clipped = references.iter().map(|reference| overlap(&found, &n_grams(reference, order))).max().unwrap_or_default();
        precisions.push(clipped as f64 / total(&found) as f64);
    }
    let brevity = if candidate.len() > closest { 1.0 } else { (1.0 - closest as f64 / candidate.len() as f64).exp() };
    let weight_sum: f64 = precisions.iter().map(|_| 0.25).sum();
    // A precision of zero is smoothed, as promptfoo does.
    let logs = precisions.iter().map(|precision| 0.25 / weight_sum * if *precision == 0.0 { 1e-7_f64.ln() } else { precision.ln() });
    brevity * logs.sum::<f64>().exp()
}

fn gleu_score(candidate: &str, references: &[String]) -> f64 {
    let candidate = gleu_words(candidate);
    if candidate.is_empty() {
        return 0.0;
    }
    let score = |reference: &String| {
        let reference = gleu_words(reference);
        if candidate == reference {
            return 1.0;
        }
        let (mut matched, mut found_total, mut wanted_total) = (0, 0, 0);
        for order in 1..=MAX_ORDER {
            let (found, wanted) = (n_grams(&candidate, order), n_grams(&reference, order));
            matched += overlap(&found, &wanted);
            found_total += total(&found);
            wanted_total += total(&wanted);
        }
        if found_total == 0 || wanted_total == 0 {
            return 0.0;
        }
        (matched as f64 / found_total as f64).min(matched as f64 / wanted_total as f64)
    };
    references.iter().map(score).fold(f64::NEG_INFINITY, f64::max)
}

fn lower_words(text: &str) -> Vec<String> {
    js_words(&text.to_lowercase()).into_iter().map(str::to_owned).collect()
}

/// Returns the words without the points at their ends; none if all are empty.
fn gleu_words(text: &str) -> Vec<String> {
    let words: Vec<String> = js_words(&text.to_lowercase()).into_iter().map(|word| word.trim_end_matches('.').to_owned()).collect();
    if words.iter().any(|word| !word.is_empty()) { words } else { vec![] }
}

/// Counts the sequences of so many words.
fn n_grams(words: &[String], order: usize) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for gram in words.windows(order) {
        *counts.entry(gram.join(" ")).or_default() += 1;
    }
    counts
}

fn total(grams: &BTreeMap<String, usize>) -> usize {
    grams.values().sum()
}

fn overlap(found: &BTreeMap<String, usize>, wanted: &BTreeMap<String, usize>) -> usize {
    found.iter().map(|(gram, count)| (*count).min(wanted.get(gram).copied().unwrap_or_default())).sum()
}
