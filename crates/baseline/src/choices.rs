//! Matches word values: enum choices, flags and free text.

use crate::mentions::ParsedMessage;
use crate::param_slots::{EnumChoice, ParamSlot};
use serde_json::{Value, json};

/// Returns the choices of a parameter that the message names, best first.
pub(crate) fn matching_choices<'s>(message: &ParsedMessage, slot: &'s ParamSlot) -> Vec<&'s EnumChoice> {
    let mut found: Vec<(f64, usize, &EnumChoice)> = slot
        .choices
        .iter()
        .filter_map(|choice| {
            let (score, at) = match_choice(message, choice)?;
            Some((score, at, choice))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.into_iter().map(|(_, _, choice)| choice).collect()
}

/// Returns a score and the position of the first matching word. The score is 2 if a word equals the whole choice, otherwise the share of
/// the choice's stems in the message; `None` unless more than half occur.
fn match_choice(message: &ParsedMessage, choice: &EnumChoice) -> Option<(f64, usize)> {
    let exact = message.words.iter().position(|word| !word.negated && word.lower == choice.lower && !word.is_stop_word());
    if let Some(at) = exact {
        return Some((2.0, at));
    }
    let places: Vec<usize> = choice
        .stems
        .iter()
        .filter_map(|stem| message.words.iter().position(|word| !word.negated && word.stem == *stem && !word.is_stop_word()))
        .collect();
    let share = places.len() as f64 / choice.stems.len().max(1) as f64;
    (share > 0.5).then(|| (share, places.into_iter().min().unwrap_or(0)))
}

/// Returns true if the message names the parameter, false if it negates it, `None` if a word of the name is absent.
pub(crate) fn match_flag(message: &ParsedMessage, slot: &ParamSlot) -> Option<bool> {
    if slot.name_stems.is_empty() {
        return None;
    }
    let negations: Vec<bool> =
        slot.name_stems.iter().map_while(|stem| message.words.iter().find(|word| word.stem == *stem).map(|word| word.negated)).collect();
    (negations.len() == slot.name_stems.len()).then(|| !negations.iter().any(|negated| *negated))
}

/// Returns the first of: a word with underscores after the name of the parameter, quoted text, a name after "called" or "named".
/// `None` if it is longer than the schema allows.
pub(crate) fn match_text(message: &ParsedMessage, slot: &ParamSlot) -> Option<Value> {
    let quoted = quoted_texts(&message.text).into_iter().next();
    let after_called = || {
        let at =
            message.words.iter().position(|word| matches!(word.lower.as_str(), "called" | "named" | "titled" | "labelled" | "labeled"))?;
        let names: Vec<&str> = message.words[at + 1..]
            .iter()
            .take_while(|word| {
                word.clause == message.words[at].clause
                    && (word.raw.starts_with(char::is_uppercase) || word.raw.starts_with(|c: char| c.is_ascii_digit()))
            })
            .map(|word| word.raw.as_str())
            .collect();
        (!names.is_empty()).then(|| names.join(" "))
    };
    let fits = |text: &String| text.chars().count() <= slot.max_chars;
    let after_param_name = || {
        let pair = message.words.windows(2).find(|pair| slot.name_stems.contains(&pair[0].stem) && pair[1].raw.contains('_'))?;
        Some(pair[1].raw.clone())
    };
    after_param_name().or(quoted).or_else(after_called).filter(fits).map(|text| json!(text))
}

/// Returns the texts between quotation marks.
pub(crate) fn quoted_texts(text: &str) -> Vec<String> {
    let mut found = vec![];
    for (open, close) in [('"', '"'), ('“', '”'), ('«', '»')] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inside, after)) = after.split_once(close) else { break };
            found.push(inside.trim_end_matches(['.', ',']).to_owned());
            rest = after;
        }
    }
    found.retain(|text| !text.is_empty());
    found
}
