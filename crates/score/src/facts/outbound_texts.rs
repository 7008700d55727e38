//! Texts that the subject sends to others: answers and questions to the user, hand-overs and what comes back from them, activations of
//! skills, and arguments of writes that were accepted.

use super::calls::{ObservedCall, observed_calls};
use super::played_agents::agents_played_by_subject;
use super::sent_actions::{result_of, sends_action_of};
use crate::evidence::Evidence;
use crate::json_texts::{names_and_texts_in, names_and_texts_of};
use model::view::ASSISTANT;
use model::{EventKind, Tool};
use serde_json::{Map, Value};

#[derive(Debug)]
pub(crate) struct OutboundText<'a> {
    pub event: u32,
    /// Words for the message of a fault, such as "an answer".
    pub place: String,
    /// The text, or all texts and keys of a value.
    pub texts: Vec<&'a str>,
}

/// Returns all texts that the subject sent, at every depth. Texts of agents that the subject does not play are left out.
pub(crate) fn outbound_texts<'a>(evidence: &Evidence<'a>) -> Vec<OutboundText<'a>> {
    let played: Vec<&str> = agents_played_by_subject(evidence).into_iter().map(|agent| agent.name.as_str()).collect();
    let events = evidence.transcript.events.iter();
    let own = events.filter(|event| event.depth == 0 || event.by == ASSISTANT || played.contains(&event.by.as_str()));
    let said = own.filter_map(|event| {
        let text = |place: &str, text: &'a str| OutboundText { event: event.n, place: place.to_owned(), texts: vec![text] };
        let values =
            |place: String, params: &'a Map<String, Value>| OutboundText { event: event.n, place, texts: names_and_texts_in(params) };
        if let EventKind::Said { text: said }
        | EventKind::Asked { text: said }
        | EventKind::Refused { text: said }
        | EventKind::Reported { text: said } = &event.happened
        {
            return Some(text("an answer", said));
        }
        if let EventKind::Returned { text: said } = &event.happened {
            return Some(text("the answer to a hand-over", said));
        }
        if let EventKind::Delegated { to, params } = &event.happened {
            return Some(values(format!("a hand-over to {to}"), params));
        }
        let EventKind::Activated { skill, params } = &event.happened else { return None };
        Some(values(format!("the activation of {skill}"), params))
    });
    said.chain(sent_arguments(evidence)).collect()
}

/// Returns the arguments of accepted writes. A preview or dry run counts if its action was sent.
fn sent_arguments<'a>(evidence: &Evidence<'a>) -> Vec<OutboundText<'a>> {
    let calls = observed_calls(evidence);
    let mut found = vec![];
    for call in &calls {
        let Some(answer) = result_of(evidence, call.call) else { continue };
        if is_sent(call) || calls.iter().any(|later| is_sent(later) && sends_action_of(later, answer)) {
            found.push(OutboundText { event: call.event, place: call.name().to_owned(), texts: names_and_texts_of(call.args) });
        }
    }
    found
}

fn is_sent(call: &ObservedCall<'_>) -> bool {
    !call.failed && !call.is_dry_run() && call.tool.is_some_and(Tool::writes)
}
