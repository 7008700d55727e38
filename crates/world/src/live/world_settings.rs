//! Per-trial settings of a world.

use super::fixtures::HoleFills;
use super::foreign_source::ForeignSource;
use model::WorldFault;
use model::suite::{CaseFixture, PeerMode};

/// Virtual thinking time per move.
pub(super) const THINK_MS: u64 = 2_000;

#[derive(Debug, Clone)]
pub struct WorldSettings {
    pub peers: PeerMode,
    pub defence: DefenceMode,
    /// Attack texts for holes.
    pub fills: HoleFills,
    pub think_ms: u64,
    /// Response source for imported tools.
    pub foreign: ForeignSource,
    /// Writes of imported tools without a recording or a stub are accepted, instead of ending the trial.
    pub accepts_writes: bool,
    /// Recorded answers of the case. They come before those of the world.
    pub case_fixtures: Vec<CaseFixture>,
    /// Faults of the environment that the case asks for.
    pub faults: Vec<WorldFault>,
}

impl Default for WorldSettings {
    fn default() -> Self {
        let foreign = ForeignSource::default();
        Self {
            peers: PeerMode::Stub,
            defence: DefenceMode::Observe,
            fills: HoleFills::default(),
            think_ms: THINK_MS,
            foreign,
            accepts_writes: false,
            case_fixtures: vec![],
            faults: vec![],
        }
    }
}

/// Effect of a hook's objection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefenceMode {
    /// Records the objection and continues, since the subject must avoid violations itself.
    #[default]
    Observe,
    /// Records the first objection and blocks the write.
    Enforce,
}
