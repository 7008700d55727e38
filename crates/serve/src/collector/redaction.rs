//! Removal of secrets before anything is stored.

use super::hex_keys::{self, redact_hex_keys};
use super::seed_words::seed_phrases;
use super::word_runs::{self, word_runs};
use regex::{Regex, RegexSet};
use std::borrow::Cow;
use std::ops::Range;

/// Replacement of a secret.
const REDACTED: &str = "[redacted]";

/// Attributes whose whole value is a secret, by a part of their name.
const SECRET_NAMES: &[&str] = &[
    "api_key",
    "apikey",
    "api-key",
    "authorization",
    "password",
    "passwd",
    "private_key",
    "privatekey",
    "secret",
    "mnemonic",
    "seed_phrase",
    "seedphrase",
    "access_token",
    "refresh_token",
    "set-cookie",
    "cookie",
];

/// Secrets by their shape. A group named `kept` is written before the replacement.
const PATTERNS: &[&str] = &[
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    r"(?i)(?P<kept>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}",
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}",
    r"\b(?:ghp|gho|ghs|github_pat)_[A-Za-z0-9_]{20,}",
    r"\bAKIA[0-9A-Z]{16}\b",
    r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    r#"(?i)(?P<kept>(?:private|secret|api|signing|signer|wallet)[ _-]?key\\?["']?\s*(?:[:=]|\bis\b)\s*\\?["']?)(?:0x)?[A-Za-z0-9+/=_-]{8,}"#,
    r#"(?i)(?P<kept>(?:password|passphrase|access[ _-]?token|refresh[ _-]?token)\\?["']?\s*(?:[:=]|\bis\b)\s*\\?["']?)[^\s"'\\,}]{4,}"#,
    r#"(?i)(?P<kept>(?:mnemonic|seed[ _-]?phrase|recovery[ _-]?phrase)\\?["']?\s*(?:[:=]|\bis\b)\s*\\?["']?)[a-z]{3,8}(?:[ ,]+[a-z]{3,8}){2,}"#,
];

/// Pattern that is not a regular expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{pattern}\" is not a regular expression: {why}")]
pub struct PatternError {
    pub pattern: String,
    pub why: String,
}

/// Finds and removes secrets.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// All patterns at once; most texts match none.
    any: RegexSet,
    patterns: Vec<Regex>,
    word_run: Regex,
    hex_key: Regex,
}

impl Default for Redactor {
    fn default() -> Self {
        // The built-in patterns are fixed in the source.
        Self::new(&[]).unwrap_or_else(|error| panic!("a built-in pattern is wrong: {error}"))
    }
}

impl Redactor {
    /// Returns a redactor with patterns beside the built-in ones.
    ///
    /// # Errors
    ///
    /// Fails at the first pattern that is not a regular expression.
    pub fn new(own: &[&str]) -> Result<Self, PatternError> {
        let compile = |pattern: &str| {
            let built = regex::RegexBuilder::new(pattern).size_limit(1 << 20).build();
            built.map_err(|error| PatternError { pattern: pattern.to_owned(), why: error.to_string() })
        };
        let all: Vec<&str> = PATTERNS.iter().chain(own).copied().collect();
        let patterns = all.iter().map(|pattern| compile(pattern)).collect::<Result<_, _>>()?;
        let any = RegexSet::new(&all).map_err(|error| PatternError { pattern: all.join(" | "), why: error.to_string() })?;
        Ok(Self { any, patterns, word_run: compile(word_runs::PATTERN)?, hex_key: compile(hex_keys::PATTERN)? })
    }

    /// Returns whether the value of an attribute with this name is a secret.
    pub fn is_secret_name(&self, name: &str) -> bool {
        // Counts of tokens are not tokens.
        let name = name.to_ascii_lowercase();
        SECRET_NAMES.iter().any(|part| name.contains(part))
    }

