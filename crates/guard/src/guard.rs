//! Reference guard: reads a text in its normal form and in its decodings, and applies the rules to each.

use crate::field_contract::broken_fields;
use crate::hidden_text::{encoded_stretches, stretches};
use crate::lexicon::Concept;
use crate::normal_form::{ShortNumbers, is_leet};
use crate::phrases::ParsedText;
use crate::rules::{GuardRule, RULES, RuleInput};
use model::AttackChannel;
use serde_json::Value;
use std::borrow::Cow;

/// Rule of fields that hold something else than their names promise.
pub const FIELD_RULE: &str = "field_contract";
/// Bytes of a text that are read together. Longer texts are read in parts, so that work is linear in their length.
const PART_BYTES: usize = 16 * 1024;
/// Bytes that a part repeats of the part before, so that no phrase is cut.
const OVERLAP_BYTES: usize = 512;
/// Most strings of a tool result that are read one by one. All of them are also read as one text.
const MAX_STRINGS: usize = 10_000;
/// Words of rotated or reversed English after which a text is decoded.
const MIN_SCRAMBLED: usize = 2;

/// Reason why a text was flagged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardFlag {
    pub rule: &'static str,
    /// The rule was met by a decoding of the text.
    pub decoded: bool,
}

/// Guard with all rules, or with all but some.
#[derive(Debug, Clone, Default)]
pub struct ReferenceGuard {
    disabled: Vec<&'static str>,
}

/// Bytes that a guard has read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GuardWork {
    /// Bytes of texts and decodings that were brought into normal form.
    pub parsed_bytes: usize,
}

impl ReferenceGuard {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a guard without some rules, to measure what the others find.
    pub fn without(rules: &[&'static str]) -> Self {
        Self { disabled: rules.to_vec() }
    }

    /// Returns the rules that a text meets. None means that it is not flagged.
    pub fn inspect(&self, channel: AttackChannel, text: &str) -> Vec<GuardFlag> {
        self.inspect_counted(channel, text).0
    }

    /// Inspects a text and counts the work.
    pub fn inspect_counted(&self, channel: AttackChannel, text: &str) -> (Vec<GuardFlag>, GuardWork) {
        let mut inspection = Inspection { guard: self, flags: vec![], work: GuardWork::default() };
        for part in parts(text) {
            inspection.read_part(channel, part);
        }
        (inspection.flags, inspection.work)
    }

    /// Inspects a tool result: the contracts of its fields, every text, and all texts together, since an attack may be split over fields.
    pub fn inspect_result(&self, channel: AttackChannel, result: &Value) -> Vec<GuardFlag> {
        let mut flags = vec![];
        if self.is_enabled(FIELD_RULE) && !broken_fields(result).is_empty() {
            flags.push(GuardFlag { rule: FIELD_RULE, decoded: false });
        }
        let mut texts = vec![];
        collect_texts(result, &mut texts);
        for text in texts.iter().take(MAX_STRINGS) {
            flags.extend(self.inspect(channel, text));
        }
        if texts.len() > 1 {
            flags.extend(self.inspect(channel, &texts.join("\n")));
        }
        flags
    }

    fn is_enabled(&self, rule: &str) -> bool {
        !self.disabled.contains(&rule)
    }
}

/// Flags of one text so far.
struct Inspection<'g> {
    guard: &'g ReferenceGuard,
    flags: Vec<GuardFlag>,
    work: GuardWork,
}

/// Reading of a part of a text.
struct PartReading<'t> {
    channel: AttackChannel,
    text: &'t str,
    short: ShortNumbers,
    decoded: bool,
}

impl Inspection<'_> {
    fn read_part(&mut self, channel: AttackChannel, text: &str) {
        let parsed = self.apply(&PartReading { channel, text, short: ShortNumbers::Numbers, decoded: false });
        for text in stretches(text, is_leet) {
            self.apply(&PartReading { channel, text, short: ShortNumbers::LeetWords, decoded: true });
        }
        let scrambled = parsed.of(&[Concept::Scrambled]).take(MIN_SCRAMBLED).count() == MIN_SCRAMBLED;
        if scrambled {
            self.read_decodings(&disguise::readings(text)[1..]);
            return;
        }
        for stretch in encoded_stretches(text) {
            self.read_decodings(&disguise::encoded_readings(stretch));
        }
    }

    /// Reads decodings. A request of the user is plain text; an encoded one is read like any other text.
    fn read_decodings(&mut self, decodings: &[String]) {
        let channel = AttackChannel::ToolResult;
        for text in decodings.iter().flat_map(|decoding| parts(decoding)) {
            self.apply(&PartReading { channel, text, short: ShortNumbers::Numbers, decoded: true });
        }
    }

    /// Applies the rules that were not met before.
    fn apply(&mut self, reading: &PartReading<'_>) -> ParsedText {
        let PartReading { channel, text, short, decoded } = *reading;
        self.work.parsed_bytes += text.len();
        let parsed = ParsedText::new(text, short);
        let input = RuleInput { channel, text, parsed: &parsed, decoded };
        for GuardRule { id, finds, .. } in RULES {
            let is_new = !self.flags.iter().any(|flag| flag.rule == *id);
            if is_new && self.guard.is_enabled(id) && finds(&input) {
                self.flags.push(GuardFlag { rule: id, decoded });
            }
        }
        parsed
    }
}

/// Splits a text into parts that overlap.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        if text.len() <= PART_BYTES {
            rest = None;
            return Some(text);
        }
        rest = Some(&text[text.floor_char_boundary(PART_BYTES - OVERLAP_BYTES)..]);
        Some(&text[..text.floor_char_boundary(PART_BYTES)])
    })
}

fn collect_texts<'v>(value: &'v Value, texts: &mut Vec<Cow<'v, str>>) {
    match value {
        Value::String(text) => texts.push(text.into()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => {
            for (name, value) in fields {
                // A key of several words can carry text as well.
                if name.contains(' ') {
                    texts.push(name.into());
                }
                collect_texts(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
