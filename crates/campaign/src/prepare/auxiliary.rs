//! Models used in a run without being evaluated: judge, simulated user and attacker.

use super::recordings::open_cassette;
use crate::spec::RecordingMode;
use model::{SubjectFile, UserError, Workspace};
use run::attacker::LlmAttacker;
use run::judge::LlmJudge;
use run::providers::CassetteMode;
use run::user::PersonaModel;
use run::{SubjectDeps, providers::ProviderBuildError};
use std::path::Path;

#[derive(Debug, Clone, Default)]
pub struct AuxiliaryModels {
    /// Judges rubrics; `None` leaves them unjudged.
    pub judge: Option<LlmJudge>,
    /// Plays personas; `None` makes them follow their script.
    pub user: Option<PersonaModel>,
    /// Words attacks; `None` if the run has no such cases.
    pub attacker: Option<LlmAttacker>,
}

/// Auxiliary model with its recordings.
#[derive(Debug)]
pub(super) struct ModelChoice<'w> {
    pub file: &'w SubjectFile,
    cassette: CassetteMode,
}

impl<'w> ModelChoice<'w> {
    pub(super) fn find(workspace: &'w Workspace, name: &str, mode: RecordingMode, folder: Option<&Path>) -> Result<Self, UserError> {
        let known = || workspace.subjects.iter().map(|subject| subject.name.as_str());
        let file = workspace.subject(name).ok_or_else(|| UserError::unknown("subject", name, known()))?;
        Ok(Self { cassette: open_cassette(mode, folder, name)?, file })
    }

    pub(super) fn build_judge(self, deps: &SubjectDeps<'_>) -> Result<LlmJudge, UserError> {
        let file = self.file;
        let provider = deps.build_provider(file, self.cassette).map_err(|why| role_error(file, "judge", why))?;
        Ok(LlmJudge::new(file, provider))
    }

    pub(super) fn build_user(self, deps: &SubjectDeps<'_>) -> Result<PersonaModel, UserError> {
        let file = self.file;
        let provider = deps.build_provider(file, self.cassette).map_err(|why| role_error(file, "play a user", why))?;
        Ok(PersonaModel::new(file, provider))
    }

    pub(super) fn build_attacker(self, deps: &SubjectDeps<'_>) -> Result<LlmAttacker, UserError> {
        let file = self.file;
        let provider = deps.build_provider(file, self.cassette).map_err(|why| role_error(file, "word attacks", why))?;
        Ok(LlmAttacker::new(file, provider))
    }
}

fn role_error(file: &SubjectFile, task: &str, why: ProviderBuildError) -> UserError {
    UserError::from(why).with_context(format!("{} cannot {task}", file.name.value))
}
