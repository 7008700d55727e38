//! The way to models for commands that ask a few questions by themselves: a budget of their own, and nothing to resume.

use crate::env;
use ::run::judge::Judge;
use ::run::ledger::MemoryLedger;
use ::run::providers::{Cassette, Key, NoProvider, SharedProvider, Terms, provider};
use ::run::{Budget, Clock};
use model::{Money, SubjectFile, UserError, Workspace};
use std::sync::Arc;

pub(super) fn terms(budget: Option<Money>) -> Terms {
    Terms::new(Budget::new(budget), Arc::new(MemoryLedger::default()), Clock::system())
}

/// The key in an environment variable, in a type that shows it nowhere.
pub(super) fn key(name: &str) -> Option<Key> {
    env::value(name).as_deref().and_then(Key::new)
}

pub(super) fn subject<'w>(workspace: &'w Workspace, name: &str) -> Result<&'w SubjectFile, UserError> {
    workspace
        .subject(name)
        .ok_or_else(|| UserError::unknown("subject", name, workspace.subjects.iter().map(|subject| subject.name.as_str())))
}

pub(super) fn judge(file: &SubjectFile, terms: &Terms, cassette: Cassette) -> Result<Judge, UserError> {
    let way = way(file, terms, cassette).map_err(|why| UserError::from(why).within(format!("{} cannot judge", file.name.value)))?;
    Ok(Judge::new(file, way))
}

fn way(file: &SubjectFile, terms: &Terms, cassette: Cassette) -> Result<SharedProvider, NoProvider> {
    provider(file, file.key_env.as_deref().and_then(key), terms, cassette)
}
