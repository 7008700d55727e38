//! Typed reading of mappings: required and optional keys, and problems for unknown ones.

use super::node::{YamlKey, YamlNode, YamlShape};
use crate::location::Spanned;
use crate::problem::{ProblemReport, did_you_mean};
use indexmap::IndexMap;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Reader of a mapping. Call [`YamlFields::close`] after reading all keys to report unknown ones.
#[derive(Debug)]
pub struct YamlFields<'n> {
    pub line: u32,
    what: &'static str,
    entries: &'n [(YamlKey, YamlNode)],
    known: RefCell<Vec<&'static str>>,
    report: &'n ProblemReport,
}

impl<'n> YamlFields<'n> {
    /// Opens a mapping. `what` is its name in messages, such as "a tool". Reports duplicate keys.
    pub fn open(node: &'n YamlNode, what: &'static str, report: &'n ProblemReport) -> Option<Self> {
        let YamlShape::Map(entries) = &node.shape else {
            report.add(node.line, format!("{what} must be a mapping, found {}", node.describe()), "write key: value lines");
            return None;
        };
        for (first, key) in repeated_keys(entries) {
            report.add(key.line, format!("{} is given twice", key.describe()), format!("the first is on line {}", first.line));
        }
        Some(Self { line: node.line, what, entries, known: RefCell::new(Vec::with_capacity(USUAL_KEYS)), report })
    }

    pub fn get(&self, key: &'static str) -> Option<&'n YamlNode> {
        self.known.borrow_mut().push(key);
        self.entries.iter().find(|(entry, _)| entry.text == key).map(|(_, node)| node)
    }

    pub fn has(&self, key: &'static str) -> bool {
        self.get(key).is_some()
    }

    /// Reads a required key. Reports a missing or invalid one.
    pub fn required<T>(&self, key: &'static str, read: impl FnOnce(&YamlNode, &ProblemReport) -> Option<T>) -> Option<T> {
        match self.get(key) {
            Some(node) => read(node, self.report),
            None => {
                self.report.add(self.line, format!("{} lacks \"{key}\"", self.what), format!("add {key}: …"));
                None
            }
        }
    }

    /// Reads a key that only a workspace with `policy.yaml` must have.
    pub(crate) fn required_by_policy<T>(&self, key: &'static str, read: impl FnOnce(&YamlNode, &ProblemReport) -> Option<T>) -> Option<T> {
        if self.report.has_policy() { self.required(key, read) } else { self.optional(key, read) }
    }

    /// Reads an optional key. An invalid one is reported and returned as absent.
    pub fn optional<T>(&self, key: &'static str, read: impl FnOnce(&YamlNode, &ProblemReport) -> Option<T>) -> Option<T> {
        self.get(key).and_then(|node| read(node, self.report))
    }

    /// Like [`YamlFields::optional`], with the default of the type for an absent key.
    pub fn or_default<T: Default>(&self, key: &'static str, read: impl FnOnce(&YamlNode, &ProblemReport) -> Option<T>) -> T {
        self.optional(key, read).unwrap_or_default()
    }

    /// Reports the keys that were not read.
    pub fn close(self) {
        let known = self.known.into_inner();
        for (key, _) in self.entries {
            // Suggestions are slow to compute, and a full report would drop them.
            if !known.contains(&key.text.as_str()) && !self.report.is_full() {
                let remedy = match did_you_mean(&key.text, known.iter().copied()) {
                    guess if guess.is_empty() => format!("known keys: {}", known.join(", ")),
                    guess => guess,
                };
                self.report.add(key.line, format!("{} has no key {}", self.what, key.describe()), remedy);
            }
        }
    }
}

/// Returns the keys that are given again, each with its first mention.
fn repeated_keys(entries: &[(YamlKey, YamlNode)]) -> Vec<(&YamlKey, &YamlKey)> {
    let mut repeated = vec![];
    if entries.len() <= USUAL_KEYS {
        // Comparing all pairs is faster than an index, and most mappings are small.
        for (n, (key, _)) in entries.iter().enumerate() {
            repeated.extend(entries[..n].iter().find(|(first, _)| first.text == key.text).map(|(first, _)| (first, key)));
        }
        return repeated;
    }
    let mut seen = BTreeMap::new();
    for (key, _) in entries {
        let first = *seen.entry(key.text.as_str()).or_insert(key);
        if !std::ptr::eq(first, key) {
            repeated.push((first, key));
        }
    }
    repeated
}

/// Keys of most mappings, at most.
const USUAL_KEYS: usize = 16;

fn scalar<'n>(node: &'n YamlNode, wanted: &str, report: &ProblemReport) -> Option<&'n str> {
    match &node.shape {
        YamlShape::Scalar { text, .. } if !node.is_null() => Some(text),
        YamlShape::Scalar { .. } | YamlShape::List(_) | YamlShape::Map(_) => {
            report.add(node.line, format!("expected {wanted}, found {}", node.describe()), "");
            None
        }
    }
}

/// Reads any text, trimmed.
pub fn text(node: &YamlNode, report: &ProblemReport) -> Option<String> {
    scalar(node, "text", report).map(|text| text.trim().to_owned())
}

/// Reads a name: letters, digits, `_`, `-`, `.` and `:`; at most 100 characters.
pub fn name(node: &YamlNode, report: &ProblemReport) -> Option<String> {
    let text = scalar(node, "a name", report)?;
    let fits = !text.is_empty() && text.len() <= 100 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c));
    if !fits {
        report.add(node.line, format!("{} is not a name", node.describe()), "use letters, digits, _ - . : only, at most 100");
    }
    fits.then(|| text.to_owned())
}

