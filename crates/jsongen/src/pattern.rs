//! Regular expressions: drawing strings that match, and matching.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use crate::random::{SampleRng, SampleStyle};

/// Compiled pattern of a string schema.
#[derive(Debug)]
pub(crate) struct StringPattern {
    hir: Hir,
    regex: Regex,
}

/// Reason why a pattern cannot be compiled.
#[derive(Debug)]
pub(crate) enum PatternDefect {
    /// Look-around, back-references, or not a regular expression.
    Unsupported(String),
    Regex(String),
}

impl fmt::Display for PatternDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PatternDefect::Unsupported(source) => {
                write!(f, "{source} is not a supported regular expression (no look-around or back-references)")
            }
            PatternDefect::Regex(why) => f.write_str(why),
        }
    }
}

/// Compiled patterns by source. Schemas often repeat a pattern, and compiling is the most expensive step.
#[derive(Debug, Default)]
pub(crate) struct PatternCache(HashMap<String, Arc<StringPattern>>);

impl PatternCache {
    pub(crate) fn compile(&mut self, source: &str) -> Result<Arc<StringPattern>, PatternDefect> {
        if let Some(known) = self.0.get(source) {
            return Ok(Arc::clone(known));
        }
        let pattern = Arc::new(StringPattern::new(source)?);
        self.0.insert(source.into(), Arc::clone(&pattern));
        Ok(pattern)
    }
}

impl StringPattern {
    /// Compiles an ECMA-262 pattern, where `\d` is ASCII only.
    fn new(source: &str) -> Result<Self, PatternDefect> {
        let translated = jsonschema_regex::to_rust_regex(source).map_err(|()| PatternDefect::Unsupported(source.to_owned()))?;
        let regex = Regex::new(&translated).map_err(|error| PatternDefect::Regex(error.to_string()))?;
        let hir = regex_syntax::parse(&translated).map_err(|error| PatternDefect::Regex(error.to_string()))?;
        Ok(Self { hir, regex })
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns a random string that matches the expression without its anchors, so the caller must check the result.
    pub(crate) fn draw(&self, random: &mut SampleRng, max_extra: usize) -> String {
        let mut text = String::new();
        push_match(&self.hir, random, max_extra, &mut text);
        text
    }
}

fn push_match(hir: &Hir, random: &mut SampleRng, max_extra: usize, text: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => text.extend(random_char(class, random)),
        HirKind::Repetition(repetition) => {
            for _ in 0..repetition_count(repetition, random, max_extra) {
                push_match(&repetition.sub, random, max_extra, text);
            }
        }
        HirKind::Capture(capture) => push_match(&capture.sub, random, max_extra, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| push_match(part, random, max_extra, text)),
        HirKind::Alternation(branches) => push_match(random.pick(branches), random, max_extra, text),
    }
}

/// Draws a repetition count. An unbounded repetition exceeds its minimum by at most `max_extra`, a bounded one by at most the larger of
/// `max_extra` and 64.
fn repetition_count(repetition: &Repetition, random: &mut SampleRng, max_extra: usize) -> usize {
    let min = repetition.min as usize;
    let max = repetition.max.map_or(min + max_extra, |max| (max as usize).min(min + max_extra.max(64)));
    match random.style {
        SampleStyle::Smallest => min,
        SampleStyle::Largest | SampleStyle::Long => max,
        SampleStyle::NonAscii | SampleStyle::Mixed | SampleStyle::Typical => random.length(min, max),
    }
}

fn random_char(class: &Class, random: &mut SampleRng) -> Option<char> {
    let class = match class {
        Class::Unicode(class) => class.clone(),
        Class::Bytes(class) => class.to_unicode_class()?,
    };
    let range = class.ranges().get(random.below(class.ranges().len()))?;
    let (low, mut high) = (range.start() as u32, range.end() as u32);
    // Wide classes are mostly unassigned code points; real text is mostly ASCII.
    if low <= '~' as u32 && high > '~' as u32 && random.style != SampleStyle::NonAscii {
        high = '~' as u32;
    }
    let floor = if low < ' ' as u32 && high >= ' ' as u32 { ' ' as u32 } else { low };
    let code = floor + random.below((high - floor) as usize + 1) as u32;
    // Surrogates may lie inside a range, never at its start.
    Some(char::from_u32(code).unwrap_or(range.start()))
}
