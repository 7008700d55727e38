//! Distinguishes new calls from repeated ones by canonical tool, typed arguments and epoch.

use super::calls::{ObservedCall, observed_calls};
use crate::compare::{TypedArgs, ValueMeaning};
use crate::evidence::Evidence;
use model::EventKind;
use model::transcript::ToolAnswer;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyedCall<'a> {
    pub made: ObservedCall<'a>,
    /// Made by a verifier, which repeats calls of others on purpose.
    pub verifies: bool,
    /// First call with this key in the epoch, not counting verifiers.
    pub is_new: bool,
    /// No earlier call with this key had this answer.
    pub is_new_answer: bool,
    pub answered: bool,
}

type CallIdentity<'a> = (&'a str, Vec<(&'a str, ValueMeaning)>);

/// Latest new call with a key.
struct LastRequest {
    epoch: u32,
    at_ms: u64,
}

/// Returns every call in order. A mined transaction starts a new epoch, because all answers may change. For one key, so does the end
/// of its tool's `ttl_s` after the latest new call.
pub(crate) fn keyed_calls<'a>(evidence: &Evidence<'a>) -> Vec<KeyedCall<'a>> {
    let calls = observed_calls(evidence);
    let keys: Vec<CallIdentity<'a>> = calls.iter().map(|call| call_key(evidence, call)).collect();
    let mut read: Vec<KeyedCall<'a>> = vec![];
    let mut last_new: BTreeMap<&CallIdentity<'a>, LastRequest> = BTreeMap::new();
    let mut answers: BTreeMap<&CallIdentity<'a>, Vec<&ToolAnswer>> = BTreeMap::new();
    let mut epoch = 0;
    for event in &evidence.transcript.events {
        if let EventKind::Mined { .. } = event.happened {
            epoch += 1;
        }
        if let EventKind::Called { .. } = event.happened {
            let (made, key) = (calls[read.len()], &keys[read.len()]);
            let verifies = evidence.workspace.agent(made.by).is_some_and(|agent| agent.verifier);
            let ttl_ms = made.tool.and_then(|tool| tool.ttl_s).map(|ttl| ttl.saturating_mul(1000));
            let holds = |last: &LastRequest| last.epoch == epoch && ttl_ms.is_none_or(|ttl| made.at_ms.saturating_sub(last.at_ms) < ttl);
            let is_new = !last_new.get(key).is_some_and(holds);
            if is_new && !verifies {
                last_new.insert(key, LastRequest { epoch, at_ms: made.at_ms });
            }
            read.push(KeyedCall { made, verifies, is_new, is_new_answer: false, answered: false });
        }
        if let EventKind::Answered { call, answer: answer @ ToolAnswer::Result(_) } = &event.happened
            && let Some(at) = read.iter().rposition(|keyed| keyed.made.call == *call)
        {
            let earlier = answers.entry(&keys[at]).or_default();
            read[at].is_new_answer = !earlier.contains(&answer);
            read[at].answered = true;
            earlier.push(answer);
        }
    }
    read
}

fn call_key<'a>(evidence: &Evidence<'a>, call: &ObservedCall<'a>) -> CallIdentity<'a> {
    match call.tool {
        Some(tool) => (tool.name.as_str(), TypedArgs::for_call(evidence.workspace, tool, call.args).meanings()),
        None => (call.requested_name, TypedArgs::untyped(evidence.workspace, call.args).meanings()),
    }
}
