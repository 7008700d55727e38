//! Use of recorded replies, set by the options of the run or else by its tier.

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
            // Some tiers allow a live judge but no live subjects.
            (None, Some(LiveRole::Judge)) => Self { subjects: RecordingMode::Replay, judge: RecordingMode::Off },
            (None, Some(LiveRole::Subject) | None) => Self { subjects: RecordingMode::Off, judge: RecordingMode::Off },
        }
    }
}

/// Returns whether a run replays recorded replies.
pub fn uses_recordings(plan: &RunPlan) -> bool {
    let RecordingPolicy { subjects, judge } = RecordingPolicy::of(plan);
    [subjects, judge].iter().any(|mode| matches!(mode, RecordingMode::Replay | RecordingMode::RecordMissing))
}

/// Returns whether a model is a subject of the run, and its replies come from recordings alone.
pub fn replays_subjects(plan: &RunPlan) -> bool {
    RecordingPolicy::of(plan).subjects == RecordingMode::Replay && plan.subjects().iter().any(|subject| subject.provider.is_llm())
}

/// Opens the recordings of one model. `folder` is `None` for the embedded workspace, which has none.
pub(super) fn open_cassette(mode: RecordingMode, folder: Option<&Path>, model: &str) -> Result<CassetteMode, UserError> {
    let cassette = || -> Result<Arc<dyn CassetteStore>, UserError> {
        match folder {
            Some(folder) => {
                FileCassette::open(folder, model).map(|cassette| Arc::new(cassette) as Arc<dyn CassetteStore>).map_err(UserError::caused_by)
            }
            None if mode == RecordingMode::Replay => Ok(Arc::new(MemoryCassette::default())),
            None => Err(UserError::new("the embedded workspace cannot store recordings", "create a workspace with `bardo-eval init`")),
        }
    };
    Ok(match mode {
        RecordingMode::Off => CassetteMode::Off,
        RecordingMode::Replay => CassetteMode::Replay(cassette()?),
        RecordingMode::Record => CassetteMode::Record(cassette()?),
        RecordingMode::RecordMissing => CassetteMode::RecordMissing(cassette()?),
    })
}
