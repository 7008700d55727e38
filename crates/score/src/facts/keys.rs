//! Which calls ask for something new: by canonical tool, typed arguments and epoch.

use super::calls::{Made, made};
use crate::compare::{Given, Meaning};
use crate::evidence::Evidence;
use model::Happened;
use model::transcript::ToolAnswer;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Keyed<'a> {
    pub made: Made<'a>,
    /// Made by an agent whose job is to check others: its calls repeat theirs on purpose.
    pub verifies: bool,
    /// Nobody but verifiers had asked this in the same epoch.
    pub is_new: bool,
    /// The answer is one that this call had not been given before.
    pub brought: bool,
    pub answered: bool,
}

type Key<'a> = (&'a str, Vec<(&'a str, Meaning)>);

/// When a key was last asked for anew.
struct Asked {
    epoch: u32,
    at_ms: u64,
}

/// Every call in order. The epoch advances when a transaction stands in a block, since then all answers may differ, and for one key when
/// its tool's `ttl_s` has passed since it was last asked for anew.
pub(crate) fn keyed<'a>(evidence: &Evidence<'a>) -> Vec<Keyed<'a>> {
    let calls = made(evidence);
    let keys: Vec<Key<'a>> = calls.iter().map(|call| key(evidence, call)).collect();
    let mut read: Vec<Keyed<'a>> = vec![];
    let mut asked: BTreeMap<&Key<'a>, Asked> = BTreeMap::new();
    let mut answers: BTreeMap<&Key<'a>, Vec<&ToolAnswer>> = BTreeMap::new();
    let mut epoch = 0;
    for event in &evidence.transcript.events {
        if let Happened::Mined { .. } = event.happened {
            epoch += 1;
        }
        if let Happened::Called { .. } = event.happened {
            let (made, key) = (calls[read.len()], &keys[read.len()]);
            let verifies = evidence.workspace.agent(made.by).is_some_and(|agent| agent.verifier);
            let ttl_ms = made.tool.and_then(|tool| tool.ttl_s).map(|ttl| ttl.saturating_mul(1000));
            let holds = |asked: &Asked| asked.epoch == epoch && ttl_ms.is_none_or(|ttl| made.at_ms.saturating_sub(asked.at_ms) < ttl);
            let is_new = !asked.get(key).is_some_and(holds);
            if is_new && !verifies {
                asked.insert(key, Asked { epoch, at_ms: made.at_ms });
            }
            read.push(Keyed { made, verifies, is_new, brought: false, answered: false });
        }
        if let Happened::Answered { call, answer: answer @ ToolAnswer::Result(_) } = &event.happened
            && let Some(at) = read.iter().rposition(|keyed| keyed.made.call == *call)
        {
            let earlier = answers.entry(&keys[at]).or_default();
            read[at].brought = !earlier.contains(&answer);
            read[at].answered = true;
            earlier.push(answer);
        }
    }
    read
}

fn key<'a>(evidence: &Evidence<'a>, call: &Made<'a>) -> Key<'a> {
    match call.tool {
        Some(tool) => (tool.name.as_str(), Given::call(evidence.workspace, tool, call.args).meanings()),
        None => (call.said, Given::untyped(evidence.workspace, call.args).meanings()),
    }
}
