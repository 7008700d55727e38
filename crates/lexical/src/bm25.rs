//! BM25F index over documents with several fields. Unknown words are matched by character n-grams.

use crate::query::TermQuery;
use std::collections::BTreeMap;

/// Minimum similarity of two spellings of a word.
const MIN_SIMILARITY: f64 = 0.55;

/// BM25 constants and the treatment of unknown words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25Params {
    /// Term frequency saturation.
    pub k1: f64,
    /// Length normalisation: 0 ignores the length of a field, 1 divides by it.
    pub b: f64,
    pub spelling: SpellingMode,
}

/// Treatment of words that occur in no document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpellingMode {
    /// Match nothing.
    Exact,
    /// Match the stems with the most similar spelling.
    Fuzzy,
}

/// Field of a document: its stems and their weight.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedField {
    pub weight: f64,
    pub stems: Vec<String>,
}

impl WeightedField {
    pub fn new(weight: f64, stems: Vec<String>) -> Self {
        Self { weight, stems }
    }
}

/// Score of one document.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DocScore {
    pub score: f64,
    /// Fraction of the query's positive terms found in the document, weighted by idf, between 0 and 1.
    pub covered: f64,
}

#[derive(Debug)]
pub struct Bm25Index {
    params: Bm25Params,
    numbers: BTreeMap<String, usize>,
    idf: Vec<f64>,
    /// Per stem: the documents that contain it and its contribution to their score.
    postings: Vec<Vec<(usize, f64)>>,
    grams: BTreeMap<[char; 3], Vec<usize>>,
    /// Per stem: its number of n-grams.
    lengths: Vec<usize>,
    docs: usize,
}

impl Bm25Index {
    /// Indexes documents, each a list of fields. Fields at the same position must be of the same kind.
    pub fn new(params: Bm25Params, docs: &[Vec<WeightedField>]) -> Self {
        let mut index = Self {
            params,
            numbers: BTreeMap::new(),
            idf: vec![],
            postings: vec![],
            grams: BTreeMap::new(),
            lengths: vec![],
            docs: docs.len(),
        };
        for (stem, frequencies) in count_frequencies(params, docs) {
            index.add(stem, frequencies);
        }
        index
    }

    fn add(&mut self, stem: &str, frequencies: BTreeMap<usize, f64>) {
        let Bm25Params { k1, .. } = self.params;
        let number = self.idf.len();
        let having = frequencies.len() as f64;
        let idf = (1.0 + (self.docs as f64 - having + 0.5) / (having + 0.5)).ln();
        self.idf.push(idf);
        self.postings.push(frequencies.into_iter().map(|(doc, count)| (doc, idf * count * (k1 + 1.0) / (count + k1))).collect());
        let grams = trigrams(stem);
        self.lengths.push(grams.len());
        for gram in grams {
            self.grams.entry(gram).or_default().push(number);
        }
        self.numbers.insert(stem.to_owned(), number);
    }

    /// Returns the inverse document frequency of a stem; an unknown stem counts as very rare.
    pub fn idf(&self, stem: &str) -> f64 {
        self.numbers.get(stem).map_or_else(|| (1.0 + self.docs as f64).ln(), |number| self.idf[*number])
    }

    /// Returns the sum of weight × idf over the positive terms, the scale of the query's scores.
    pub fn total_weight(&self, query: &TermQuery) -> f64 {
        query.wanted().map(|(stem, weight)| weight * self.idf(stem)).sum()
    }

    /// Scores every document, in index order.
    pub fn search(&self, query: &TermQuery) -> Vec<DocScore> {
        let mut scores = vec![DocScore::default(); self.docs];
        let mass = self.total_weight(query);
        for (stem, weight) in &query.terms {
            for (number, similarity) in self.resolve(stem) {
                let share = weight * similarity * self.idf[number] / mass.max(f64::MIN_POSITIVE);
                for (doc, worth) in &self.postings[number] {
                    scores[*doc].score += weight * similarity * worth;
                    scores[*doc].covered += if *weight > 0.0 { share } else { 0.0 };
                }
            }
        }
        scores
    }

