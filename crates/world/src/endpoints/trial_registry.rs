//! Trials of a port, by id and by token.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::error::EndpointError;
use super::served_trial::ServedTrial;
use super::trial_token::TrialToken;

#[derive(Debug, Default)]
pub(super) struct TrialRegistry(RwLock<BTreeMap<String, Arc<ServedTrial>>>);

impl TrialRegistry {
    /// Fails if the id or the token is taken.
    pub(super) fn insert(&self, trial: &Arc<ServedTrial>) -> Result<(), EndpointError> {
        let mut trials = self.write();
        if trials.contains_key(&trial.id) {
            return Err(EndpointError::RepeatedId(trial.id.clone()));
        }
        if trials.values().any(|other| other.digest == trial.digest) {
            return Err(EndpointError::RepeatedToken);
        }
        trials.insert(trial.id.clone(), trial.clone());
        Ok(())
    }

    pub(super) fn remove(&self, id: &str) {
        self.write().remove(id);
    }

    pub(super) fn with_token(&self, token: &str) -> Option<Arc<ServedTrial>> {
        let digest = TrialToken::digest(token);
        self.read().values().find(|trial| trial.digest == digest).cloned()
    }

    pub(super) fn with_id(&self, id: &str, token: &str) -> Option<Arc<ServedTrial>> {
        let digest = TrialToken::digest(token);
        self.read().get(id).filter(|trial| trial.digest == digest).cloned()
    }

    // Poisoning can be ignored: every change is a single insertion or removal.
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Arc<ServedTrial>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Arc<ServedTrial>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
