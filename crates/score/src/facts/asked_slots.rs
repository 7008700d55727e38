//! Values that the subject asked the user for, read off the words of its questions.

use super::delegations::takes_turn;
use super::turns::fact_revealed_at;
use super::user_questions::question_in;
use crate::evidence::Evidence;
use lexical::{FoldMode, TermSplit, contains_phrase, stems};
use model::suite::CaseSurface;
use model::{ParamKind, ParamSpec};
use serde_json::Value;

/// Words of descriptions that fit a question for nearly anything.
const GENERAL_WORDS: &[&str] =
    &["token", "chain", "amount", "address", "name", "value", "agent", "whole", "number", "default", "id", "list"];

/// Returns the event of the first question for a value, or `None` if no question asks for it. A question that a persona answered with the
/// fact of this name asks for it.
pub(crate) fn asked_at(evidence: &Evidence<'_>, slot: &str) -> Option<u32> {
    let words = SlotWords::of(evidence, slot);
    let by_words = evidence.transcript.events.iter().find_map(|event| words.occur_in(&question_in(event)?).then_some(event.n));
    by_words.into_iter().chain(answered_question(evidence, slot)).min()
}

/// Returns the question that made a persona reveal a fact: the latest move before it.
fn answered_question(evidence: &Evidence<'_>, fact: &str) -> Option<u32> {
    let revealed = fact_revealed_at(evidence, fact, false)?;
    let moves = evidence.transcript.events.iter().take_while(|event| event.n < revealed).filter(|event| takes_turn(event));
    moves.last().filter(|event| question_in(event).is_some()).map(|event| event.n)
}

/// Words that a question for a value has: those of its name, kind, choices and description, and those that the case lists.
struct SlotWords {
    phrases: Vec<String>,
    stems: Vec<String>,
}

impl SlotWords {
    fn of(evidence: &Evidence<'_>, slot: &str) -> Self {
        let mut phrases: Vec<String> = evidence.case.expect.ask_words.get(slot).cloned().unwrap_or_default();
        let mut found = stems(slot, TermSplit::Catalogue);
        if let Some(param) = slot_param(evidence, slot) {
            phrases.extend(param.kind.iter().flat_map(kind_phrases).map(|phrase| (*phrase).to_owned()));
            let choices = param.schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            phrases.extend(choices.map(str::to_owned));
            let general: Vec<String> = GENERAL_WORDS.iter().map(|word| lexical::stem(word)).collect();
            found.extend(stems(&param.description, TermSplit::Conversation).into_iter().filter(|stem| !general.contains(stem)));
        }
        Self { phrases, stems: found }
    }

    fn occur_in(&self, question: &str) -> bool {
        let asked = stems(question, TermSplit::Catalogue);
        self.phrases.iter().any(|phrase| contains_phrase(question, phrase, FoldMode::Punctuation))
            || self.stems.iter().any(|stem| asked.contains(stem))
    }
}

/// Returns the parameter with this name: of the expected skill, or of a tool that the subject has.
fn slot_param<'a>(evidence: &Evidence<'a>, slot: &str) -> Option<&'a ParamSpec> {
    let workspace = evidence.workspace;
    if let Some(skill) = evidence.case.expect.skill.as_ref().and_then(|skill| workspace.skill(skill)) {
        return skill.params.get(slot);
    }
    let tools: Vec<&str> = match &evidence.case.brief.surface {
        CaseSurface::Agent(name) => workspace.agent(name)?.tools.iter().map(|tool| tool.as_str()).collect(),
        CaseSurface::Profile(_) => workspace.tools.iter().map(|tool| tool.name.as_str()).collect(),
        CaseSurface::Skills => vec![],
    };
    tools.into_iter().filter_map(|name| workspace.tool(name)).find_map(|tool| tool.params.get(slot))
}

/// Phrases in questions for a value of this kind.
fn kind_phrases(kind: &ParamKind) -> &'static [&'static str] {
    match kind {
        ParamKind::Amount { .. } => &[
            "how much",
            "how many",
            "amount",
            "size",
            "quantity",
            "sum",
            "what part",
            "part of it",
            "what portion",
            "which portion",
            "what figure",
            "which figure",
            "at least",
            "at most",
            "cost",
        ],
        ParamKind::Token(_) => &["token", "coin", "asset", "currency", "symbol"],
        ParamKind::Chain(_) => &["chain", "network"],
        ParamKind::Address(_) => &["address", "to whom", "who", "wallet", "recipient"],
        ParamKind::Bps => &["slippage", "basis points", "percent", "tolerance", "how much"],
        ParamKind::Percent | ParamKind::Ratio => {
            &["percent", "percentage", "what share", "which share", "how much", "what part", "part of it", "weights"]
        }
        ParamKind::Price(_) | ParamKind::Tick(_) => &["price", "prices", "range", "level"],
        ParamKind::Deadline | ParamKind::Duration(_) | ParamKind::Timestamp => &["by when", "until when", "how long", "when"],
        ParamKind::Count | ParamKind::Number => &["how many", "what number"],
        ParamKind::FeeTier => &["fee"],
        ParamKind::Id(_)
        | ParamKind::Flag
        | ParamKind::Enum
        | ParamKind::Text
        | ParamKind::Data
        | ParamKind::Url
        | ParamKind::Object
        | ParamKind::List(_) => &[],
    }
}