    /// Returns the stem itself, or up to two stems with the most similar spelling.
    fn resolve(&self, stem: &str) -> Vec<(usize, f64)> {
        if let Some(number) = self.numbers.get(stem) {
            return vec![(*number, 1.0)];
        }
        if self.params.spelling == SpellingMode::Exact || stem.chars().count() < 4 {
            return vec![];
        }
        let own = trigrams(stem);
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for number in own.iter().filter_map(|gram| self.grams.get(gram)).flatten() {
            *shared.entry(*number).or_default() += 1;
        }
        let similarity = |(number, shared): (usize, usize)| (number, 2.0 * shared as f64 / (own.len() + self.lengths[number]) as f64);
        let mut near: Vec<(usize, f64)> =
            shared.into_iter().map(similarity).filter(|(_, similarity)| *similarity >= MIN_SIMILARITY).collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        near.truncate(2);
        near
    }
}

/// Counts each stem per document, weighted by field and normalised by the field's length.
fn count_frequencies(params: Bm25Params, docs: &[Vec<WeightedField>]) -> BTreeMap<&str, BTreeMap<usize, f64>> {
    let fields = docs.iter().map(Vec::len).max().unwrap_or(0);
    let average = |field: usize| {
        let lengths = docs.iter().filter_map(|doc| doc.get(field)).map(|field| field.stems.len() as f64);
        (lengths.sum::<f64>() / docs.len().max(1) as f64).max(1.0)
    };
    let averages: Vec<f64> = (0..fields).map(average).collect();
    let mut counted: BTreeMap<&str, BTreeMap<usize, f64>> = BTreeMap::new();
    for (number, doc) in docs.iter().enumerate() {
        for (field, average) in doc.iter().zip(&averages) {
            let norm = 1.0 - params.b + params.b * field.stems.len() as f64 / average;
            for stem in &field.stems {
                *counted.entry(stem).or_default().entry(number).or_default() += field.weight / norm;
            }
        }
    }
    counted
}

/// Returns the character trigrams of a word with its ends marked.
fn trigrams(stem: &str) -> Vec<[char; 3]> {
    let letters: Vec<char> = ['^'].into_iter().chain(stem.chars()).chain(['$']).collect();
    letters.windows(3).map(|three| [three[0], three[1], three[2]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::{self, TermSplit};
    use crate::token::tokenize;

    const FUZZY: Bm25Params = Bm25Params { k1: 1.2, b: 0.6, spelling: SpellingMode::Fuzzy };

    fn index() -> Bm25Index {
        index_with(FUZZY)
    }

    fn index_with(params: Bm25Params) -> Bm25Index {
        let stems = |text: &str| terms::stems(text, TermSplit::Conversation);
        let doc = |name: &str, about: &str| vec![WeightedField::new(2.5, stems(name)), WeightedField::new(1.0, stems(about))];
        Bm25Index::new(
            params,
            &[
                doc("pool_state", "Live price and depth of one pool."),
                doc("swap_quote", "What a swap would bring, with price impact."),
                doc("order_cancel", "Withdraws an open order."),
            ],
        )
    }

    fn query(text: &str) -> TermQuery {
        TermQuery::from_tokens(&tokenize(text))
    }

    fn best(text: &str) -> usize {
        let found = index().search(&query(text));
        (0..found.len()).max_by(|a, b| found[*a].score.total_cmp(&found[*b].score)).unwrap()
    }

    #[test]
    fn bm25_ranks_by_rare_words() {
        assert_eq!(best("how deep is this pool?"), 0);
        assert_eq!(best("What would swapping bring me?"), 1);
        assert_eq!(best("withdraw my orders"), 2);
    }

    #[test]
    fn a_misspelt_word_finds_its_neighbour() {
        assert_eq!(best("quotte pls"), 1);
        assert_eq!(best("witdraw it"), 2);
        let exact = index_with(Bm25Params { spelling: SpellingMode::Exact, ..FUZZY });
        assert!(exact.search(&query("quotte")).iter().all(|found| *found == DocScore::default()));
    }

    #[test]
    fn negated_words_lower_the_score() {
        let index = index();
        let score = |text: &str| index.search(&query(text))[1].score;
        assert!(score("the price, not the swap") < score("the price"));
    }

    #[test]
    fn bm25_coverage_is_between_0_and_1() {
        let index = index();
        let covered = |text: &str| index.search(&query(text))[2].covered;
        assert!((covered("withdraw open orders") - 1.0).abs() < 1e-9);
        assert!(covered("withdraw zebras") < 0.6);
        assert_eq!(covered("zebras and giraffes"), 0.0);
    }
}
