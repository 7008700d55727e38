//! A subject with another at its side: it sits at the root, and whoever it delegates to is played by the other.

use super::{Subject, SubjectFault};
use crate::limits::Used;
use async_trait::async_trait;
use model::seat::View;
use model::transcript::Move;
use std::fmt;

pub struct Cast {
    lead: Box<dyn Subject>,
    peers: Box<dyn Subject>,
}

impl Cast {
    pub fn new(lead: Box<dyn Subject>, peers: Box<dyn Subject>) -> Self {
        Self { lead, peers }
    }
}

impl fmt::Debug for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cast").finish_non_exhaustive()
    }
}

#[async_trait]
impl Subject for Cast {
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
    fn used(&self) -> Used {
        self.lead.used()
    }
}
