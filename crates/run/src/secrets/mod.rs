//! Redaction of secrets: API keys of models and variables given to external agents. Text that repeats one is cleaned before it is stored.

mod forms;
mod text_view;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use forms::{MIN_PREFIX_CHARS, SecretForm, secret_forms};
use model::SubjectFile;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use text_view::{EscapeKind, TextView};

/// Text that replaces a secret.
pub const REDACTED: &str = "[secret]";
/// Minimum length. Redacting shorter strings would damage ordinary text.
pub(crate) const MIN_SECRET_LEN: usize = 6;
/// Layers of escapes that are undone, such as JSON inside a string of JSON.
const MAX_ESCAPE_LAYERS: usize = 4;
/// Length of the longest escaped form per byte of a secret: two layers of `\uXXXX`.
const MAX_BYTES_PER_BYTE: usize = 12;
/// Variables that name folders and settings of the machine, and no secrets.
const PUBLIC_VARIABLES: &[&str] = &[
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "PWD",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Finds secrets in every common encoding and replaces them.
#[derive(Clone, Default)]
pub struct SecretRedactor {
    values: BTreeSet<String>,
    search: Option<Arc<SecretSearch>>,
}

struct SecretSearch {
    needles: AhoCorasick,
    forms: Vec<SecretForm>,
}

/// Reports whether a value is the address of an account: public, and part of every effect on a chain.
fn is_account_address(value: &str) -> bool {
    value.trim().strip_prefix("0x").is_some_and(|digits| digits.len() == 40 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// A secret stands in a place that needs a fixed word, so the item cannot be kept without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it repeats a secret in place of a fixed word")]
pub struct SecretInFixedWord;

impl SecretRedactor {
    /// Creates a redactor of these values. Values that are too short are ignored.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v str>) -> Self {
        let mut kept = BTreeSet::new();
        for value in values.into_iter().map(str::trim) {
            // The lines of a key file may be printed one by one.
            let lines = value.lines().map(str::trim).filter(|line| line.chars().count() >= MIN_PREFIX_CHARS);
            let all = std::iter::once(value).chain(lines).filter(|text| text.len() >= MIN_SECRET_LEN);
            kept.extend(all.filter(|text| !REDACTED.contains(&text.to_lowercase())).map(str::to_owned));
        }
        let search = SecretSearch::new(&kept).map(Arc::new);
        Self { values: kept, search }
    }

    /// Creates a redactor of all secrets that these subjects use: their keys, and the variables they pass to external agents.
    pub fn of_subjects<'s>(files: impl IntoIterator<Item = &'s SubjectFile>, variable: impl Fn(&str) -> Option<String>) -> Self {
        let names = files.into_iter().flat_map(|file| file.key_env.iter().chain(passed_variables(file)));
        let values: Vec<String> = names.filter_map(|name| variable(name)).filter(|value| !is_account_address(value)).collect();
        Self::new(values.iter().map(String::as_str))
    }

    /// Returns a redactor that also knows the values of these variables, but for public ones.
    #[must_use]
    pub fn with_variables(&self, names: &[String], variable: impl Fn(&str) -> Option<String>) -> Self {
        let secret = names.iter().filter(|name| !PUBLIC_VARIABLES.contains(&name.as_str()));
        let values: Vec<String> = secret.filter_map(|name| variable(name)).filter(|value| !is_account_address(value)).collect();
        self.including(values.iter().map(String::as_str))
    }

    /// Returns a redactor that also knows these values.
    pub(crate) fn including<'v>(&self, values: impl IntoIterator<Item = &'v str>) -> Self {
        let more: Vec<&str> = values.into_iter().filter(|value| !self.values.contains(value.trim())).collect();
        if more.is_empty() { self.clone() } else { Self::new(self.values.iter().map(String::as_str).chain(more)) }
    }

    /// Reports whether a text repeats a secret.
    pub fn finds(&self, text: &str) -> bool {
        !self.spans(text).is_empty()
    }

    /// Replaces the secrets in a text.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let spans = self.spans(text);
        if spans.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(replace_spans(text, &spans, 0)) }
    }

    /// Replaces the secrets in texts that are read one after the other, also those that go on from one text to the next.
    pub(crate) fn redact_parts(&self, parts: Vec<&mut String>) {
        let joined: String = parts.iter().map(|part| part.as_str()).collect();
        let spans = self.spans(&joined);
        let mut at = 0;
        for part in parts.into_iter().filter(|_| !spans.is_empty()) {
            let place = at..at + part.len();
            at = place.end;
            let inside = spans.iter().filter(|span| span.start < place.end && span.end > place.start);
            let inside: Vec<_> =
                inside.map(|span| span.start.max(place.start) - place.start..span.end.min(place.end) - place.start).collect();
            *part = replace_spans(part, &inside, 0);
        }
    }

    /// Replaces the secrets in the end of an output. If its beginning is missing, the rest of a secret that was cut is left out.
    pub(crate) fn redact_end(&self, output: &[u8], is_cut: bool) -> String {
        let text = String::from_utf8_lossy(output);
        let from = if is_cut { text.ceil_char_boundary(self.longest_form().min(text.len())) } else { 0 };
        replace_spans(&text, &self.spans(&text), from)
    }

    /// Returns an upper bound for the length of an encoded secret.
    pub(crate) fn longest_form(&self) -> usize {
        MAX_BYTES_PER_BYTE * self.values.iter().map(String::len).max().unwrap_or(0)
    }

    /// Replaces the secrets in all strings, numbers and object keys of a value.
    pub fn redact_value(&self, value: &mut Value) {
        self.redact_tree(value, true);
    }

    fn redact_tree(&self, value: &mut Value, keys: bool) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.redact(text) {
                    *text = clean;
                }
            }
            Value::Number(number) => {
                if let Cow::Owned(clean) = self.redact(&number.to_string()) {
                    *value = Value::String(clean);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_tree(item, keys)),
            Value::Object(entries) => {
                for (name, mut item) in std::mem::take(entries) {
                    self.redact_tree(&mut item, keys);
                    let name = if keys { self.redact(&name).into_owned() } else { name };
                    entries.insert(name, item);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Replaces the secrets in anything that is stored as JSON.
    ///
    /// # Errors
    /// Fails if a secret cannot be replaced without making the item unreadable.
    pub fn redact_item<T: Serialize + DeserializeOwned>(&self, item: T) -> Result<T, SecretInFixedWord> {
        if self.search.is_none() {
            return Ok(item);
        }
        let value = serde_json::to_value(&item).map_err(|_| SecretInFixedWord)?;
        if !self.finds(&value.to_string()) {
            return Ok(item);
        }
        // A secret that is also the name of a field is replaced in values only.
        let read = |keys: bool| {
            let mut value = value.clone();
            self.redact_tree(&mut value, keys);
            serde_json::from_value(value)
        };
        read(true).or_else(|_| read(false)).map_err(|_| SecretInFixedWord)
    }

    /// Returns the places of secrets in a text, in order and apart.
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let Some(search) = &self.search else { return vec![] };
        let mut found = vec![];
        for view in readings(text) {
            search.find(&view, false, &mut found);
            if let Some(compact) = view.without_space() {
                search.find(&compact, true, &mut found);
            }
        }
        merge_spans(text, found)
    }
}

impl SecretSearch {
    fn new(values: &BTreeSet<String>) -> Option<Self> {
        let forms: Vec<SecretForm> = values.iter().flat_map(|value| secret_forms(value)).collect();
        let needles = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(forms.iter().map(|form| &form.bytes[..form.needle]));
        // Cannot fail: the patterns of a run are far fewer and shorter than the limit.
        let needles = needles.unwrap_or_else(|error| panic!("the secrets of a run can be searched for: {error}"));
        (!forms.is_empty()).then_some(Self { needles, forms })
    }

    /// Adds the places of all forms in a reading.
    fn find(&self, view: &TextView<'_>, without_space: bool, found: &mut Vec<Range<usize>>) {
        let bytes = view.bytes.as_ref();
        for hit in self.needles.find_overlapping_iter(bytes) {
            let form = &self.forms[hit.pattern().as_usize()];
            if without_space && !form.spaced {
                continue;
            }
            let rest = form.bytes[form.needle..].iter().zip(&bytes[hit.end()..]);
            let more = rest.take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
            let range = hit.start()..hit.end() + more;
            found.push(view.origin(if form.is_base64 && !without_space { with_shared_digits(bytes, range) } else { range }));
        }
    }
}

/// Returns the text and its readings with layers of escapes undone, each once.
fn readings(text: &str) -> Vec<TextView<'_>> {
    let mut all = vec![TextView::of_text(text)];
    let mut layer = 0..1;
    for _ in 0..MAX_ESCAPE_LAYERS {
        for n in layer.clone() {
            for kind in [EscapeKind::Backslash, EscapeKind::Percent] {
                let deeper = all[n].unescaped(kind).filter(|deeper| all.iter().all(|known| known.bytes != deeper.bytes));
                all.extend(deeper);
            }
        }
        layer = layer.end..all.len();
    }
    all
}