/// Reads `true` or `false`.
pub fn flag(node: &YamlNode, report: &ProblemReport) -> Option<bool> {
    match scalar(node, "true or false", report)? {
        "true" => Some(true),
        "false" => Some(false),
        _ => {
            report.add(node.line, format!("expected true or false, found {}", node.describe()), "");
            None
        }
    }
}

/// Largest whole number in a file, 2^53. Readers of JSON keep all its digits, and seconds can be turned into milliseconds and added.
const MAX_UNSIGNED: u64 = 1 << 53;

/// Reads a non-negative whole number, at most [`MAX_UNSIGNED`].
pub fn unsigned(node: &YamlNode, report: &ProblemReport) -> Option<u64> {
    let digits = scalar(node, "a whole number", report)?.replace('_', "");
    let parsed = digits.parse().ok().filter(|number| *number <= MAX_UNSIGNED);
    if parsed.is_none() {
        let is_large = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let remedy = if is_large { format!("at most {MAX_UNSIGNED}") } else { String::new() };
        report.add(node.line, format!("expected a whole number, found {}", node.describe()), remedy);
    }
    parsed
}

/// Reads a finite number.
pub fn number(node: &YamlNode, report: &ProblemReport) -> Option<f64> {
    let parsed = scalar(node, "a number", report)?.parse::<f64>().ok().filter(|value| value.is_finite());
    if parsed.is_none() {
        report.add(node.line, format!("expected a number, found {}", node.describe()), "");
    }
    parsed
}

/// Reads one of a closed set of words.
pub fn one_of<T: Copy>(words: &'static [(&'static str, T)]) -> impl Fn(&YamlNode, &ProblemReport) -> Option<T> {
    move |node, report| {
        let word = scalar(node, "a word", report)?;
        let found = words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value);
        if found.is_none() {
            let known: Vec<_> = words.iter().map(|(known, _)| *known).collect();
            let remedy = match did_you_mean(word, known.iter().copied()) {
                guess if guess.is_empty() => format!("one of: {}", known.join(", ")),
                guess => guess,
            };
            report.add(node.line, format!("{} is not a known value", node.describe()), remedy);
        }
        found
    }
}

/// Reads a list. Reports every invalid item.
pub fn list<T>(read: impl Fn(&YamlNode, &ProblemReport) -> Option<T>) -> impl Fn(&YamlNode, &ProblemReport) -> Option<Vec<T>> {
    move |node, report| {
        let YamlShape::List(items) = &node.shape else {
            report.add(node.line, format!("expected a list, found {}", node.describe()), "write [a, b] or lines starting with -");
            return None;
        };
        let read: Vec<_> = items.iter().map(|item| read(item, report)).collect();
        read.into_iter().collect()
    }
}

/// Reads a mapping with arbitrary keys.
pub fn map<T>(read: impl Fn(&YamlNode, &ProblemReport) -> Option<T>) -> impl Fn(&YamlNode, &ProblemReport) -> Option<IndexMap<String, T>> {
    move |node, report| {
        let YamlShape::Map(entries) = &node.shape else {
            report.add(node.line, format!("expected a mapping, found {}", node.describe()), "write key: value lines");
            return None;
        };
        let mut out = IndexMap::with_capacity(entries.len());
        let mut complete = true;
        for (key, value) in entries {
            match read(value, report) {
                Some(value) if !out.contains_key(&key.text) => {
                    out.insert(key.text.clone(), value);
                }
                Some(_) => {
                    report.add(key.line, format!("{} is given twice", key.describe()), "keep one");
                    complete = false;
                }
                None => complete = false,
            }
        }
        complete.then_some(out)
    }
}

/// Reads a value with its location.
pub fn spanned<T>(read: impl Fn(&YamlNode, &ProblemReport) -> Option<T>) -> impl Fn(&YamlNode, &ProblemReport) -> Option<Spanned<T>> {
    move |node, report| read(node, report).map(|value| Spanned::new(value, report.location(node.line)))
}

#[cfg(test)]
mod tests {
    use super::super::{YamlLimits, load};
    use super::*;

    #[test]
    fn whole_numbers_are_bounded() {
        let read = |text: &str| {
            let report = ProblemReport::new("policy.yaml");
            let node = load(text, YamlLimits::default(), &report).unwrap();
            let number = unsigned(&node, &report);
            (number, report.into_problems().pop().map(|problem| problem.remedy))
        };
        assert_eq!(read("9007199254740992"), (Some(MAX_UNSIGNED), None));
        assert_eq!(read("10_000"), (Some(10_000), None));
        for large in ["9007199254740993", "18446744073709551615", "18446744073709551616"] {
            assert_eq!(read(large), (None, Some("at most 9007199254740992".to_owned())), "{large}");
        }
        assert_eq!(read("-1"), (None, Some(String::new())));
        // Two such times in milliseconds are a sum that fits.
        assert!(MAX_UNSIGNED.checked_mul(1000).and_then(|ms| ms.checked_mul(2)).is_some());
    }

    #[test]
    fn yaml_fields_report_every_problem() {
        let report = ProblemReport::new("gates.yaml");
        let node = load("scorer: [hit]\nslise: all\ntiers: [1, x]\nscorer: hit\n", YamlLimits::default(), &report).unwrap();
        let fields = YamlFields::open(&node, "a gate", &report).unwrap();
        fields.required("id", name);
        fields.required("scorer", name);
        fields.optional("slice", name);
        fields.optional("tiers", list(unsigned));
        fields.close();
        let lines: Vec<_> = report.into_problems().iter().map(ToString::to_string).collect();
        assert_eq!(lines.len(), 5, "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("gates.yaml:2") && line.contains("did you mean \"slice\"?")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("given twice")));
        assert!(lines.iter().any(|line| line.contains("lacks \"id\"")));
    }
}
