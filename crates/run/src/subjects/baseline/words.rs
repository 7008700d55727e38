//! Text as words with their places: what every extractor and the retrieval read.

use super::stem::stem;

/// Words of English grammar. They carry no topic, in prose of a tool file as in what a user says.
const GLUE: &[&str] = &[
    "a",
    "about",
    "above",
    "actually",
    "after",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "anything",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "done",
    "each",
    "either",
    "else",
    "every",
    "everything",
    "exactly",
    "few",
    "for",
    "from",
    "get",
    "give",
    "go",
    "going",
    "got",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "him",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "let",
    "like",
    "ll",
    "look",
    "make",
    "may",
    "me",
    "might",
    "more",
    "most",
    "much",
    "must",
    "my",
    "need",
    "needs",
    "neither",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "out",
    "over",
    "own",
    "per",
    "please",
    "put",
    "quite",
    "rather",
    "re",
    "s",
    "same",
    "say",
    "see",
    "she",
    "should",
    "so",
    "some",
    "such",
    "t",
    "take",
    "tell",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "this",
    "those",
    "to",
    "too",
    "under",
    "until",
    "up",
    "us",
    "use",
    "ve",
    "very",
    "want",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whose",
    "why",
    "will",
    "with",
    "would",
    "yes",
    "yet",
    "you",
    "your",
    "yours",
];

/// After these, what follows in the clause is not wanted.
const NEGATIONS: &[&str] =
    &["not", "no", "never", "without", "don't", "dont", "doesn't", "isn't", "won't", "nothing", "neither", "nor", "instead"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// As written, without the punctuation around it.
    pub raw: String,
    pub lower: String,
    pub stem: String,
    pub sentence: usize,
    pub clause: usize,
    /// Stands behind a negation in its clause.
    pub negated: bool,
}

impl Word {
    pub(super) fn is_glue(&self) -> bool {
        is_glue(&self.lower)
    }
}

pub(super) fn is_glue(lower: &str) -> bool {
    GLUE.binary_search(&lower).is_ok()
}

/// The longest text that is read; nobody asks for something in more.
const LONGEST: usize = 16 * 1024;

/// The words of a text in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut found: Vec<Word> = vec![];
    let (mut sentence, mut clause) = (0, 0);
    for chunk in text[..end].split_whitespace().flat_map(parted) {
        let opens = chunk.starts_with(['(', '[', '"', '“', '—', '–']);
        if opens && !found.is_empty() {
            clause += 1;
        }
        let raw = chunk.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '$' | '€' | '#' | '.' | '-' | '+'));
        let raw = raw.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '%');
        let raw = raw.strip_suffix("'s").or_else(|| raw.strip_suffix("’s")).unwrap_or(raw);
        if raw.chars().any(char::is_alphanumeric) {
            let lower = raw.to_lowercase().replace('’', "'");
            found.push(Word { stem: stem(&lower), raw: raw.to_owned(), lower, sentence, clause, negated: false });
        }
        if matches!(chunk, "->" | "=>" | "→") {
            found.push(Word { raw: "to".into(), lower: "to".into(), stem: "to".into(), sentence, clause, negated: false });
        }
        let closes = chunk.trim_end_matches([')', ']', '"', '”', '\'']);
        if closes.ends_with(['.', '!', '?']) || chunk.ends_with('…') {
            sentence += 1;
            clause += 1;
        } else if chunk.ends_with([',', ';', ':', ')', '—', '–', '"', '”']) || matches!(chunk, "-" | "--") {
            clause += 1;
        }
    }
    negate(&mut found);
    found
}

/// "half-price", "WETH/USDC" and "now—then" are several words; ids, dates, addresses and links are one.
fn parted(chunk: &str) -> Vec<&str> {
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
    // "30-day" and "5,000-dollar": a number and its unit.
    if let Some((number, unit)) = chunk.split_once('-') {
        let numeric = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
        if numeric && unit.len() > 2 && unit.chars().all(|c| c.is_alphabetic() || c.is_ascii_punctuation()) {
            return vec![number, unit];
        }
    }
    vec![chunk]
}

/// "don't sell", "instead of USDC", "rather than trade": the rest of the clause, at most six words, is not wanted.
fn negate(words: &mut [Word]) {
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

/// Words of a snake_case, kebab-case or camelCase name or of prose, lower-case, glue left out.
pub(super) fn terms(text: &str) -> Vec<String> {
    let mut found = vec![];
    let mut word = String::new();
    let mut after_lower = false;
    for letter in text.chars().chain([' ']) {
        let hump = letter.is_uppercase() && after_lower;
        if (!(letter.is_alphanumeric() || letter == '\'') || hump) && !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() || letter == '\'' {
            word.extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase();
    }
    found.retain(|word| !is_glue(word) && !word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'\''));
    found
}

/// Stems of `terms`.
pub(super) fn stems(text: &str) -> Vec<String> {
    terms(text).iter().map(|word| stem(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raws(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.raw).collect()
    }

    #[test]
    fn the_glue_is_sorted() {
        assert!(GLUE.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn punctuation_parts_words_but_not_values() {
        assert_eq!(raws("Sell 1,250.5 USDC (all of it)."), ["Sell", "1,250.5", "USDC", "all", "of", "it"]);
        assert_eq!(raws("WETH/USDC, 0.05% and 30-day"), ["WETH", "USDC", "0.05%", "and", "30", "day"]);
        assert_eq!(raws("aave-8453 8453:1842 2026-03-08"), ["aave-8453", "8453:1842", "2026-03-08"]);
        assert_eq!(raws("the vault's $500 pot"), ["the", "vault", "$500", "pot"]);
        assert!(words(" — …").is_empty());
    }

    #[test]
    fn a_negation_reaches_to_the_end_of_its_clause() {
        let negated = |text| words(text).into_iter().filter(|word| word.negated).map(|word| word.lower).collect::<Vec<_>>();
        assert_eq!(negated("Show the price, don't trade anything. Then go"), ["trade", "anything"]);
        assert_eq!(negated("USDT instead of USDC"), ["of", "usdc"]);
        assert!(negated("no more than 50 bps").is_empty());
        assert!(negated("not only this").is_empty());
    }

    #[test]
    fn sentences_and_clauses_are_counted() {
        let read = words("One two, three. Four?");
        assert_eq!(read.iter().map(|word| (word.sentence, word.clause)).collect::<Vec<_>>(), [(0, 0), (0, 0), (0, 1), (1, 2)]);
    }

    #[test]
    fn names_and_prose_fall_into_the_same_terms() {
        assert_eq!(terms("pool_get_lpFees V3"), ["pool", "lp", "fees", "v3"]);
        assert_eq!(stems("Swaps the tokens"), ["swap", "token"]);
    }

    #[test]
    fn a_long_text_is_cut_at_a_letter() {
        assert!(words(&"é ".repeat(20_000)).len() <= LONGEST / 3 + 1);
    }
}
