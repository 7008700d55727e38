//! Policy of recorded replies: the options of the run decide, else its tier.

use crate::plan::RunPlan;
use crate::spec::RecordingMode;
use model::{LiveRole, UserError};
use run::providers::CassetteMode;
use run::providers::cassette::{CassetteStore, FileCassette, MemoryCassette};
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
        let live = plan.spec().settings.allowed_live(plan.workspace());
        match (plan.spec().options.recordings, live) {
            (Some(mode), _) => Self { subjects: mode, judge: mode },
            (None, Some(LiveRole::None)) => Self { subjects: RecordingMode::Replay, judge: RecordingMode::Replay },
            // The judge may be asked live in tiers in which subjects may not.
            (None, Some(LiveRole::Judge)) => Self { subjects: RecordingMode::Replay, judge: RecordingMode::Off },
            (None, Some(LiveRole::Subject) | None) => Self { subjects: RecordingMode::Off, judge: RecordingMode::Off },
        }
    }
}

/// Opens the recordings of one model. `folder` is absent for the embedded workspace, which has none.
pub(super) fn open_cassette(mode: RecordingMode, folder: Option<&Path>, model: &str) -> Result<CassetteMode, UserError> {
    let tape = || -> Result<Arc<dyn CassetteStore>, UserError> {
        match folder {
            Some(folder) => {
                FileCassette::open(folder, model).map(|tape| Arc::new(tape) as Arc<dyn CassetteStore>).map_err(UserError::caused_by)
            }
            None if mode == RecordingMode::Replay => Ok(Arc::new(MemoryCassette::default())),
            None => Err(UserError::new("recordings need a workspace of their own", "`bardo-eval init` writes one")),
        }
    };
    Ok(match mode {
        RecordingMode::Off => CassetteMode::Off,
        RecordingMode::Replay => CassetteMode::Replay(tape()?),
        RecordingMode::Record => CassetteMode::Record(tape()?),
        RecordingMode::RecordMissing => CassetteMode::RecordMissing(tape()?),
    })
}
