//! Regular expressions of rules and matchers, with bounded size and linear search time.

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError, Weak};

/// Maximum characters of a pattern.
const MAX_PATTERN: usize = 300;
/// Maximum bytes of a compiled pattern, so that nested repetitions cannot use up the memory.
const MAX_COMPILED: usize = 1 << 20;
const MAX_NESTING: u32 = 50;

/// Patterns that are in use, by source: cases of one suite repeat each other's, and a compiled pattern and the tables of its search take up to
/// hundreds of kilobytes.
static SHARED: LazyLock<Mutex<SharedPatterns>> = LazyLock::new(Mutex::default);

/// Regular expression, compiled when it is first searched for: most commands search for none of a workspace's. Equal if the source is.
#[derive(Debug, Clone)]
pub struct TextPattern(Arc<LazyRegex>);

impl TextPattern {
    /// Reads a pattern.
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
        LazyRegex::parse(source).map(|regex| Self(shared.insert(regex)))
    }

    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Returns whether the pattern is found in the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.compiled().is_match(text)
    }

    /// Returns whether the pattern is found in a text of the value, at any depth.
    pub fn finds(&self, value: &Value) -> bool {
        let regex = self.0.compiled();
        any_text(value, &|text| regex.is_match(text))
    }
}

#[derive(Debug)]
struct LazyRegex {
    source: Box<str>,
    compiled: OnceLock<Regex>,
}

impl LazyRegex {
    fn parse(source: &str) -> Result<Self, String> {
        let parsed = ParserBuilder::new().nest_limit(MAX_NESTING).build().parse(source);
        let hir = parsed.map_err(|error| {
            let text = error.to_string();
            format!("the regex is not valid: {}", text.lines().last().unwrap_or_default().trim_start_matches("error: "))
        })?;
        let regex = Self { source: source.into(), compiled: OnceLock::new() };
        if compiled_bytes(&hir) > MAX_COMPILED / 4 {
            // Only the compiler can tell.
            let compiled = compile(source, MAX_COMPILED).map_err(|_| "the regex is too large; use smaller repetitions".to_owned())?;
            drop(regex.compiled.set(compiled));
        }
        Ok(regex)
    }

    fn compiled(&self) -> &Regex {
        // Four times the limit: the estimate was a quarter of it at most.
        self.compiled.get_or_init(|| compile(&self.source, 4 * MAX_COMPILED).unwrap_or_else(|error| unreachable!("{error}")))
    }
}

fn compile(source: &str, most_bytes: usize) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).size_limit(most_bytes).nest_limit(MAX_NESTING).build()
}

/// Estimates the bytes of a compiled pattern.
fn compiled_bytes(hir: &Hir) -> usize {
    const STATE: usize = 32;
    // A range of characters is up to a few sequences of bytes.
    const RANGE: usize = 4 * STATE;
    let sum = |parts: &[Hir]| parts.iter().map(compiled_bytes).fold(STATE, usize::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => STATE,
        HirKind::Literal(literal) => STATE.saturating_mul(literal.0.len()),
        HirKind::Class(Class::Unicode(class)) => RANGE.saturating_mul(class.ranges().len()),
        HirKind::Class(Class::Bytes(class)) => RANGE.saturating_mul(class.ranges().len()),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            compiled_bytes(&repetition.sub).saturating_add(STATE).saturating_mul(usize::try_from(times).unwrap_or(usize::MAX))
        }
        HirKind::Capture(capture) => compiled_bytes(&capture.sub).saturating_add(2 * STATE),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
    }
}

/// Patterns by source, as long as they are held.
#[derive(Default)]
struct SharedPatterns {
    by_source: HashMap<Box<str>, Weak<LazyRegex>>,
    /// Number of entries at which the ones not held any more are dropped.
    sweep_at: usize,
}

impl SharedPatterns {
    fn get(&self, source: &str) -> Option<Arc<LazyRegex>> {
        self.by_source.get(source).and_then(Weak::upgrade)
    }

    fn insert(&mut self, regex: LazyRegex) -> Arc<LazyRegex> {
        if self.by_source.len() >= self.sweep_at {
            self.by_source.retain(|_, held| held.strong_count() > 0);
            self.sweep_at = 2 * self.by_source.len() + 64;
        }
        let regex = Arc::new(regex);
        self.by_source.insert(regex.source.clone(), Arc::downgrade(&regex));
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
        let kept = shared.insert(LazyRegex::parse("^kept$").expect("a pattern"));
        for n in 0..10_000 {
            shared.insert(LazyRegex::parse(&format!("^{n}$")).expect("a pattern"));
        }
        assert!(shared.get("^7$").is_none() && shared.by_source.len() <= 66, "{}", shared.by_source.len());
        assert!(shared.get("^kept$").is_some_and(|same| Arc::ptr_eq(&same, &kept)));

        let (one, other) = (TextPattern::parse("^shared by two$"), TextPattern::parse("^shared by two$"));
        assert!(Arc::ptr_eq(&one.expect("a pattern").0, &other.expect("a pattern").0));
    }

    /// The estimate is low enough that the compiler takes what it lets through, for all kinds of patterns.
    #[test]
    fn patterns_that_are_not_compiled_at_once_compile_later() {
        let (mut later, mut at_once) = (0, 0);
        for unit in ["a", "é", ".", "\\d", "\\D", "\\w", "\\W", "\\pL", "[^a]", "(a|bc)", "(?i)ß", "[\u{100}-\u{10ffff}]", "\\b"] {
            for times in ["", "*", "{2}", "{9}", "{40}", "{0,99}", "{400}", "{9}{9}", "{3000}"] {
                let Ok(regex) = LazyRegex::parse(&format!("(?:{unit}){times}x")) else { continue };
                if regex.compiled.get().is_some() {
                    at_once += 1
                } else {
                    later += 1
                }
                assert!(!regex.compiled().is_match("nothing"), "{}", regex.source);
            }
        }
        assert!(later > 50 && at_once > 5, "{later} {at_once}");
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
