//! Subject at the root with a second subject that plays all agents it delegates to.

use super::{Subject, SubjectFault};
use crate::limits::{ReplyTotals, SubjectUsage};
use async_trait::async_trait;
use model::suite::Brief;
use model::transcript::Move;
use model::view::View;
use std::fmt;
use store::AgentOutput;

pub struct SubjectWithPeers {
    lead: Box<dyn Subject>,
    peers: Box<dyn Subject>,
    /// Deepest agent that the lead plays: the root, or the agent that carries out a skill.
    lead_depth: u32,
}

impl SubjectWithPeers {
    pub fn new(lead: Box<dyn Subject>, peers: Box<dyn Subject>, brief: &Brief) -> Self {
        Self { lead, peers, lead_depth: u32::from(brief.carry_out) }
    }
}

impl fmt::Debug for SubjectWithPeers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubjectWithPeers").finish_non_exhaustive()
    }
}

#[async_trait]
impl Subject for SubjectWithPeers {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        match view.depth {
            depth if depth <= self.lead_depth => self.lead.next(view).await,
            // A peer's failure is a harness fault, not a failure of the evaluated subject.
            _ => self.peers.next(view).await.map_err(|fault| {
                if fault == SubjectFault::Unfunded { fault } else { SubjectFault::Harness(format!("a peer agent failed: {fault}")) }
            }),
        }
    }

    /// Returns the usage of the root subject; usage of peers does not count.
    fn usage(&self) -> SubjectUsage {
        self.lead.usage()
    }

    fn reply_totals(&self) -> Option<ReplyTotals> {
        self.lead.reply_totals()
    }

    async fn agent_output(&mut self) -> Option<AgentOutput> {
        match self.lead.agent_output().await {
            Some(output) => Some(output),
            None => self.peers.agent_output().await,
        }
    }
}
