//! Settings in which trials of the same world differ.

use super::fixtures::HoleFills;
use super::foreign_source::ForeignSource;
use model::suite::PeerMode;

/// Virtual time an agent thinks about one move.
pub(super) const THINK_MS: u64 = 2_000;

#[derive(Debug, Clone)]
pub struct WorldSettings {
    pub peers: PeerMode,
    pub defence: DefenceMode,
    /// Texts that attacks write into holes.
    pub fills: HoleFills,
    pub think_ms: u64,
    /// Source of answers for tools that were imported from an MCP server.
    pub foreign: ForeignSource,
}

impl Default for WorldSettings {
    fn default() -> Self {
        let foreign = ForeignSource::default();
        Self { peers: PeerMode::Stub, defence: DefenceMode::Observe, fills: HoleFills::default(), think_ms: THINK_MS, foreign }
    }
}

/// Effect of a hook's objection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefenceMode {
    /// It is recorded, and the call goes on: the world must not do the subject's work.
    #[default]
    Observe,
    Enforce,
}
