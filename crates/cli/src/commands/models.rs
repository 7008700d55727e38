//! Model access for commands outside of runs: own budget, nothing to resume.

use crate::env;
use ::run::judge::LlmJudge;
use ::run::ledger::MemoryLedger;
use ::run::providers::{ApiKey, CassetteMode, ProviderBuildError, ProviderConfig, SharedProvider, build_provider};
use ::run::{Budget, Clock};
use model::{Money, SubjectFile, UserError, Workspace};
use std::sync::Arc;

pub(super) fn provider_config(budget: Option<Money>) -> ProviderConfig {
    ProviderConfig::new(Budget::new(budget), Arc::new(MemoryLedger::default()), Clock::system())
}

/// Reads an API key from an environment variable.
pub(super) fn read_key(name: &str) -> Option<ApiKey> {
    env::var(name).as_deref().and_then(ApiKey::new)
}

pub(super) fn find_subject<'w>(workspace: &'w Workspace, name: &str) -> Result<&'w SubjectFile, UserError> {
    workspace
        .subject(name)
        .ok_or_else(|| UserError::unknown("subject", name, workspace.subjects.iter().map(|subject| subject.name.as_str())))
}

pub(super) fn open_judge(file: &SubjectFile, config: &ProviderConfig, cassette: CassetteMode) -> Result<LlmJudge, UserError> {
    let provider = open_provider(file, config, cassette)
        .map_err(|why| UserError::from(why).with_context(format!("{} cannot judge", file.name.value)))?;
    Ok(LlmJudge::new(file, provider))
}

fn open_provider(file: &SubjectFile, config: &ProviderConfig, cassette: CassetteMode) -> Result<SharedProvider, ProviderBuildError> {
    build_provider(file, file.key_env.as_deref().and_then(read_key), config, cassette)
}

/// Fails if a run could not use the model of a subject. Nothing is sent.
pub(super) fn can_open(file: &SubjectFile) -> Result<(), UserError> {
    open_provider(file, &provider_config(None), CassetteMode::Off).map(drop).map_err(UserError::from)
}
