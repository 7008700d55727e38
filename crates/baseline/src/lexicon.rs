//! Token and chain names from the registry files.

use crate::words::terms;
use lexical::{WordToken, tokenize};
use model::{ChainRegistry, Workspace};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(crate) struct NameLexicon {
    /// Symbols by name, as lower-case words.
    tokens: BTreeMap<Vec<String>, String>,
    chains: BTreeMap<Vec<String>, u64>,
    names: BTreeMap<u64, String>,
    decimals: BTreeMap<(String, u64), u8>,
    /// Symbol and chain by lower-case address.
    addresses: BTreeMap<String, (String, u64)>,
    /// Lower-case words of tool files. A symbol or chain that is also such a word must be written like a name.
    ordinary: BTreeSet<String>,
    /// All words of tool files, including protocol names.
    taken: BTreeSet<String>,
    longest: usize,
}

/// Words that may precede a lower-case chain name: "on base", "from base".
const CHAIN_PREPOSITIONS: &[&str] =
    &["on", "to", "from", "onto", "over", "at", "in", "via", "across", "and", "or", "chain", "network", "between"];

impl NameLexicon {
    pub(crate) fn new(workspace: &Workspace) -> Self {
        let mut lexicon = Self::default();
        for tool in &workspace.tools {
            lexicon.ordinary.extend(tokenize(&tool.description).into_iter().filter(|word| word.raw == word.lower).map(|word| word.lower));
            lexicon.taken.extend(terms(&tool.name));
            lexicon.taken.extend(terms(&tool.description));
        }
        for chain in &workspace.chains {
            lexicon.add_chain(chain);
        }
        lexicon.add_tokens(&workspace.chains);
        lexicon.longest = lexicon.tokens.keys().chain(lexicon.chains.keys()).map(Vec::len).max().unwrap_or(1);
        lexicon
    }

    fn add_chain(&mut self, chain: &ChainRegistry) {
        self.names.insert(chain.id, chain.name.clone());
        for name in chain.aliases.iter().chain([&chain.name]) {
            self.chains.insert(name_words(name), chain.id);
        }
        for token in &chain.tokens {
            self.addresses.insert(token.address.text.to_lowercase(), (token.symbol.value.clone(), chain.id));
            self.decimals.insert((token.symbol.to_lowercase(), chain.id), token.decimals);
        }
        self.decimals.insert((chain.native.to_lowercase(), chain.id), 18);
    }

    fn add_tokens(&mut self, chains: &[ChainRegistry]) {
        let tokens = || chains.iter().flat_map(|chain| &chain.tokens);
        let natives: BTreeSet<&String> = chains.iter().map(|chain| &chain.native).collect();
        let symbols: BTreeSet<String> =
            tokens().map(|token| token.symbol.to_lowercase()).chain(natives.iter().map(|native| native.to_lowercase())).collect();
        // A word that occurs in only one token's name identifies that token, unless tool files use it.
        let mut owners: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for token in tokens() {
            for word in name_words(&token.name) {
                owners.entry(word).or_default().insert(&token.symbol);
            }
        }
        for (word, owners) in owners {
            if let (Some(owner), 1) = (owners.first(), owners.len())
                && word.len() > 3
                && !self.taken.contains(&word)
                && !self.chains.contains_key(&vec![word.clone()])
            {
                self.tokens.insert(vec![word], (*owner).to_owned());
            }
        }
        for token in tokens() {
            let name = name_words(&token.name);
            if name.len() > 1 || !name.iter().any(|word| self.taken.contains(word) || self.chains.contains_key(&vec![word.clone()])) {
                self.tokens.entry(name).or_insert_with(|| token.symbol.value.clone());
            }
            // "Wrapped Ether" implies the name "Ether" for the native coin, or for the wrapped token if there is no such coin.
            if let Some(bare) = token.name.strip_prefix("Wrapped ").map(name_words) {
                let native = natives.iter().find(|native| format!("W{native}").eq_ignore_ascii_case(&token.symbol));
                let symbol = native.map_or(token.symbol.as_str(), |native| native.as_str());
                let taken = bare.len() == 1 && bare.first().is_some_and(|word| symbols.contains(word));
                if !taken {
                    self.tokens.insert(bare, symbol.to_owned());
                }
            }
        }
        for symbol in tokens().map(|token| token.symbol.as_str()).chain(natives.iter().map(|native| native.as_str())) {
            self.tokens.insert(vec![symbol.to_lowercase()], symbol.to_owned());
        }
    }

