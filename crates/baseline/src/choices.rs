//! Matches word values: enum choices, flags and free text.

use crate::mentions::ParsedMessage;
use crate::param_slots::{EnumChoice, ParamSlot};
use serde_json::{Value, json};

/// Returns the choices of a parameter that the message names, best first.
pub(crate) fn matching_choices<'s>(said: &ParsedMessage, slot: &'s ParamSlot) -> Vec<&'s EnumChoice> {
    let mut found: Vec<(f64, usize, &EnumChoice)> = slot
        .choices
        .iter()
        .filter_map(|choice| {
            let (score, at) = match_choice(said, choice)?;
            Some((score, at, choice))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.into_iter().map(|(_, _, choice)| choice).collect()
}

/// Returns the share of a choice's words in the message and the position of the first. `None` unless more than half occur.
fn match_choice(said: &ParsedMessage, choice: &EnumChoice) -> Option<(f64, usize)> {
    let whole = said.words.iter().position(|word| !word.negated && word.lower == choice.lower && !word.is_stop_word());
    if let Some(at) = whole {
        return Some((2.0, at));
    }
    let places: Vec<usize> = choice
        .stems
        .iter()
        .filter_map(|stem| said.words.iter().position(|word| !word.negated && word.stem == *stem && !word.is_stop_word()))
        .collect();
    let share = places.len() as f64 / choice.stems.len().max(1) as f64;
    (share > 0.5).then(|| (share, places.into_iter().min().unwrap_or(0)))
}

/// Returns true if the message names the parameter, false if it negates it.
pub(crate) fn match_flag(said: &ParsedMessage, slot: &ParamSlot) -> Option<bool> {
    if slot.name_stems.is_empty() {
        return None;
    }
    let places: Vec<bool> =
        slot.name_stems.iter().map_while(|stem| said.words.iter().find(|word| word.stem == *stem).map(|word| word.negated)).collect();
    (places.len() == slot.name_stems.len()).then(|| !places.iter().any(|negated| *negated))
}

/// Returns quoted text, a name after "called" or "named", or a word with underscores after the name of the parameter.
pub(crate) fn match_text(said: &ParsedMessage, slot: &ParamSlot) -> Option<Value> {
    let quoted = quoted_texts(&said.text).into_iter().next();
    let named = || {
        let at =
            said.words.iter().position(|word| matches!(word.lower.as_str(), "called" | "named" | "titled" | "labelled" | "labeled"))?;
        let names: Vec<&str> = said.words[at + 1..]
            .iter()
            .take_while(|word| {
                word.clause == said.words[at].clause
                    && (word.raw.starts_with(char::is_uppercase) || word.raw.starts_with(|c: char| c.is_ascii_digit()))
            })
            .map(|word| word.raw.as_str())
            .collect();
        (!names.is_empty()).then(|| names.join(" "))
    };
    let wanted = |text: &String| text.chars().count() <= slot.longest;
    let introduced = || {
        let pair = said.words.windows(2).find(|pair| slot.name_stems.contains(&pair[0].stem) && pair[1].raw.contains('_'))?;
        Some(pair[1].raw.clone())
    };
    introduced().or(quoted).or_else(named).filter(wanted).map(|text| json!(text))
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
