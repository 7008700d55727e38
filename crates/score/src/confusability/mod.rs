//! Ranks pairs of tools by the similarity of their names, descriptions and parameters. Needs no model.

mod vectors;

#[cfg(test)]
mod tests;

use vectors::TermVectors;

/// Pairs above this similarity get a warning.
///
/// Calibrated on the reference catalogue: 240 of the 331 pairs of tools whose descriptions name each other lie above it, and 0.9 % of
/// all pairs.
pub const WARN_SIMILARITY: f64 = 0.4;

/// Less similar pairs are not listed: a catalogue has tens of thousands.
const MIN_SIMILARITY: f64 = 0.1;

/// Maximum shared words listed per pair.
const MAX_SHARED_WORDS: usize = 5;

/// Text of one tool as shown to a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolDoc<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub params: Vec<&'a str>,
}

/// Two similar tools, `a` before `b` by name, and their shared words, strongest first.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfusablePair {
    pub a: String,
    pub b: String,
    /// Cosine similarity from 0 (no common word) to 1 (same words and weights), rounded to four decimals.
    pub similarity: f64,
    pub words: Vec<String>,
}

/// Returns the similar pairs, most similar first, ties by name. Independent of the input order.
pub fn rank_confusable(docs: &[ToolDoc<'_>]) -> Vec<ConfusablePair> {
    // Float sums depend on their order; sort so that equal sets give equal numbers.
    let mut docs: Vec<&ToolDoc<'_>> = docs.iter().collect();
    docs.sort();
    let vectors = TermVectors::new(&docs);
    let mut pairs = Vec::new();
    let mut alike = vec![0.0; docs.len()];
    for a in 0..docs.len() {
        alike[a..].fill(0.0);
        for &(word, weight) in &vectors.docs[a] {
            let postings = &vectors.index[word];
            let later = postings.partition_point(|&(doc, _)| doc <= a);
            for &(b, other) in &postings[later..] {
                alike[b] += weight * other;
            }
        }
        let listed = (a + 1..docs.len()).map(|b| (b, rounded(alike[b]))).filter(|&(_, similarity)| similarity >= MIN_SIMILARITY);
        pairs.extend(listed.map(|(b, similarity)| (similarity, a, b)));
    }
    pairs.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    let named = |(similarity, a, b): (f64, usize, usize)| ConfusablePair {
        a: docs[a].name.into(),
        b: docs[b].name.into(),
        similarity,
        words: shared_words(&vectors, a, b),
    };
    pairs.into_iter().map(named).collect()
}

fn rounded(similarity: f64) -> f64 {
    (similarity * 1e4).round() / 1e4
}

/// Returns the words of both documents, by their contribution to the similarity.
fn shared_words(vectors: &TermVectors, a: usize, b: usize) -> Vec<String> {
    let (mut left, mut right) = (vectors.docs[a].as_slice(), vectors.docs[b].as_slice());
    let mut found = Vec::new();
    while let ([(x, weight), rest_left @ ..], [(y, other), rest_right @ ..]) = (left, right) {
        if x == y {
            found.push((weight * other, *x));
        }
        (left, right) = (if x <= y { rest_left } else { left }, if y <= x { rest_right } else { right });
    }
    found.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    found.into_iter().take(MAX_SHARED_WORDS).map(|(_, word)| vectors.spelling[word].clone()).collect()
}
