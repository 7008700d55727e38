//! World texts that reach agents outside of tool answers: messages, tool notes and files. Records each hole that is read.

use super::trial_state::TrialState;
use super::world_template::WorldTemplate;
use crate::{ActingAgent, InboundMessage};
use model::{EventKind, ToolListing};

/// Delivers the messages that are due for an agent.
pub(super) fn take_messages(template: &WorldTemplate, state: &mut TrialState, who: &ActingAgent) -> Vec<InboundMessage> {
    let due = state.inbox.take_due(&template.file().messages, &who.agent, state.record.now_ms());
    let mut delivered = vec![];
    for message in due {
        let mut reads = vec![];
        let text = state.fixtures(template).text(&message.text, &mut reads);
        let (from, nonce) = (message.from.clone(), message.nonce);
        state.record.note(who, EventKind::Messaged { from: from.clone(), to: message.to.clone(), nonce, text: text.clone() });
        state.record.note_holes(who, reads);
        delivered.push(InboundMessage { from, nonce, text });
    }
    for (message, read) in state.faults.replays(&who.agent) {
        let (from, text) = (message.from.clone(), message.text.clone());
        state.record.note(who, EventKind::Messaged { from, to: who.agent.clone(), nonce: message.nonce, text });
        state.record.note_holes(who, vec![read]);
        delivered.push(message);
    }
    delivered
}

/// Appends the world's notes to the descriptions of tools.
pub(super) fn with_tool_notes(
    template: &WorldTemplate,
    state: &mut TrialState,
    who: &ActingAgent,
    mut listings: Vec<ToolListing>,
) -> Vec<ToolListing> {
    let mut reads = vec![];
    for listing in &mut listings {
        let Some(note) = template.file().tool_notes.get(&listing.name) else { continue };
        let text = state.fixtures(template).text(&note.value, &mut reads);
        if !text.is_empty() {
            listing.description = format!("{} {text}", listing.description.trim_end());
        }
    }
    state.record.note_holes(who, reads);
    listings
}

/// Returns a file or page of the world.
pub(super) fn file(template: &WorldTemplate, state: &mut TrialState, who: &ActingAgent, path: &str) -> Option<String> {
    let inert = &template.file().files.get(path)?.value;
    let mut reads = vec![];
    let text = state.fixtures(template).text(inert, &mut reads);
    state.record.note_holes(who, reads);
    Some(text)
}
