//! The trials behind a port, by id and by token.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::error::EdgeError;
use super::token::Token;
use super::trial::Trial;

#[derive(Debug, Default)]
pub(super) struct TrialRegistry(RwLock<BTreeMap<String, Arc<Trial>>>);

impl TrialRegistry {
    /// Fails if the id or the token is taken.
    pub(super) fn insert(&self, trial: &Arc<Trial>) -> Result<(), EdgeError> {
        let mut trials = self.write();
        if trials.contains_key(&trial.id) {
            return Err(EdgeError::RepeatedId(trial.id.clone()));
        }
        if trials.values().any(|other| other.digest == trial.digest) {
            return Err(EdgeError::RepeatedToken);
        }
        trials.insert(trial.id.clone(), trial.clone());
        Ok(())
    }

    pub(super) fn remove(&self, id: &str) {
        self.write().remove(id);
    }

    pub(super) fn with_token(&self, token: &str) -> Option<Arc<Trial>> {
        let digest = Token::digest(token);
        self.read().values().find(|trial| trial.digest == digest).cloned()
    }

    pub(super) fn with_id(&self, id: &str, token: &str) -> Option<Arc<Trial>> {
        let digest = Token::digest(token);
        self.read().get(id).filter(|trial| trial.digest == digest).cloned()
    }

    // A panic elsewhere leaves the map whole: every change is a single insertion or removal.
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Arc<Trial>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Arc<Trial>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
