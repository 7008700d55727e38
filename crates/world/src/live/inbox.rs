//! Messages from other agents, each delivered once.

use model::world::PeerMessage;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct TrialInbox {
    /// Indices into the messages of the world file.
    delivered: BTreeSet<usize>,
}

impl TrialInbox {
    /// Returns the due messages of an agent that were not delivered before.
    pub(super) fn take_due<'m>(&mut self, messages: &'m [PeerMessage], agent: &str, now_ms: u64) -> Vec<&'m PeerMessage> {
        let is_due = |message: &PeerMessage| message.to == agent && message.after_s * 1000 <= now_ms;
        let due = messages.iter().enumerate().filter(|(_, message)| is_due(message));
        due.filter(|(n, _)| self.delivered.insert(*n)).map(|(_, message)| message).collect()
    }
}
