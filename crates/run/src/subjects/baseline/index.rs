//! BM25F over documents of several fields, with character n-grams for words that no document knows.

use super::words::{Word, is_glue};
use std::collections::BTreeMap;

/// How soon the repetition of a word stops counting.
const K1: f64 = 1.2;
/// How much a long field is held against a document.
const B: f64 = 0.6;
/// Least likeness of two spellings; below, words are different words.
const ALIKE: f64 = 0.55;

/// A document: fields of stems, each with its weight.
pub(super) type Doc = Vec<(f64, Vec<String>)>;

#[derive(Debug)]
pub(super) struct Index {
    numbers: BTreeMap<String, usize>,
    idf: Vec<f64>,
    /// Per stem: the documents that have it, and what it is worth there.
    postings: Vec<Vec<(usize, f64)>>,
    grams: BTreeMap<[char; 3], Vec<usize>>,
    /// How many n-grams a stem has.
    lengths: Vec<usize>,
    docs: usize,
}

/// Stems that are looked for; below zero where they are not wanted.
pub(super) type Query = Vec<(String, f64)>;

/// What each document is worth, and how much of what was asked for it has, between 0 and 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Found {
    pub score: f64,
    pub covered: f64,
}

impl Index {
    pub(super) fn new(docs: &[Doc]) -> Self {
        let fields = docs.iter().map(Vec::len).max().unwrap_or(0);
        let average: Vec<f64> = (0..fields)
            .map(|field| {
                let lengths = docs.iter().filter_map(|doc| doc.get(field)).map(|(_, stems)| stems.len() as f64);
                (lengths.sum::<f64>() / docs.len().max(1) as f64).max(1.0)
            })
            .collect();
        let mut counted: BTreeMap<&str, BTreeMap<usize, f64>> = BTreeMap::new();
        for (number, doc) in docs.iter().enumerate() {
            for ((weight, stems), average) in doc.iter().zip(&average) {
                let norm = 1.0 - B + B * stems.len() as f64 / average;
                for stem in stems {
                    *counted.entry(stem).or_default().entry(number).or_default() += weight / norm;
                }
            }
        }
        let mut index =
            Self { numbers: BTreeMap::new(), idf: vec![], postings: vec![], grams: BTreeMap::new(), lengths: vec![], docs: docs.len() };
        for (stem, places) in counted {
            let number = index.idf.len();
            let having = places.len() as f64;
            let idf = (1.0 + (docs.len() as f64 - having + 0.5) / (having + 0.5)).ln();
            index.idf.push(idf);
            index.postings.push(places.into_iter().map(|(doc, count)| (doc, idf * count * (K1 + 1.0) / (count + K1))).collect());
            let grams = grams(stem);
            index.lengths.push(grams.len());
            for gram in grams {
                index.grams.entry(gram).or_default().push(number);
            }
            index.numbers.insert(stem.to_owned(), number);
        }
        index
    }

    /// How much a stem tells; what nobody knows tells as much as what is rarest.
    pub(super) fn idf(&self, stem: &str) -> f64 {
        self.numbers.get(stem).map_or_else(|| (1.0 + self.docs as f64).ln(), |number| self.idf[*number])
    }

    pub(super) fn search(&self, query: &Query) -> Vec<Found> {
        let mut found = vec![Found::default(); self.docs];
        let whole: f64 = query.iter().filter(|(_, weight)| *weight > 0.0).map(|(stem, weight)| weight * self.idf(stem)).sum();
        for (stem, weight) in query {
            for (number, likeness) in self.resolve(stem) {
                let share = weight * likeness * self.idf[number] / whole.max(f64::MIN_POSITIVE);
                for (doc, worth) in &self.postings[number] {
                    found[*doc].score += weight * likeness * worth;
                    found[*doc].covered += if *weight > 0.0 { share } else { 0.0 };
                }
            }
        }
        found
    }

    /// The stem itself, or those that are spelt nearly like it.
    fn resolve(&self, stem: &str) -> Vec<(usize, f64)> {
        if let Some(number) = self.numbers.get(stem) {
            return vec![(*number, 1.0)];
        }
        if stem.chars().count() < 4 {
            return vec![];
        }
        let own = grams(stem);
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for number in own.iter().filter_map(|gram| self.grams.get(gram)).flatten() {
            *shared.entry(*number).or_default() += 1;
        }
        let likeness = |(number, shared): (usize, usize)| (number, 2.0 * shared as f64 / (own.len() + self.lengths[number]) as f64);
        let mut near: Vec<(usize, f64)> = shared.into_iter().map(likeness).filter(|(_, likeness)| *likeness >= ALIKE).collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        near.truncate(2);
        near
    }
}

/// Groups of three letters, the ends marked.
fn grams(stem: &str) -> Vec<[char; 3]> {
    let letters: Vec<char> = ['^'].into_iter().chain(stem.chars()).chain(['$']).collect();
    letters.windows(3).map(|three| [three[0], three[1], three[2]]).collect()
}

/// What is looked for in a text: its words without glue and numbers; said twice counts a little more, not wanted counts against.
pub(super) fn query(words: &[Word]) -> Query {
    let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
    for word in words.iter().filter(|word| is_topic(word)) {
        let weight = weights.entry(&word.stem).or_default();
        let step = if word.negated { -0.5 } else { 1.0 };
        *weight += if *weight == 0.0 { step } else { step * 0.3 };
    }
    weights.into_iter().map(|(stem, weight)| (stem.to_owned(), weight)).collect()
}

fn is_topic(word: &Word) -> bool {
    !is_glue(&word.lower)
        && !word.lower.starts_with("0x")
        && word.lower.chars().any(char::is_alphabetic)
        && !word.lower.starts_with(|c: char| c.is_ascii_digit() || c == '$')
}

#[cfg(test)]
mod tests {
    use super::super::words::{stems, words};
    use super::*;

    fn index() -> Index {
        let doc = |name: &str, about: &str| vec![(2.5, stems(name)), (1.0, stems(about))];
        Index::new(&[
            doc("pool_state", "Live price and depth of one pool."),
            doc("swap_quote", "What a swap would bring, with price impact."),
            doc("order_cancel", "Withdraws an open order."),
        ])
    }

    fn best(text: &str) -> usize {
        let found = index().search(&query(&words(text)));
        (0..found.len()).max_by(|a, b| found[*a].score.total_cmp(&found[*b].score)).unwrap()
    }

    #[test]
    fn the_document_with_the_rare_words_wins() {
        assert_eq!(best("how deep is this pool?"), 0);
        assert_eq!(best("What would swapping bring me?"), 1);
        assert_eq!(best("withdraw my orders"), 2);
    }

    #[test]
    fn a_misspelt_word_finds_its_neighbour() {
        assert_eq!(best("quotte pls"), 1);
        assert_eq!(best("witdraw it"), 2);
    }

    #[test]
    fn what_is_not_wanted_counts_against() {
        let index = index();
        let score = |text: &str| index.search(&query(&words(text)))[1].score;
        assert!(score("the price, not the swap") < score("the price"));
    }

    #[test]
    fn coverage_is_a_share() {
        let index = index();
        let covered = |text: &str| index.search(&query(&words(text)))[2].covered;
        assert!((covered("withdraw open orders") - 1.0).abs() < 1e-9);
        assert!(covered("withdraw zebras") < 0.6);
        assert_eq!(covered("zebras and giraffes"), 0.0);
    }
}
