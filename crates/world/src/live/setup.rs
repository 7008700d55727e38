//! Settings in which trials of the same world differ.

use super::fixtures::Fills;
use super::foreign::Foreign;
use model::suite::Peers;

/// Virtual time an agent thinks about one move.
pub(super) const THINK_MS: u64 = 2_000;

#[derive(Debug, Clone)]
pub struct Setup {
    pub peers: Peers,
    pub defence: Defence,
    /// Texts that attacks write into holes.
    pub fills: Fills,
    pub think_ms: u64,
    /// Source of answers for tools that were imported from an MCP server.
    pub foreign: Foreign,
}

impl Default for Setup {
    fn default() -> Self {
        let foreign = Foreign::default();
        Self { peers: Peers::Stub, defence: Defence::Observe, fills: Fills::default(), think_ms: THINK_MS, foreign }
    }
}

/// Effect of a hook's objection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Defence {
    /// It is recorded, and the call goes on: the world must not do the subject's work.
    #[default]
    Observe,
    Enforce,
}
