//! A subject with another at its side: it sits at the root, and whoever it delegates to is played by the other.

use super::{Subject, SubjectFault};
use crate::limits::SubjectUsage;
use async_trait::async_trait;
use model::transcript::Move;
use model::view::View;
use std::fmt;

pub struct SubjectWithPeers {
    lead: Box<dyn Subject>,
    peers: Box<dyn Subject>,
}

impl SubjectWithPeers {
    pub fn new(lead: Box<dyn Subject>, peers: Box<dyn Subject>) -> Self {
        Self { lead, peers }
    }
}

impl fmt::Debug for SubjectWithPeers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cast").finish_non_exhaustive()
    }
}

#[async_trait]
impl Subject for SubjectWithPeers {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        match view.depth {
            0 => self.lead.next(view).await,
            // A peer that fails is not the failure of whoever is evaluated.
            _ => self.peers.next(view).await.map_err(|fault| {
                if fault == SubjectFault::Unfunded { fault } else { SubjectFault::Harness(format!("the peers: {fault}")) }
            }),
        }
    }

    /// What its peers use is not its own.
    fn usage(&self) -> SubjectUsage {
        self.lead.usage()
    }
}
