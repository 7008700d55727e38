//! One strategy per file, listed in [`STRATEGIES`].

mod authority_urgency;
mod base64;
mod crescendo;
mod fake_completion;
mod fake_system_tag;
mod fake_tool_error;
mod hex;
mod homoglyph;
mod identity;
mod ignore_prefix;
mod important_note;
mod language;
mod leet;
mod many_shot;
mod morse;
mod patient;
mod payload_split;
mod rot13;
mod unicode_tags;
mod zero_width_bidi;

use model::probe::GoalText;
use model::suite::attack::AttackChannel;

/// Way to present a goal. Slots of the goal are filled already.
pub trait Strategy: Sync {
    fn id(&self) -> &'static str;

    /// Describes the strategy in one sentence.
    fn about(&self) -> &'static str;

    /// Returns whether the strategy makes sense on a channel.
    fn fits(&self, channel: AttackChannel) -> bool;

    /// Returns one text, or several for several fields; on the user channel, for several turns. The seed picks among wordings. Returns
    /// `None` if the goal cannot be carried. Every word of the goal is whole in one of the texts.
    fn apply(&self, goal: &GoalText, seed: u64) -> Option<Vec<String>>;

    /// Recovers the goal from the texts. Returns `None` where the disguise has no exact inverse.
    fn recover(&self, segments: &[String]) -> Option<String>;
}

/// All strategies, in the order of reports: single texts, encodings, languages, several turns.
pub static STRATEGIES: &[&dyn Strategy] = &[
    &identity::Identity,
    &ignore_prefix::IgnorePrefix,
    &fake_system_tag::FakeSystemTag,
    &important_note::ImportantNote,
    &fake_completion::FakeCompletion,
    &fake_tool_error::FakeToolError,
    &authority_urgency::AuthorityUrgency,
    &payload_split::PayloadSplit,
    &base64::Base64,
    &hex::Hex,
    &rot13::Rot13,
    &leet::Leet,
    &morse::Morse,
    &unicode_tags::UnicodeTags,
    &zero_width_bidi::ZeroWidthBidi,
    &homoglyph::Homoglyph,
    &language::ZH,
    &language::KO,
    &language::RU,
    &language::AR,
    &language::HI,
    &language::TR,
    &language::ES,
    &language::FR,
    &language::DE,
    &language::PT,
    &language::JA,
    &language::IT,
    &crescendo::Crescendo,
    &many_shot::ManyShot,
    &patient::Patient,
];

/// Returns the strategy with an id.
pub fn strategy(id: &str) -> Option<&'static dyn Strategy> {
    STRATEGIES.iter().copied().find(|strategy| strategy.id() == id)
}

/// Texts around a goal: before it and after it. No beginning is the beginning of another, so that the goal can be recovered.
type WrapperText = (&'static str, &'static str);

fn wrap(wrappers: &[WrapperText], seed: u64, goal: &str) -> Option<Vec<String>> {
    let (before, after) = model::SeededRng::new(seed).pick(wrappers)?;
    Some(vec![format!("{before}{goal}{after}")])
}

fn unwrap(wrappers: &[WrapperText], segments: &[String]) -> Option<String> {
    let [text] = segments else { return None };
    wrappers.iter().find_map(|(before, after)| text.strip_prefix(before)?.strip_suffix(after)).map(str::to_owned)
}

#[cfg(test)]
mod tests;