    /// Returns the text without secrets. `field` is the name of the attribute that holds it, empty if it has none.
    pub fn redact<'t>(&self, field: &str, text: &'t str) -> Cow<'t, str> {
        // Shorter texts hold no secret that has a shape.
        if text.len() < 12 {
            return Cow::Borrowed(text);
        }
        let mut clean = Cow::Borrowed(text);
        for at in self.any.matches(text) {
            let replaced = self.patterns[at].replace_all(&clean, |found: &regex::Captures<'_>| {
                format!("{}{REDACTED}", found.name("kept").map_or("", |kept| kept.as_str()))
            });
            if let Cow::Owned(replaced) = replaced {
                clean = Cow::Owned(replaced);
            }
        }
        let phrases = seed_phrases(&clean);
        clean = replaced(clean, &phrases);
        let runs = word_runs(&self.word_run, &clean);
        clean = replaced(clean, &runs);
        if let Cow::Owned(replaced) = redact_hex_keys(&self.hex_key, field, &clean, REDACTED) {
            clean = Cow::Owned(replaced);
        }
        clean
    }
}

/// Returns the text without its secrets at places that are in order and do not overlap.
fn replaced<'t>(text: Cow<'t, str>, places: &[Range<usize>]) -> Cow<'t, str> {
    if places.is_empty() {
        return text;
    }
    let starts = std::iter::once(0).chain(places.iter().map(|place| place.end));
    let ends = places.iter().map(|place| place.start).chain([text.len()]);
    Cow::Owned(starts.zip(ends).map(|(start, end)| &text[start..end]).collect::<Vec<_>>().join(REDACTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_removed() {
        let redactor = Redactor::new(&["ACME-[0-9]{6}"]).unwrap();
        let key = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";
        let pem = "-----BEGIN EC PRIVATE KEY-----\nMHQCAQEE\n-----END EC PRIVATE KEY-----";
        let seed = "legal winner thank year wave sausage worth useful legal winner thank yellow";
        let italian = "abaco abbaglio abbinato abete abisso abolire abrasivo abrogato accadere accenno acetone adagio";
        for (text, secret) in [
            (format!("Authorization: Bearer {}", "abcdef0123456789"), "abcdef0123456789"),
            (format!("use sk-{} now", "a1b2".repeat(6)), "a1b2"),
            (format!("{{\"private_key\": \"0x{key}\"}}"), key),
            (format!("{{\\\"privateKey\\\":\\\"{key}\\\"}}"), key),
            (format!("my private key is {key}"), key),
            (format!("0x{key}"), key),
            (format!("{{\"accounts\":[\"0x{key}\"]}}"), key),
            (pem.to_owned(), "MHQCAQEE"),
            (format!("words: {seed}"), "winner"),
            (format!("restore the wallet from {}", seed.replace("wave", "wawe")), "sausage"),
            (format!("words: {italian}"), "abbaglio"),
            (serde_json::json!({ "text": format!("[\"{}\"]", seed.replace(' ', "\",\n        \"")) }).to_string(), "winner"),
            (format!("mnemonic={}", "abandon abandon about"), "abandon"),
            ("password: hunter2!x".to_owned(), "hunter2"),
            ("ticket ACME-123456".to_owned(), "ACME-123456"),
            (format!("token eyJhbGciOi.eyJzdWIiOiIx.{}", "c2lnbmF0dXJl"), "eyJ"),
        ] {
            let clean = redactor.redact("", &text);
            assert!(clean.contains(REDACTED) && !clean.contains(secret), "{text} → {clean}");
        }
    }

    #[test]
    fn evidence_is_kept() {
        let redactor = Redactor::default();
        let hash = "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060";
        for text in [
            format!("transaction {hash} was mined"),
            format!("{{\"hash\":\"{hash}\",\"to\":\"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\"}}"),
            "Sell 250 USDC for ether on Base, with no more than half a percent slippage and the usual deadline of thirty minutes"
                .to_owned(),
            "never share your seed phrase with strangers".to_owned(),
        ] {
            assert_eq!(redactor.redact("", &text), text);
        }
        assert!(!redactor.is_secret_name("gen_ai.usage.input_tokens"));
        assert!(redactor.is_secret_name("http.request.header.Authorization"));
        assert!(Redactor::new(&["("]).is_err());
    }
}
