//! Trial ids for external agents. They reveal neither case nor suite, and differ between runs.

use model::ContentHash;
use tokio::sync::OnceCell;
use world::endpoints::{TokenError, TrialToken};

/// Random key of a run. Without it, the ids cannot be computed from the content of cases.
#[derive(Debug, Default)]
pub(super) struct OpaqueTrialKey(OnceCell<TrialToken>);

/// Characters of an id: 128 bits in hex.
const ID_LENGTH: usize = 32;

impl OpaqueTrialKey {
    /// Returns the id of a trial: a hash under the key, the same for all sessions of the trial.
    pub(super) async fn id_of(&self, trial: &ContentHash) -> Result<String, TokenError> {
        let key = self.0.get_or_try_init(|| async { TrialToken::random() }).await?;
        Ok(ContentHash::of_parts(&[key.as_str(), trial.as_str()]).as_str()[..ID_LENGTH].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn ids_are_stable_in_a_run_and_unrelated_between_runs() {
        let (one, other) = (OpaqueTrialKey::default(), OpaqueTrialKey::default());
        let trial = ContentHash::of_text("trial");
        let id = one.id_of(&trial).await.expect("an id");
        assert_eq!(id.len(), ID_LENGTH);
        assert_eq!(id, one.id_of(&trial).await.expect("an id"));
        assert_ne!(id, one.id_of(&ContentHash::of_text("another")).await.expect("an id"));
        assert_ne!(id, other.id_of(&trial).await.expect("an id"), "not computable from the trial alone");
        assert!(!trial.to_string().contains(&id));
    }
}