/// Extends a range of base64 by the digits at both ends that hold a part of the secret, and by the padding.
fn with_shared_digits(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let start = range.start - usize::from(range.start > 0 && is_digit(bytes[range.start - 1]));
    let end = range.end + usize::from(bytes.get(range.end).is_some_and(|byte| is_digit(*byte)));
    let padding = bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
    start..end + padding
}

/// Sorts spans, joins those that touch, and extends them to whole characters.
fn merge_spans(text: &str, mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|span| span.start);
    let mut merged: Vec<Range<usize>> = vec![];
    for span in found {
        let span = text.floor_char_boundary(span.start)..text.ceil_char_boundary(span.end);
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// Returns the text from `from` on, with the spans replaced.
fn replace_spans(text: &str, spans: &[Range<usize>], from: usize) -> String {
    let (mut out, mut at) = (String::new(), from);
    for span in spans.iter().filter(|span| span.end > from) {
        out.push_str(&text[at..span.start.max(at)]);
        out.push_str(REDACTED);
        at = span.end;
    }
    out + &text[at..]
}

/// Returns the names of the variables that an external agent is given by its subject file, without public ones.
pub(crate) fn passed_variables(file: &SubjectFile) -> impl Iterator<Item = &String> {
    let passed = file.external.iter().flat_map(|agent| &agent.env);
    passed.filter(|name| !PUBLIC_VARIABLES.contains(&name.as_str()))
}

impl fmt::Debug for SecretRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretRedactor").field("secrets", &self.values.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
