//! Messages of other agents, each handed over once.

use model::world::PeerMessage;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct TrialInbox {
    /// Places in the world file's list.
    delivered: BTreeSet<usize>,
}

impl TrialInbox {
    /// Returns the messages that are due for an agent and were not returned before.
    pub(super) fn take_due<'m>(&mut self, messages: &'m [PeerMessage], agent: &str, now_ms: u64) -> Vec<&'m PeerMessage> {
        let is_due = |message: &PeerMessage| message.to == agent && message.after_s * 1000 <= now_ms;
        let due = messages.iter().enumerate().filter(|(_, message)| is_due(message));
        due.filter(|(n, _)| self.delivered.insert(*n)).map(|(_, message)| message).collect()
    }
}
