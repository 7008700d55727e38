//! Baseline that picks tools by name only: BM25 over the words of the names.

use lexical::{Bm25Index, Bm25Params, SpellingMode, TermQuery, TermSplit, WeightedField};

/// Standard constants. Exact spelling, because names have few words.
const BM25_PARAMS: Bm25Params = Bm25Params { k1: 1.2, b: 0.75, spelling: SpellingMode::Exact };

#[derive(Debug)]
pub(crate) struct NameIndex<'a> {
    names: Vec<&'a str>,
    index: Bm25Index,
}

impl<'a> NameIndex<'a> {
    pub(crate) fn new(names: &[&'a str]) -> Self {
        let docs: Vec<Vec<WeightedField>> = names.iter().map(|name| vec![WeightedField::new(1.0, stems(name))]).collect();
        Self { names: names.to_vec(), index: Bm25Index::new(BM25_PARAMS, &docs) }
    }

    /// Returns up to `most` names for a request, best first, ties by name. Names without a word of the request are omitted.
    pub(crate) fn best(&self, request: &str, most: usize) -> Vec<&'a str> {
        let found = self.index.search(&TermQuery::from_stems(stems(request)));
        let mut ranked: Vec<(f64, &'a str)> =
            found.iter().zip(&self.names).map(|(found, name)| (found.score, *name)).filter(|(score, _)| *score > 0.0).collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
        ranked.into_iter().take(most).map(|(_, name)| name).collect()
    }
}

fn stems(text: &str) -> Vec<String> {
    lexical::stems(text, TermSplit::Catalogue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_index_ranks_rare_words_first() {
        let names = NameIndex::new(&["wallet_get_balance", "wallet_get_history", "swap_get_quote"]);
        assert_eq!(names.best("the balance of my wallet", 1), ["wallet_get_balance"]);
        assert_eq!(names.best("get a quote", 3).first(), Some(&"swap_get_quote"));
        assert!(names.best("how much do I own?", 3).is_empty());
    }
}
