//! Tokeniser for messages: words with stem, sentence, clause and negation.

use crate::stem::stem;
use crate::stop_words::StopWords;

/// Words that negate the rest of their clause.
const NEGATIONS: &[&str] =
    &["not", "no", "never", "without", "don't", "dont", "doesn't", "isn't", "won't", "nothing", "neither", "nor", "instead"];

/// One word of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordToken {
    /// As written, without the punctuation around it.
    pub raw: String,
    pub lower: String,
    pub stem: String,
    pub sentence: usize,
    pub clause: usize,
    /// Follows a negation in its clause.
    pub negated: bool,
}

impl WordToken {
    pub fn is_stop_word(&self) -> bool {
        StopWords::Conversation.contains(&self.lower)
    }

    /// Reports whether the word can be a topic: not a stop word, number, amount or address.
    pub fn is_topic(&self) -> bool {
        !self.is_stop_word()
            && !self.lower.starts_with("0x")
            && self.lower.chars().any(char::is_alphabetic)
            && !self.lower.starts_with(|c: char| c.is_ascii_digit() || c == '$')
    }
}

/// Longer texts are truncated; real requests are shorter.
const MAX_BYTES: usize = 16 * 1024;

/// Splits a message into words, in order.
pub fn tokenize(text: &str) -> Vec<WordToken> {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut found: Vec<WordToken> = vec![];
    let (mut sentence, mut clause) = (0, 0);
    for chunk in text[..end].split_whitespace().flat_map(split_compound) {
        let opens = chunk.starts_with(['(', '[', '"', '“', '—', '–']);
        if opens && !found.is_empty() {
            clause += 1;
        }
        let raw = chunk.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '$' | '€' | '#' | '.' | '-' | '+'));
        let raw = raw.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '%');
        let raw = raw.strip_suffix("'s").or_else(|| raw.strip_suffix("’s")).unwrap_or(raw);
        if raw.chars().any(char::is_alphanumeric) {
            let lower = raw.to_lowercase().replace('’', "'");
            found.push(WordToken { stem: stem(&lower), raw: raw.to_owned(), lower, sentence, clause, negated: false });
        }
        if matches!(chunk, "->" | "=>" | "→") {
            found.push(WordToken { raw: "to".into(), lower: "to".into(), stem: "to".into(), sentence, clause, negated: false });
        }
        let closes = chunk.trim_end_matches([')', ']', '"', '”', '\'']);
        if closes.ends_with(['.', '!', '?']) || chunk.ends_with('…') {
            sentence += 1;
            clause += 1;
        } else if chunk.ends_with([',', ';', ':', ')', '—', '–', '"', '”']) || matches!(chunk, "-" | "--") {
            clause += 1;
        }
    }
    mark_negated(&mut found);
    found
}

/// Splits "half-price", "WETH/USDC" and "now—then" into words. Ids, dates, addresses and links stay whole.
fn split_compound(chunk: &str) -> Vec<&str> {
    let has_digit = chunk.bytes().any(|byte| byte.is_ascii_digit());
    if chunk.starts_with("http") || chunk.contains("://") {
        return vec![chunk];
    }
    if chunk.len() <= 3 && !chunk.contains(char::is_alphanumeric) {
        return vec![chunk];
    }
    let dashed = |c: char| matches!(c, '—' | '–') || (c == '-' && !has_digit) || (c == '/' && !has_digit);
    if chunk.trim_matches(|c: char| !c.is_alphanumeric()).contains(dashed) {
        return chunk.split(dashed).filter(|part| !part.is_empty()).collect();
    }
    // "30-day" and "5,000-dollar": split the number from its unit.
    if let Some((number, unit)) = chunk.split_once('-') {
        let numeric = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
        if numeric && unit.len() > 2 && unit.chars().all(|c| c.is_alphabetic() || c.is_ascii_punctuation()) {
            return vec![number, unit];
        }
    }
    vec![chunk]
}

/// Marks the words after "don't", "instead of" or "rather than" as negated, up to the end of the clause or six words.
fn mark_negated(words: &mut [WordToken]) {
    let mut left = 0;
    let mut clause = usize::MAX;
    for at in 0..words.len() {
        if words[at].clause != clause {
            clause = words[at].clause;
            left = 0;
        }
        let follows = |word: &str| words.get(at + 1).is_some_and(|next| next.lower == word);
        let lower = words[at].lower.as_str();
        let bound = follows("more") || follows("less") || follows("later") || follows("only") || follows("above") || follows("below");
        let opens = match lower {
            "instead" => follows("of"),
            "rather" => follows("than"),
            // "no more than" bounds a value, "not only" affirms.
            "no" | "not" | "never" => !bound,
            other => NEGATIONS.contains(&other) || (other.ends_with("n't") && other.len() > 3),
        };
        if opens {
            left = 7;
        } else if matches!(lower, "but" | "just" | "only" | "then") {
            left = 0;
        }
        if left > 0 {
            words[at].negated = !opens;
            left -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raws(text: &str) -> Vec<String> {
        tokenize(text).into_iter().map(|word| word.raw).collect()
    }

    #[test]
    fn tokenize_splits_words_but_not_values() {
        assert_eq!(raws("Sell 1,250.5 USDC (all of it)."), ["Sell", "1,250.5", "USDC", "all", "of", "it"]);
        assert_eq!(raws("WETH/USDC, 0.05% and 30-day"), ["WETH", "USDC", "0.05%", "and", "30", "day"]);
        assert_eq!(raws("aave-8453 8453:1842 2026-03-08"), ["aave-8453", "8453:1842", "2026-03-08"]);
        assert_eq!(raws("the vault's $500 pot"), ["the", "vault", "$500", "pot"]);
        assert!(tokenize(" — …").is_empty());
    }

    #[test]
    fn negation_ends_with_its_clause() {
        let negated = |text| tokenize(text).into_iter().filter(|word| word.negated).map(|word| word.lower).collect::<Vec<_>>();
        assert_eq!(negated("Show the price, don't trade anything. Then go"), ["trade", "anything"]);
        assert_eq!(negated("USDT instead of USDC"), ["of", "usdc"]);
        assert!(negated("no more than 50 bps").is_empty());
        assert!(negated("not only this").is_empty());
    }

    #[test]
    fn sentences_and_clauses_are_counted() {
        let read = tokenize("One two, three. Four?");
        assert_eq!(read.iter().map(|word| (word.sentence, word.clause)).collect::<Vec<_>>(), [(0, 0), (0, 0), (0, 1), (1, 2)]);
    }

    #[test]
    fn tokenize_truncates_at_a_char_boundary() {
        assert!(tokenize(&"é ".repeat(20_000)).len() <= MAX_BYTES / 3 + 1);
    }
}
