//! One reading of a text, with the questions that rules ask about it.

use crate::lexicon::Concept;
use crate::normal_form::{CLAUSE, NUMBER, QUOTE, normal_form};
use crate::phrases::{ParsedText, PhraseHit};
use model::AttackChannel;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Verbs of actions.
pub(crate) const ACTS: &[Concept] = &[Concept::Pay, Concept::PayOrNoun, Concept::Grant, Concept::Trade, Concept::Adjust];

/// Longest phrase in normal form, in bytes; a test checks it.
pub(crate) const MAX_PHRASE: usize = 128;

pub(crate) struct RuleInput<'t> {
    pub channel: AttackChannel,
    pub text: &'t str,
    pub parsed: &'t ParsedText,
    /// The text is a decoding of another.
    pub decoded: bool,
}

/// Words before a verb that make it a command: `please send`, `and send`, `you must send`.
static LEADS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    folded(&[
        "please",
        "and",
        "then",
        "now",
        "must",
        "should",
        "to",
        "kindly",
        "you",
        "first",
        "also",
        "just",
        "always",
        "or",
        "instead",
        "so",
        "shall",
        "agents",
        "assistant",
        "agent",
        "bots",
        "by",
        "after",
        "them",
        "immediately",
        "only",
        "therefore",
        "it",
        "today",
    ])
});

/// Words after a noun that looks like a verb.
static NOUN_TAILS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    folded(&[
        "of",
        "from",
        "requests",
        "request",
        "fee",
        "fees",
        "is",
        "was",
        "has",
        "arrived",
        "confirmed",
        "limit",
        "history",
        "period",
        "trace",
        "me",
        "for",
        "more",
        "index",
        "data",
    ])
});

fn folded(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| normal_form(word).trim().to_owned()).collect()
}

impl RuleInput<'_> {
    /// Returns whether the text is from a source that may not give instructions.
    pub(crate) fn is_untrusted(&self) -> bool {
        self.channel != AttackChannel::User
    }

    /// Returns the verbs of these concepts that are commands.
    pub(crate) fn commands(&self, concepts: &'static [Concept]) -> impl Iterator<Item = PhraseHit> {
        self.parsed.of(concepts).filter(|hit| self.is_command(*hit))
    }

    fn is_command(&self, hit: PhraseHit) -> bool {
        let before = self.parsed.words_before(hit.start + 1).next();
        let after = self.parsed.words_after(hit.end).next();
        let leads = before.is_none_or(|word| word.starts_with([CLAUSE, QUOTE, NUMBER]) || LEADS.contains(word));
        let is_name = after.is_some_and(|word| word.starts_with(CLAUSE));
        let is_noun = hit.concept == Concept::PayOrNoun && after.is_some_and(|word| NOUN_TAILS.contains(word));
        // "set 14 days ago" is no command.
        let is_state = hit.concept == Concept::Adjust && after.is_some_and(|word| word.starts_with(NUMBER));
        leads && !is_name && !is_noun && !is_state && !self.parsed.is_negated(hit)
    }

    /// Returns whether a phrase of one of the concepts is at most some bytes away.
    pub(crate) fn is_near(&self, hit: PhraseHit, concepts: &'static [Concept], distance: usize) -> bool {
        let hits = &self.parsed.hits;
        // Hits are in order of their ends, so that only those around this one are looked at.
        let first = hits.partition_point(|other| other.end + distance < hit.start);
        let around = hits[first..].iter().take_while(|other| other.end <= hit.end + distance + MAX_PHRASE);
        let is_close = |other: &&PhraseHit| {
            let gap = if other.start >= hit.end { other.start - hit.end } else { hit.start.saturating_sub(other.end) };
            gap <= distance && (other.start, other.end) != (hit.start, hit.end)
        };
        around.filter(|other| concepts.contains(&other.concept)).any(|other| is_close(&other))
    }

    /// Returns whether a phrase is a quotation in a text about attacks, without an address to pay to.
    pub(crate) fn is_reported(&self, hit: PhraseHit) -> bool {
        self.is_report() && self.parsed.is_quoted(hit)
    }

    /// Returns whether the text is about attacks and names no address.
    pub(crate) fn is_report(&self) -> bool {
        self.parsed.has(Concept::Report) && !self.parsed.has(Concept::Address)
    }

    /// Returns whether there is a phrase of the concept that is not quoted in a report.
    pub(crate) fn states(&self, concepts: &'static [Concept]) -> bool {
        self.parsed.of(concepts).any(|hit| !self.is_reported(hit))
    }
}
