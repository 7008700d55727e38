//! Parses messages into words and typed mentions: numbers with units, tokens, chains, addresses, ids, times.

use crate::lexicon::NameLexicon;
use crate::measures;
use crate::mention_value::MentionValue;
use lexical::{WordToken, tokenize};
use model::AddressText;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypedMention {
    pub value: MentionValue,
    /// Range of its words.
    pub start: usize,
    pub end: usize,
    pub negated: bool,
}

/// Parsed message of the user or the delegating agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParsedMessage {
    pub text: String,
    pub words: Vec<WordToken>,
    pub mentions: Vec<TypedMention>,
}

impl ParsedMessage {
    pub(crate) fn new(lexicon: &NameLexicon, text: &str) -> Self {
        let words = tokenize(text);
        let mentions = mentions(lexicon, &words);
        Self { text: text.to_owned(), words, mentions }
    }

    /// Returns one sentence as a separate message.
    pub(crate) fn sentence(&self, sentence: usize) -> Self {
        let at = self.words.iter().position(|word| word.sentence == sentence).unwrap_or(0);
        let end = self.words.iter().rposition(|word| word.sentence == sentence).map_or(at, |last| last + 1);
        let inside = self.mentions.iter().filter(|mention| mention.start >= at && mention.end <= end);
        let mentions = inside.map(|mention| TypedMention { start: mention.start - at, end: mention.end - at, ..mention.clone() }).collect();
        let words = self.words[at..end].to_vec();
        let text = words.iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" ");
        Self { text, words, mentions }
    }

    pub(crate) fn tokens(&self) -> impl Iterator<Item = &str> {
        self.mentions
            .iter()
            .filter_map(|mention| if let MentionValue::Token(symbol) = &mention.value { Some(symbol.as_str()) } else { None })
    }

    pub(crate) fn chains(&self) -> impl Iterator<Item = u64> {
        self.mentions
            .iter()
            .filter(|mention| !mention.negated)
            .filter_map(|mention| if let MentionValue::Chain(id) = &mention.value { Some(*id) } else { None })
    }
}

fn mentions(lexicon: &NameLexicon, words: &[WordToken]) -> Vec<TypedMention> {
    let mut found = vec![];
    let mut at = 0;
    while at < words.len() {
        let (what, count) = match mention_at(lexicon, words, at) {
            Some((what, count)) => (Some(what), count),
            None => (None, 1),
        };
        if let Some(what) = what {
            let negated = words[at..at + count].iter().any(|word| word.negated);
            found.push(TypedMention { value: what, start: at, end: at + count, negated });
        }
        at += count;
    }
    found
}

fn mention_at(lexicon: &NameLexicon, words: &[WordToken], at: usize) -> Option<(MentionValue, usize)> {
    let word = &words[at];
    if let Some(what) = parse_literal(&word.raw) {
        return Some((what, 1));
    }
    if let Some(found) = chain_or_token(lexicon, words, at) {
        return Some(found);
    }
    if let Some((what, count)) = measures::measure_at(words, at) {
        // A number after "chain" or "id" is a chain id.
        if let MentionValue::Number(number) = &what
            && at > 0
            && matches!(words[at - 1].lower.as_str(), "chain" | "id" | "chainid" | "network")
            && let Some(id) = number.as_u64()
            && lexicon.is_chain(id)
        {
            return Some((MentionValue::Chain(id), count));
        }
        return Some((what, count));
    }
    parse_id(&word.raw).map(|what| (what, 1))
}

/// Resolves names that are both chain and token: "on ETH" is the chain, "0.2 ETH" the token.
fn chain_or_token(lexicon: &NameLexicon, words: &[WordToken], at: usize) -> Option<(MentionValue, usize)> {
    let chain = lexicon.chain_at(words, at).map(|(id, count)| (MentionValue::Chain(id), count));
    let token = lexicon.token_at(words, at).map(|(symbol, count)| (MentionValue::Token(symbol.to_owned()), count));
    match (chain, token) {
        (Some(chain), Some(token)) => {
            let located = at > 0 && matches!(words[at - 1].lower.as_str(), "on" | "onto");
            let longer = chain.1 > token.1;
            Some(if located || longer { chain } else { token })
        }
        (chain, token) => chain.or(token),
    }
}

fn parse_literal(raw: &str) -> Option<MentionValue> {
    if raw.starts_with("0x") || raw.starts_with("0X") {
        if AddressText::parse(raw).is_some() {
            return Some(MentionValue::Address(raw.to_owned()));
        }
        return raw[2..].bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| MentionValue::Hex(raw.to_owned()));
    }
    if raw.contains("://") {
        return Some(MentionValue::Url(raw.to_owned()));
    }
    measures::parse_date(raw).map(MentionValue::Date)
}

/// Parses an identifier: digits with letters or separators. Versions such as "v3" and plain numbers are not identifiers.
fn parse_id(raw: &str) -> Option<MentionValue> {
    let text = raw.trim_start_matches('#');
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let version = text.len() <= 3 && text.starts_with(['v', 'V']);
    let joined = text.contains(['-', ':', '_', '/']) || text.len() > 6;
    if digits == 0 || version || !joined || text.contains('%') || text.contains('$') {
        return None;
    }
    Some(MentionValue::Id(text.to_owned()))
}
