//! Cues around a mention: parameter names in neighbouring words, and the side that a preposition indicates.

use crate::mention_value::MentionValue;
use crate::mentions::{ParsedMessage, TypedMention};
use crate::param_slots::ParamSlot;
use model::{AddressRole, ChainRole, ParamKind, TokenRole};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhraseSide {
    /// After for, into, to.
    Toward,
    /// After from, with, using.
    Away,
    Unsaid,
}

/// Reports whether a word may occur between a preposition and its mention.
fn is_filler(lower: &str) -> bool {
    matches!(
        lower,
        "my" | "our"
            | "the"
            | "some"
            | "of"
            | "a"
            | "an"
            | "it"
            | "them"
            | "over"
            | "about"
            | "around"
            | "exactly"
            | "more"
            | "plain"
            | "its"
    ) || lower.starts_with(|c: char| c.is_ascii_digit() || c == '$')
}

pub(crate) fn phrase_side(said: &ParsedMessage, mention: &TypedMention) -> PhraseSide {
    let before = said.words[..mention.from].iter().rev().take(5);
    let mut seen = None;
    for word in before {
        match word.lower.as_str() {
            "for" | "into" | "to" | "onto" | "toward" | "towards" => return PhraseSide::Toward,
            // "over on Base", "to sit on Base": the preposition before "on" decides.
            "on" if seen.is_none() => seen = Some("on"),
            "from" | "with" | "using" | "against" => return PhraseSide::Away,
            "out" if seen == Some("of") => return PhraseSide::Away,
            "of" => seen = Some("of"),
            light if is_filler(light) => {}
            _ => return PhraseSide::Unsaid,
        }
    }
    PhraseSide::Unsaid
}

/// Returns the score of neighbouring words that name this parameter; nearer ones count more.
pub(crate) fn name_score(said: &ParsedMessage, slot: &ParamSlot, mention: &TypedMention) -> f64 {
    let sentence = said.words.get(mention.from).map_or(0, |word| word.sentence);
    let mut pull: f64 = 0.0;
    for (at, word) in said.words.iter().enumerate() {
        let distance = if at < mention.from {
            mention.from - at
        } else if at >= mention.to {
            at - mention.to + 2
        } else {
            continue;
        };
        if distance > 6 || word.sentence != sentence || word.is_stop_word() {
            continue;
        }
        if let Some(weight) = slot.cues.get(&word.stem) {
            // A mention of the same type in between probably owns the word.
            let barred = said.mentions.iter().any(|other| {
                std::mem::discriminant(&other.what) == std::mem::discriminant(&mention.what)
                    && if at < mention.from {
                        other.from > at && other.to <= mention.from
                    } else {
                        other.from >= mention.to && other.to <= at
                    }
            });
            let share = if barred { 0.2 } else { 1.0 };
            pull = pull.max(share * weight / (1.0 + 0.35 * (distance as f64 - 1.0)));
        }
    }
    pull
}

/// Returns the score that the preposition adds for a parameter with a side.
pub(crate) fn side_score(kind: &ParamKind, side: PhraseSide) -> f64 {
    let wants = match kind {
        ParamKind::Token(Some(TokenRole::Out)) => PhraseSide::Toward,
        ParamKind::Token(Some(TokenRole::In)) => PhraseSide::Away,
        ParamKind::Chain(Some(ChainRole::Destination)) => PhraseSide::Toward,
        ParamKind::Chain(Some(ChainRole::Source)) => PhraseSide::Away,
        ParamKind::Address(AddressRole::Recipient) => PhraseSide::Toward,
        _ => return 0.0,
    };
    match (side, wants) {
        (PhraseSide::Unsaid, _) => 0.0,
        (said, wanted) if said == wanted => 1.2,
        _ => -1.0,
    }
}

/// Returns the token that a number counts: "250 USDC", "0.2 of my plain ETH", but none for "60 of them".
pub(crate) fn counted_token<'s>(said: &'s ParsedMessage, mention: &TypedMention) -> Option<(usize, &'s str)> {
    if !matches!(mention.what, MentionValue::Number(_) | MentionValue::All | MentionValue::Part(_)) {
        return None;
    }
    let clause = said.words.get(mention.from)?.clause;
    said.mentions.iter().enumerate().find_map(|(at, other)| {
        let MentionValue::Token(symbol) = &other.what else { return None };
        let near = other.from >= mention.to && other.from - mention.to <= 4;
        let between = said.words.get(mention.to..other.from)?;
        let joined = between.iter().all(|word| is_filler(&word.lower) || !word.is_stop_word()) && between.len() <= 4;
        let same = said.words.get(other.from).is_some_and(|word| word.clause == clause);
        let other_number =
            said.mentions.iter().any(|m| m.from >= mention.to && m.from < other.from && matches!(m.what, MentionValue::Number(_)));
        (near && joined && same && !other_number).then_some((at, symbol.as_str()))
    })
}
