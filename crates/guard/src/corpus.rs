//! Corpus of attack and benign texts, frozen before the first rule of the guard was written. See docs/guide/guard.md.

use crate::labelled_text::{LabelledText, TextLineError, parse_labelled_texts};

/// Files of the corpus: name and content.
pub const CORPUS_FILES: &[(&str, &str)] =
    &[("seen.jsonl", include_str!("../corpus/seen.jsonl")), ("held_out.jsonl", include_str!("../corpus/held_out.jsonl"))];

/// Returns all texts of the corpus.
///
/// # Errors
/// Fails if a file is damaged; tests rule this out.
pub fn embedded_corpus() -> Result<Vec<LabelledText>, TextLineError> {
    let mut texts = vec![];
    for (_, content) in CORPUS_FILES {
        texts.extend(parse_labelled_texts(content)?);
    }
    Ok(texts)
}
