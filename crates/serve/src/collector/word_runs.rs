//! Finds sequences of words that have the shape of a seed phrase, for word lists of other languages and phrases with mistakes.

use regex::Regex;
use std::ops::Range;

/// Twelve or more short words in a row.
pub(super) const PATTERN: &str = r"\b[a-z]{3,8}(?:[ \t\n,]+[a-z]{3,8}){11,}\b";

/// Words of sentences that are not words of seed phrases.
const PROSE: &[&str] = &[
    "the", "and", "for", "are", "was", "not", "but", "his", "her", "has", "had", "were", "been", "from", "would", "could", "should",
    "which", "their", "them", "these", "those", "please", "than", "does", "did", "its", "also", "into", "our", "may", "per",
];

/// Returns the places of the sequences without a word of sentences, in order.
pub(super) fn word_runs(pattern: &Regex, text: &str) -> Vec<Range<usize>> {
    let is_prose = |words: &str| words.split(|c: char| !c.is_ascii_lowercase()).any(|word| PROSE.contains(&word));
    pattern.find_iter(text).filter(|found| !is_prose(found.as_str())).map(|found| found.range()).collect()
}
