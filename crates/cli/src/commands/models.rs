//! The way to models for commands that ask a few questions by themselves: a budget of their own, and nothing to resume.

use crate::env;
use ::run::judge::Judge;
use ::run::ledger::MemoryLedger;
use ::run::providers::{Cassette, Key, NoProvider, SharedProvider, Terms, provider};
use ::run::{Budget, Clock};
use model::{Money, SubjectFile, Workspace, did_you_mean};
use std::sync::Arc;

pub(super) fn terms(budget: Option<Money>) -> Terms {
    Terms::new(Budget::new(budget), Arc::new(MemoryLedger::default()), Clock::system())
}

/// The key in an environment variable, in a type that shows it nowhere.
pub(super) fn key(name: &str) -> Option<Key> {
    env::value(name).as_deref().and_then(Key::new)
}

pub(super) fn subject<'w>(workspace: &'w Workspace, name: &str) -> Result<&'w SubjectFile, String> {
    workspace.subject(name).ok_or_else(|| {
        let guess = did_you_mean(name, workspace.subjects.iter().map(|subject| subject.name.as_str()));
        format!("there is no subject \"{name}\"  {guess}").trim_end().to_owned()
    })
}

pub(super) fn judge(file: &SubjectFile, terms: &Terms, cassette: Cassette) -> Result<Judge, String> {
    let way = way(file, terms, cassette).map_err(|why| format!("{} cannot judge: {why}", file.name.value))?;
    Ok(Judge::new(file, way))
}

fn way(file: &SubjectFile, terms: &Terms, cassette: Cassette) -> Result<SharedProvider, NoProvider> {
    provider(file, file.key_env.as_deref().and_then(key), terms, cassette)
}