    /// Returns the token at a position, and the number of its words.
    pub(crate) fn token_at(&self, words: &[WordToken], at: usize) -> Option<(&str, usize)> {
        let (symbol, count) = longest_name_at(&self.tokens, words, at, self.longest)?;
        let word = &words[at];
        let numbered = at > 0 && words[at - 1].lower.starts_with(|c: char| c.is_ascii_digit());
        let named = count > 1 || word.raw.chars().any(char::is_uppercase) || numbered || !self.ordinary.contains(&word.lower);
        // A capital letter at the start of a sentence does not mark a name.
        let opening = word.raw != *symbol && (at == 0 || words[at - 1].sentence != word.sentence) && self.ordinary.contains(&word.lower);
        (named && !opening && !word.is_stop_word()).then_some((symbol.as_str(), count))
    }

    /// Returns the chain at a position, and the number of its words.
    pub(crate) fn chain_at(&self, words: &[WordToken], at: usize) -> Option<(u64, usize)> {
        let (id, count) = longest_name_at(&self.chains, words, at, self.longest)?;
        let word = &words[at];
        let before = at.checked_sub(1).map(|before| words[before].lower.as_str());
        let unit = words.get(at + count).is_some_and(|next| next.stem == "unit");
        let named = count > 1
            || word.raw.starts_with(char::is_uppercase)
            || before.is_some_and(|before| CHAIN_PREPOSITIONS.contains(&before))
            || !self.ordinary.contains(&word.lower);
        (named && !unit).then_some((*id, count))
    }

    pub(crate) fn chain_name(&self, id: u64) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }

    pub(crate) fn chain_by_name(&self, name: &str) -> Option<u64> {
        self.chains.get(&name_words(name)).copied()
    }

    pub(crate) fn is_chain(&self, id: u64) -> bool {
        self.names.contains_key(&id)
    }

    /// Returns the decimals of a token on a chain. Without a chain, returns them only if they are the same on all chains.
    pub(crate) fn decimals(&self, symbol: &str, chain: Option<u64>) -> Option<u8> {
        let symbol = symbol.to_lowercase();
        if let Some(chain) = chain {
            return self.decimals.get(&(symbol, chain)).copied();
        }
        let mut known = self.decimals.range((symbol.clone(), 0)..=(symbol, u64::MAX)).map(|(_, decimals)| *decimals);
        let first = known.next()?;
        known.all(|other| other == first).then_some(first)
    }

    /// Returns the symbol and chain of a registered token's address.
    pub(crate) fn token_by_address(&self, address: &str) -> Option<(&str, u64)> {
        self.addresses.get(&address.to_lowercase()).map(|(symbol, chain)| (symbol.as_str(), *chain))
    }
}

fn longest_name_at<'l, T>(names: &'l BTreeMap<Vec<String>, T>, words: &[WordToken], at: usize, most: usize) -> Option<(&'l T, usize)> {
    (1..=most.min(words.len() - at)).rev().find_map(|count| {
        let said: Vec<String> = words[at..at + count].iter().map(|word| word.lower.clone()).collect();
        names.get(&said).map(|found| (found, count))
    })
}

fn name_words(name: &str) -> Vec<String> {
    name.to_lowercase().split([' ', '-', '_']).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Option<(String, usize)> {
        let lexicon = NameLexicon::new(&testkit::reference_workspace());
        let words = tokenize(text);
        (0..words.len()).find_map(|at| lexicon.token_at(&words, at).map(|(symbol, count)| (symbol.to_owned(), count)))
    }

    fn chain(text: &str) -> Option<u64> {
        let lexicon = NameLexicon::new(&testkit::reference_workspace());
        let words = tokenize(text);
        (0..words.len()).find_map(|at| lexicon.chain_at(&words, at).map(|(id, _)| id))
    }

    #[test]
    fn tokens_are_found_by_symbol_and_name() {
        assert_eq!(token("all my usdc"), Some(("USDC".into(), 1)));
        assert_eq!(token("some Wrapped Ether"), Some(("WETH".into(), 2)));
        assert_eq!(token("plain ether"), Some(("ETH".into(), 1)));
        assert_eq!(token("a bit of tether"), Some(("USDT".into(), 1)));
        assert_eq!(token("sell 60 LINK"), Some(("LINK".into(), 1)));
        assert_eq!(token("swap on Uniswap"), None, "a protocol is not a token");
        assert_eq!(token("what I want"), None);
    }

    #[test]
    fn chains_are_found_by_any_name() {
        for (text, id) in [("on Base", 8453), ("to mainnet", 1), ("Arbitrum One", 42161), ("on op mainnet", 10), ("from bsc", 56)] {
            assert_eq!(chain(text), Some(id), "{text}");
        }
        assert_eq!(chain("in base units"), None);
        assert_eq!(chain("the base fee"), None);
    }

    #[test]
    fn decimals_depend_on_the_chain() {
        let lexicon = NameLexicon::new(&testkit::reference_workspace());
        assert_eq!(lexicon.decimals("usdc", Some(8453)), Some(6));
        assert_eq!(lexicon.decimals("USDC", Some(56)), Some(18));
        assert_eq!(lexicon.decimals("USDC", None), None, "they differ");
        assert_eq!(lexicon.decimals("ETH", None), Some(18));
    }
}
