//! Documents as sparse, normalised TF-IDF vectors.

use super::ToolDoc;
use lexical::{TermSplit, stem, terms};
use std::collections::BTreeMap;

// A model reads and repeats the name; parameters are similar across tools.
const NAME_WEIGHT: f64 = 3.0;
const DESCRIPTION_WEIGHT: f64 = 1.0;
const PARAM_WEIGHT: f64 = 0.4;

#[derive(Debug)]
pub(super) struct TermVectors {
    /// Per document: word and weight, by word.
    pub(super) docs: Vec<Vec<(usize, f64)>>,
    /// Per word: document and weight, by document.
    pub(super) index: Vec<Vec<(usize, f64)>>,
    /// Per word: its shortest form in the set, for display.
    pub(super) spelling: Vec<String>,
}

impl TermVectors {
    pub(super) fn new(docs: &[&ToolDoc<'_>]) -> Self {
        let mut stems = BTreeMap::new();
        let counted: Vec<BTreeMap<String, f64>> = docs.iter().map(|doc| term_weights(doc, &mut stems)).collect();
        let numbers: BTreeMap<&str, usize> = stems.keys().enumerate().map(|(number, stem)| (stem.as_str(), number)).collect();
        let mut spread = vec![0_usize; stems.len()];
        for stem in counted.iter().flat_map(BTreeMap::keys) {
            spread[numbers[stem.as_str()]] += 1;
        }
        // Never zero, so that two equal documents are similar even if they are the whole set.
        let idf = |word: usize| (1.0 + docs.len() as f64 / spread[word] as f64).ln();
        let weighted = counted.iter().map(|words| words.iter().map(|(stem, weight)| (numbers[stem.as_str()], weight)));
        let docs: Vec<Vec<(usize, f64)>> =
            weighted.map(|words| normalize(words.map(|(word, weight)| (word, weight * idf(word))).collect())).collect();
        let mut index = vec![Vec::new(); stems.len()];
        for (number, doc) in docs.iter().enumerate() {
            for &(word, weight) in doc {
                index[word].push((number, weight));
            }
        }
        Self { docs, index, spelling: stems.into_values().collect() }
    }
}

fn term_weights(doc: &ToolDoc<'_>, stems: &mut BTreeMap<String, String>) -> BTreeMap<String, f64> {
    let words = |text: &str| terms(text, TermSplit::Catalogue);
    let mut weights = BTreeMap::new();
    let fields = [
        (NAME_WEIGHT, words(doc.name)),
        (DESCRIPTION_WEIGHT, words(doc.description)),
        (PARAM_WEIGHT, doc.params.iter().flat_map(|param| words(param)).collect::<Vec<_>>()),
    ];
    for (weight, words) in fields {
        let mut here: BTreeMap<String, u32> = BTreeMap::new();
        for word in words {
            let stem = stem(&word);
            *here.entry(stem.clone()).or_default() += 1;
            let spelling = stems.entry(stem).or_insert_with(|| word.clone());
            if (word.len(), &word) < (spelling.len(), spelling) {
                *spelling = word;
            }
        }
        for (stem, times) in here {
            // Repetitions count logarithmically.
            *weights.entry(stem).or_default() += weight * (1.0 + f64::from(times).ln());
        }
    }
    weights
}

fn normalize(mut vector: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|(_, weight)| *weight /= length);
    }
    vector
}
