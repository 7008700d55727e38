//! Regular expressions read both ways: strings that match, and a check of those that must not.

use std::collections::HashMap;
use std::sync::Arc;

use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::dice::{Dice, Mood};

#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) source: String,
    hir: Hir,
    regex: Regex,
}

/// One schema often repeats a pattern (five addresses); compiling it is the dearest step of all.
#[derive(Debug, Default)]
pub(super) struct Patterns(HashMap<String, Arc<Pattern>>);

impl Patterns {
    pub(super) fn compile(&mut self, source: &str) -> Result<Arc<Pattern>, String> {
        if let Some(known) = self.0.get(source) {
            return Ok(Arc::clone(known));
        }
        let pattern = Arc::new(Pattern::new(source)?);
        self.0.insert(source.into(), Arc::clone(&pattern));
        Ok(pattern)
    }
}

impl Pattern {
    /// JSON Schema patterns are ECMA-262, where `\d` is ten digits and not every digit of Unicode.
    fn new(source: &str) -> Result<Self, String> {
        let rust = jsonschema_regex::to_rust_regex(source)
            .map_err(|()| format!("{source} is not a regular expression without look-around and back-references"))?;
        let regex = Regex::new(&rust).map_err(|error| error.to_string())?;
        let hir = regex_syntax::parse(&rust).map_err(|error| error.to_string())?;
        Ok(Self { source: source.into(), hir, regex })
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// A string that follows the expression; anchors inside it are not obeyed, so the caller checks.
    pub(super) fn draw(&self, dice: &mut Dice<'_>, reach: usize) -> String {
        let mut text = String::new();
        follow(&self.hir, dice, reach, &mut text);
        text
    }
}

fn follow(hir: &Hir, dice: &mut Dice<'_>, reach: usize, text: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => text.extend(one_of(class, dice)),
        HirKind::Repetition(repetition) => {
            for _ in 0..times(repetition, dice, reach) {
                follow(&repetition.sub, dice, reach, text);
            }
        }
        HirKind::Capture(capture) => follow(&capture.sub, dice, reach, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| follow(part, dice, reach, text)),
        HirKind::Alternation(branches) => follow(dice.pick(branches), dice, reach, text),
    }
}

/// `reach` is how far beyond the minimum an open repetition may go.
fn times(repetition: &Repetition, dice: &mut Dice<'_>, reach: usize) -> usize {
    let min = repetition.min as usize;
    let max = repetition.max.map_or(min + reach, |max| (max as usize).min(min + reach.max(64)));
    match dice.mood {
        Mood::Smallest => min,
        Mood::Largest | Mood::Long => max,
        Mood::Foreign | Mood::Mixed => dice.length(min, max),
    }
}

fn one_of(class: &Class, dice: &mut Dice<'_>) -> Option<char> {
    match class {
        Class::Unicode(class) => {
            let ranges = class.ranges();
            let range = ranges.get(dice.below(ranges.len()))?;
            let (low, mut high) = (range.start() as u32, range.end() as u32);
            // Wide classes are mostly unassigned code points; people type ASCII.
            if low <= '~' as u32 && high > '~' as u32 && dice.mood != Mood::Foreign {
                high = '~' as u32;
            }
            let floor = if low < ' ' as u32 && high >= ' ' as u32 { ' ' as u32 } else { low };
            let code = floor + dice.below((high - floor) as usize + 1) as u32;
            // The gap of the surrogates lies inside a range, never at its start.
            Some(char::from_u32(code).unwrap_or(range.start()))
        }
        Class::Bytes(class) => {
            let ranges = class.ranges();
            let range = ranges.get(dice.below(ranges.len()))?;
            Some(char::from(range.start() + dice.below(usize::from(range.end() - range.start()) + 1) as u8))
        }
    }
}
