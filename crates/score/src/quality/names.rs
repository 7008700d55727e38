//! What somebody picks who reads nothing but tool names: BM25 over the words of the names.

use crate::confusability::words::{stem, words};
use std::collections::BTreeMap;

/// As is usual: how fast a repeated word stops counting, and how much long names are discounted.
const K1: f64 = 1.2;
const B: f64 = 0.75;

#[derive(Debug)]
pub(crate) struct Names<'a> {
    names: Vec<&'a str>,
    words: Vec<Vec<String>>,
    spread: BTreeMap<String, usize>,
    mean_length: f64,
}

impl<'a> Names<'a> {
    pub(crate) fn of(names: &[&'a str]) -> Self {
        let split: Vec<Vec<String>> = names.iter().map(|name| stems(name)).collect();
        let mut spread: BTreeMap<String, usize> = BTreeMap::new();
        for one in &split {
            let mut distinct: Vec<&String> = one.iter().collect();
            distinct.sort();
            distinct.dedup();
            for word in distinct {
                *spread.entry(word.clone()).or_default() += 1;
            }
        }
        let length: usize = split.iter().map(Vec::len).sum();
        let mean_length = length as f64 / split.len().max(1) as f64;
        Self { names: names.to_vec(), words: split, spread, mean_length }
    }

    /// The best names for a request, best first, ties in the order of the names. A name without a word of the request is none.
    pub(crate) fn best(&self, request: &str, most: usize) -> Vec<&'a str> {
        let asked = stems(request);
        let mut ranked: Vec<(f64, &'a str)> = self
            .names
            .iter()
            .zip(&self.words)
            .map(|(name, words)| (self.score(&asked, words), *name))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
        ranked.into_iter().take(most).map(|(_, name)| name).collect()
    }

    fn score(&self, asked: &[String], words: &[String]) -> f64 {
        let length = words.len() as f64 / self.mean_length.max(1.0);
        asked
            .iter()
            .map(|word| {
                let times = words.iter().filter(|own| *own == word).count() as f64;
                let spread = self.spread.get(word).copied().unwrap_or(0) as f64;
                let idf = ((self.names.len() as f64 - spread + 0.5) / (spread + 0.5)).ln_1p();
                idf * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length))
            })
            .sum()
    }
}

fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_and_short_names_come_first() {
        let names = Names::of(&["wallet_get_balance", "wallet_get_history", "swap_get_quote"]);
        assert_eq!(names.best("the balance of my wallet", 1), ["wallet_get_balance"]);
        assert_eq!(names.best("get a quote", 3).first(), Some(&"swap_get_quote"));
        assert!(names.best("how much do I own?", 3).is_empty());
    }
}
