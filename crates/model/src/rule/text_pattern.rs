//! Regular expressions of rules and matchers, with bounded size and linear search time.

use regex::{Regex, RegexBuilder};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

/// Maximum characters of a pattern.
const MAX_PATTERN: usize = 300;
/// Maximum bytes of a compiled pattern, so that nested repetitions cannot use up the memory.
const MAX_COMPILED: usize = 1 << 20;

/// Compiled patterns that are in use, by source: cases of one suite repeat each other's, and a compiled pattern and the tables of its search
/// take up to hundreds of kilobytes.
static SHARED: LazyLock<Mutex<SharedPatterns>> = LazyLock::new(Mutex::default);

/// Compiled regular expression. Equal if the source is.
#[derive(Debug, Clone)]
pub struct TextPattern(Arc<Regex>);

impl TextPattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// Fails with a message of one line if the syntax is wrong, or the pattern is empty or too large.
    pub fn parse(source: &str) -> Result<Self, String> {
        if source.is_empty() || source.chars().count() > MAX_PATTERN {
            return Err(format!("a regex has 1 to {MAX_PATTERN} characters"));
        }
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = shared.get(source) {
            return Ok(Self(known));
        }
        match RegexBuilder::new(source).size_limit(MAX_COMPILED).nest_limit(50).build() {
            Ok(regex) => Ok(Self(shared.insert(regex))),
            Err(regex::Error::CompiledTooBig(_)) => Err("the regex is too large; use smaller repetitions".into()),
            Err(error) => {
                let text = error.to_string();
                Err(format!("the regex is not valid: {}", text.lines().last().unwrap_or_default().trim_start_matches("error: ")))
            }
        }
    }

    pub fn source(&self) -> &str {
        self.0.as_str()
    }

    /// Returns whether the pattern is found in the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Returns whether the pattern is found in a text of the value, at any depth.
    pub fn finds(&self, value: &Value) -> bool {
        any_text(value, &|text| self.0.is_match(text))
    }
}

/// Patterns by source, as long as they are held.
#[derive(Default)]
struct SharedPatterns {
    by_source: HashMap<Box<str>, Weak<Regex>>,
    /// Number of entries at which the ones not held any more are dropped.
    sweep_at: usize,
}

impl SharedPatterns {
    fn get(&self, source: &str) -> Option<Arc<Regex>> {
        self.by_source.get(source).and_then(Weak::upgrade)
    }

    fn insert(&mut self, regex: Regex) -> Arc<Regex> {
        if self.by_source.len() >= self.sweep_at {
            self.by_source.retain(|_, held| held.strong_count() > 0);
            self.sweep_at = 2 * self.by_source.len() + 64;
        }
        let regex = Arc::new(regex);
        self.by_source.insert(regex.as_str().into(), Arc::downgrade(&regex));
        regex
    }
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        self.source() == other.source()
    }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.source())
    }
}

/// Returns whether a text of the value contains the part, at any depth. Letter case is ignored.
pub fn contains_text(value: &Value, part: &str) -> bool {
    let part = part.to_lowercase();
    any_text(value, &|text| text.to_lowercase().contains(&part))
}

/// Returns whether the test holds for a string, number, flag or key of the value, at any depth.
pub fn any_text(value: &Value, test: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => test(text),
        Value::Bool(_) | Value::Number(_) => test(&value.to_string()),
        Value::Array(items) => items.iter().any(|item| any_text(item, test)),
        Value::Object(entries) => entries.iter().any(|(key, value)| test(key) || any_text(value, test)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_found_at_every_depth() {
        let value = json!({"legs": [{"to": "0xDEAD"}, 7], "0xBEEF": true});
        let finds = |source: &str| TextPattern::parse(source).expect("a pattern").finds(&value);
        assert!(finds("^0x[A-F]{4}$") && finds("^7$") && finds("BEEF") && finds("(?i)dead"));
        assert!(!finds("^dead") && !finds("^legs\\.") && !finds("8"));
        assert!(contains_text(&value, "dead") && contains_text(&value, "0xbeef") && contains_text(&value, "true"));
        assert!(!contains_text(&value, "feed") && !contains_text(&Value::Null, "null"));
    }

    #[test]
    fn equal_patterns_are_compiled_once_and_dropped_with_their_last_holder() {
        let mut shared = SharedPatterns::default();
        let kept = shared.insert(Regex::new("^kept$").expect("a pattern"));
        for n in 0..10_000 {
            shared.insert(Regex::new(&format!("^{n}$")).expect("a pattern"));
        }
        assert!(shared.get("^7$").is_none() && shared.by_source.len() <= 66, "{}", shared.by_source.len());
        assert!(shared.get("^kept$").is_some_and(|same| Arc::ptr_eq(&same, &kept)));

        let (one, other) = (TextPattern::parse("^shared by two$"), TextPattern::parse("^shared by two$"));
        assert!(Arc::ptr_eq(&one.expect("a pattern").0, &other.expect("a pattern").0));
    }

    #[test]
    fn hostile_patterns_are_refused() {
        for source in ["", "(", "[a-", "a{1000}{1000}{1000}", "(?=a)", "\\1", &"(".repeat(100), &"a".repeat(301)] {
            let error = TextPattern::parse(source).expect_err("not a pattern");
            assert!(!error.contains('\n'), "{error}");
        }
        // Exponential in backtracking engines.
        assert!(!TextPattern::parse("^(a+)+$").expect("a pattern").finds(&json!(format!("{}b", "a".repeat(50_000)))));
    }
}
