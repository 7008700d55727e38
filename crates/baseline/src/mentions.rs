//! Typed things in what was said: numbers with their units, tokens, chains, addresses, ids, times.

use super::lexicon::Lexicon;
use super::measures;
use lexical::{WordToken, tokenize};
use model::{AddressText, Decimal};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mention {
    pub what: What,
    /// The words it takes.
    pub from: usize,
    pub to: usize,
    pub negated: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    Number(Decimal),
    Dollars(Decimal),
    /// Basis points.
    Share(Decimal),
    /// "3x".
    Times(Decimal),
    /// A part of what there is, in basis points: half, a quarter.
    Part(Decimal),
    /// Everything there is.
    All,
    /// Seconds, and how it was written.
    Span {
        seconds: u64,
        text: String,
    },
    /// ISO date.
    Date(String),
    Token(String),
    Chain(u64),
    Address(String),
    /// Hex of another length: hashes, market ids, calldata.
    Hex(String),
    /// A name with figures in it, such as `8453:1842`.
    Id(String),
    Url(String),
}

/// What one person said at one time, read.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    pub text: String,
    pub words: Vec<WordToken>,
    pub mentions: Vec<Mention>,
}

impl Said {
    pub(super) fn new(lexicon: &Lexicon, text: &str) -> Self {
        let words = tokenize(text);
        let mentions = mentions(lexicon, &words);
        Self { text: text.to_owned(), words, mentions }
    }

    /// What stands in one sentence alone.
    pub(super) fn sentence(&self, sentence: usize) -> Self {
        let at = self.words.iter().position(|word| word.sentence == sentence).unwrap_or(0);
        let end = self.words.iter().rposition(|word| word.sentence == sentence).map_or(at, |last| last + 1);
        let inside = self.mentions.iter().filter(|mention| mention.from >= at && mention.to <= end);
        let mentions = inside.map(|mention| Mention { from: mention.from - at, to: mention.to - at, ..mention.clone() }).collect();
        let words = self.words[at..end].to_vec();
        let text = words.iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" ");
        Self { text, words, mentions }
    }

    pub(super) fn tokens(&self) -> impl Iterator<Item = &str> {
        self.mentions.iter().filter_map(|mention| if let What::Token(symbol) = &mention.what { Some(symbol.as_str()) } else { None })
    }

    pub(super) fn chains(&self) -> impl Iterator<Item = u64> {
        self.mentions
            .iter()
            .filter(|mention| !mention.negated)
            .filter_map(|mention| if let What::Chain(id) = &mention.what { Some(*id) } else { None })
    }
}

fn mentions(lexicon: &Lexicon, words: &[WordToken]) -> Vec<Mention> {
    let mut found = vec![];
    let mut at = 0;
    while at < words.len() {
        let (what, count) = match mention_at(lexicon, words, at) {
            Some((what, count)) => (Some(what), count),
            None => (None, 1),
        };
        if let Some(what) = what {
            let negated = words[at..at + count].iter().any(|word| word.negated);
            found.push(Mention { what, from: at, to: at + count, negated });
        }
        at += count;
    }
    found
}

fn mention_at(lexicon: &Lexicon, words: &[WordToken], at: usize) -> Option<(What, usize)> {
    let word = &words[at];
    if let Some(what) = literal(&word.raw) {
        return Some((what, 1));
    }
    if let Some(found) = chain_or_token(lexicon, words, at) {
        return Some(found);
    }
    if let Some((what, count)) = measures::measure_at(words, at) {
        // A number after the word "chain" names one.
        if let What::Number(number) = &what
            && at > 0
            && matches!(words[at - 1].lower.as_str(), "chain" | "id" | "chainid" | "network")
            && let Some(id) = number.as_u64()
            && lexicon.is_chain(id)
        {
            return Some((What::Chain(id), count));
        }
        return Some((what, count));
    }
    id(&word.raw).map(|what| (what, 1))
}

/// "on ETH" is a chain, "0.2 ETH" a token.
fn chain_or_token(lexicon: &Lexicon, words: &[WordToken], at: usize) -> Option<(What, usize)> {
    let chain = lexicon.chain_at(words, at).map(|(id, count)| (What::Chain(id), count));
    let token = lexicon.token_at(words, at).map(|(symbol, count)| (What::Token(symbol.to_owned()), count));
    match (chain, token) {
        (Some(chain), Some(token)) => {
            let located = at > 0 && matches!(words[at - 1].lower.as_str(), "on" | "onto");
            let longer = chain.1 > token.1;
            Some(if located || longer { chain } else { token })
        }
        (chain, token) => chain.or(token),
    }
}

fn literal(raw: &str) -> Option<What> {
    if raw.starts_with("0x") || raw.starts_with("0X") {
        if AddressText::parse(raw).is_some() {
            return Some(What::Address(raw.to_owned()));
        }
        return raw[2..].bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| What::Hex(raw.to_owned()));
    }
    if raw.contains("://") {
        return Some(What::Url(raw.to_owned()));
    }
    measures::date(raw).map(What::Date)
}

/// Figures with letters or signs between them; versions such as "v3" and lone numbers are none.
fn id(raw: &str) -> Option<What> {
    let text = raw.trim_start_matches('#');
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let version = text.len() <= 3 && text.starts_with(['v', 'V']);
    let joined = text.contains(['-', ':', '_', '/']) || text.len() > 6;
    if digits == 0 || version || !joined || text.contains('%') || text.contains('$') {
        return None;
    }
    Some(What::Id(text.to_owned()))
}
