//! Index queries: stems with weights.

use crate::token::WordToken;
use std::collections::BTreeMap;

/// Weighted stems to search for. A negative weight lowers the score of documents with the stem.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TermQuery {
    pub(crate) terms: Vec<(String, f64)>,
}

impl TermQuery {
    /// Builds a query from the topic words of a message. Repetition raises the weight a little; a negated word weighs negatively.
    pub fn from_tokens(tokens: &[WordToken]) -> Self {
        let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
        for token in tokens.iter().filter(|token| token.is_topic()) {
            let weight = weights.entry(&token.stem).or_default();
            let step = if token.negated { -0.5 } else { 1.0 };
            *weight += if *weight == 0.0 { step } else { step * 0.3 };
        }
        Self { terms: weights.into_iter().map(|(stem, weight)| (stem.to_owned(), weight)).collect() }
    }

    /// Builds a query with one term per stem, all of weight 1; repeated stems are repeated terms.
    pub fn from_stems(stems: Vec<String>) -> Self {
        Self { terms: stems.into_iter().map(|stem| (stem, 1.0)).collect() }
    }

    /// Returns the number of terms, negated ones included.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the number of terms with a positive weight.
    pub fn count_wanted(&self) -> usize {
        self.wanted().count()
    }

    pub(crate) fn wanted(&self) -> impl Iterator<Item = &(String, f64)> {
        self.terms.iter().filter(|(_, weight)| *weight > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::tokenize;

    #[test]
    fn query_weights_repeated_and_negated_words() {
        let query = TermQuery::from_tokens(&tokenize("Swap it, swap 250 USDC, but do not bridge"));
        let terms: Vec<(&str, f64)> = query.terms.iter().map(|(stem, weight)| (stem.as_str(), *weight)).collect();
        assert_eq!(terms, [("bridg", -0.5), ("swap", 1.3), ("usdc", 1.0)]);
        assert_eq!((query.len(), query.count_wanted()), (3, 2));
        assert!(TermQuery::from_tokens(&tokenize("what is it?")).is_empty());
    }
}
