//! Models that take part in a run without being evaluated.

use super::recordings::cassette;
use crate::spec::RecordingMode;
use model::{SubjectFile, UserError, Workspace};
use run::judge::Judge;
use run::providers::Cassette;
use run::user::Actor;
use run::{SubjectDeps, providers::NoProvider};
use std::path::Path;

#[derive(Debug, Clone, Default)]
pub struct AuxiliaryModels {
    /// Judges rubrics; without one they are not judged.
    pub judge: Option<Judge>,
    /// Plays personas; without one they play by their script.
    pub user: Option<Actor>,
}

/// An auxiliary model that was found, with its recordings.
#[derive(Debug)]
pub(super) struct ModelChoice<'w> {
    pub file: &'w SubjectFile,
    cassette: Cassette,
}

impl<'w> ModelChoice<'w> {
    pub(super) fn find(workspace: &'w Workspace, name: &str, mode: RecordingMode, folder: Option<&Path>) -> Result<Self, UserError> {
        let known = || workspace.subjects.iter().map(|subject| subject.name.as_str());
        let file = workspace.subject(name).ok_or_else(|| UserError::unknown("subject", name, known()))?;
        Ok(Self { cassette: cassette(mode, folder, name)?, file })
    }

    pub(super) fn judge(self, deps: &SubjectDeps<'_>) -> Result<Judge, UserError> {
        let file = self.file;
        let provider = deps.provider(file, self.cassette).map_err(|why| cannot(file, "judge", why))?;
        Ok(Judge::new(file, provider))
    }

    pub(super) fn user(self, deps: &SubjectDeps<'_>) -> Result<Actor, UserError> {
        let file = self.file;
        let provider = deps.provider(file, self.cassette).map_err(|why| cannot(file, "play a user", why))?;
        Ok(Actor::new(file, provider))
    }
}

fn cannot(file: &SubjectFile, task: &str, why: NoProvider) -> UserError {
    UserError::from(why).within(format!("{} cannot {task}", file.name.value))
}
