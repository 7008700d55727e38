//! The way to models for commands that ask a few questions by themselves: a budget of their own, and nothing to resume.

use crate::env;
use ::run::judge::LlmJudge;
use ::run::ledger::MemoryLedger;
use ::run::providers::{ApiKey, CassetteMode, ProviderBuildError, ProviderConfig, SharedProvider, build_provider};
use ::run::{Budget, Clock};
use model::{Money, SubjectFile, UserError, Workspace};
use std::sync::Arc;

pub(super) fn terms(budget: Option<Money>) -> ProviderConfig {
    ProviderConfig::new(Budget::new(budget), Arc::new(MemoryLedger::default()), Clock::system())
}

/// The key in an environment variable, in a type that shows it nowhere.
pub(super) fn read_key(name: &str) -> Option<ApiKey> {
    env::var(name).as_deref().and_then(ApiKey::new)
}

pub(super) fn find_subject<'w>(workspace: &'w Workspace, name: &str) -> Result<&'w SubjectFile, UserError> {
    workspace
        .subject(name)
        .ok_or_else(|| UserError::unknown("subject", name, workspace.subjects.iter().map(|subject| subject.name.as_str())))
}

pub(super) fn open_judge(file: &SubjectFile, terms: &ProviderConfig, cassette: CassetteMode) -> Result<LlmJudge, UserError> {
    let way = open_provider(file, terms, cassette)
        .map_err(|why| UserError::from(why).with_context(format!("{} cannot judge", file.name.value)))?;
    Ok(LlmJudge::new(file, way))
}

fn open_provider(file: &SubjectFile, terms: &ProviderConfig, cassette: CassetteMode) -> Result<SharedProvider, ProviderBuildError> {
    build_provider(file, file.key_env.as_deref().and_then(read_key), terms, cassette)
}
