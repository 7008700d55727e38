//! Policy of recorded replies: the options of the run decide, else its tier.

use crate::plan::RunPlan;
use crate::spec::RecordingMode;
use model::{Live, UserError};
use run::providers::Cassette;
use run::providers::cassette::{FileTape, MemoryTape, Tape};
use std::path::Path;
use std::sync::Arc;

/// Recording mode of each kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordingPolicy {
    /// Subjects and simulated users.
    pub subjects: RecordingMode,
    pub judge: RecordingMode,
}

impl RecordingPolicy {
    pub(super) fn of(plan: &RunPlan) -> Self {
        let live = plan.spec().settings.live(plan.workspace());
        match (plan.spec().options.recordings, live) {
            (Some(mode), _) => Self { subjects: mode, judge: mode },
            (None, Some(Live::None)) => Self { subjects: RecordingMode::Replay, judge: RecordingMode::Replay },
            // The judge may be asked live in tiers in which subjects may not.
            (None, Some(Live::Judge)) => Self { subjects: RecordingMode::Replay, judge: RecordingMode::Off },
            (None, Some(Live::Subject) | None) => Self { subjects: RecordingMode::Off, judge: RecordingMode::Off },
        }
    }
}

/// Opens the recordings of one model. `folder` is absent for the embedded workspace, which has none.
pub(super) fn cassette(mode: RecordingMode, folder: Option<&Path>, model: &str) -> Result<Cassette, UserError> {
    let tape = || -> Result<Arc<dyn Tape>, UserError> {
        match folder {
            Some(folder) => FileTape::open(folder, model).map(|tape| Arc::new(tape) as Arc<dyn Tape>).map_err(UserError::caused_by),
            None if mode == RecordingMode::Replay => Ok(Arc::new(MemoryTape::default())),
            None => Err(UserError::new("recordings need a workspace of their own", "`bardo-eval init` writes one")),
        }
    };
    Ok(match mode {
        RecordingMode::Off => Cassette::Off,
        RecordingMode::Replay => Cassette::Replay(tape()?),
        RecordingMode::Record => Cassette::Record(tape()?),
        RecordingMode::RecordMissing => Cassette::RecordMissing(tape()?),
    })
}
