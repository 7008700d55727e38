//! Cues around a mention: parameter names in neighbouring words, and the side that a preposition indicates.

use crate::mention_value::MentionValue;
use crate::mentions::{ParsedMessage, TypedMention};
use crate::param_slots::ParamSlot;
use model::{AddressRole, ChainRole, ParamKind, TokenRole};

/// Side of a transfer or trade that the preposition before a mention indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhraseSide {
    /// Received side: after for, into, to.
    Toward,
    /// Given side: after from, with, using.
    Away,
    /// No preposition found.
    Unknown,
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

/// Returns the side of the nearest preposition among the five words before a mention, skipping fillers.
pub(crate) fn phrase_side(message: &ParsedMessage, mention: &TypedMention) -> PhraseSide {
    let before = message.words[..mention.start].iter().rev().take(5);
    let mut previous = None;
    for word in before {
        match word.lower.as_str() {
            "for" | "into" | "to" | "onto" | "toward" | "towards" => return PhraseSide::Toward,
            // "to them on Base": "on" is skipped, so that the preposition before it decides.
            "on" if previous.is_none() => previous = Some("on"),
            "from" | "with" | "using" | "against" => return PhraseSide::Away,
            "out" if previous == Some("of") => return PhraseSide::Away,
            "of" => previous = Some("of"),
            filler if is_filler(filler) => {}
            _ => return PhraseSide::Unknown,
        }
    }
    PhraseSide::Unknown
}

/// Returns the weight of the strongest cue word of the parameter within six words of the mention, reduced by distance.
pub(crate) fn name_score(message: &ParsedMessage, slot: &ParamSlot, mention: &TypedMention) -> f64 {
    let sentence = message.words.get(mention.start).map_or(0, |word| word.sentence);
    let mut best: f64 = 0.0;
    for (at, word) in message.words.iter().enumerate() {
        let distance = if at < mention.start {
            mention.start - at
        } else if at >= mention.end {
            at - mention.end + 2
        } else {
            continue;
        };
        if distance > 6 || word.sentence != sentence || word.is_stop_word() {
            continue;
        }
        if let Some(weight) = slot.cues.get(&word.stem) {
            // A mention of the same type in between probably owns the word.
            let closer_mention = message.mentions.iter().any(|other| {
                std::mem::discriminant(&other.value) == std::mem::discriminant(&mention.value)
                    && if at < mention.start {
                        other.start > at && other.end <= mention.start
                    } else {
                        other.start >= mention.end && other.end <= at
                    }
            });
            let share = if closer_mention { 0.2 } else { 1.0 };
            best = best.max(share * weight / (1.0 + 0.35 * (distance as f64 - 1.0)));
        }
    }
    best
}

/// Scores the side of the preposition against the role of the parameter; 0 if the role has no side.
pub(crate) fn side_score(kind: &ParamKind, side: PhraseSide) -> f64 {
    let expected = match kind {
        ParamKind::Token(Some(TokenRole::Out)) => PhraseSide::Toward,
        ParamKind::Token(Some(TokenRole::In)) => PhraseSide::Away,
        ParamKind::Chain(Some(ChainRole::Destination)) => PhraseSide::Toward,
        ParamKind::Chain(Some(ChainRole::Source)) => PhraseSide::Away,
        ParamKind::Address(AddressRole::Recipient) => PhraseSide::Toward,
        _ => return 0.0,
    };
    match (side, expected) {
        (PhraseSide::Unknown, _) => 0.0,
        (side, expected) if side == expected => 1.2,
        _ => -1.0,
    }
}

/// Returns the mention index and symbol of the token that a number counts: "250 USDC", "0.2 of my plain ETH", but none for "60 of them".
pub(crate) fn counted_token<'s>(message: &'s ParsedMessage, mention: &TypedMention) -> Option<(usize, &'s str)> {
    if !matches!(mention.value, MentionValue::Number(_) | MentionValue::All | MentionValue::Fraction(_)) {
        return None;
    }
    let clause = message.words.get(mention.start)?.clause;
    message.mentions.iter().enumerate().find_map(|(at, other)| {
        let MentionValue::Token(symbol) = &other.value else { return None };
        let near = other.start >= mention.end && other.start - mention.end <= 4;
        let between = message.words.get(mention.end..other.start)?;
        let connected = between.iter().all(|word| is_filler(&word.lower) || !word.is_stop_word()) && between.len() <= 4;
        let same_clause = message.words.get(other.start).is_some_and(|word| word.clause == clause);
        let other_number =
            message.mentions.iter().any(|m| m.start >= mention.end && m.start < other.start && matches!(m.value, MentionValue::Number(_)));
        (near && connected && same_clause && !other_number).then_some((at, symbol.as_str()))
    })
}
