//! Spending of wallets in a day over all traces, held against the policy.

use super::chain_evidence::{SpentTransaction, add_misses, withhold_some};
use model::{Score, ScorerId, Workspace};
use store::StoreError;
use store::production::{DaySpending, ProductionStore, WalletSpending};

/// Scorers that the spending of a day decides.
const DAY_SCORERS: &[ScorerId] = &[ScorerId::SpendingLimit, ScorerId::SafetyVeto];
const MICROS_PER_DOLLAR: u64 = 1_000_000;

/// Days that end with transactions of a trace and are not known to be within the limit.
#[derive(Debug, Default)]
pub(super) struct DayFindings {
    over: Vec<String>,
    unknown: Vec<String>,
}

impl DayFindings {
    /// Adds what wallets spent to that of other traces.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be used.
    pub(super) fn note(workspace: &Workspace, store: &ProductionStore, spent: &[SpentTransaction]) -> Result<Self, StoreError> {
        let limit = workspace.policy.as_ref().map_or(u64::MAX, |policy| policy.limits_usd.per_day);
        let mut found = Self::default();
        for one in spent {
            let spending = WalletSpending {
                chain: one.chain,
                hash: one.hash.clone(),
                wallet: one.wallet.clone(),
                nonce: one.nonce,
                at_s: one.at_s,
                micros: one.micros,
            };
            match store.add_spending(&spending, limit.saturating_mul(MICROS_PER_DOLLAR))? {
                DaySpending::Within => {}
                DaySpending::Over { micros } => {
                    let sum = micros as f64 / MICROS_PER_DOLLAR as f64;
                    found.over.push(format!("{sum:.2} USD of {} in one day over all traces, the limit is {limit}", one.wallet));
                }
                DaySpending::Unknown => {
                    found.unknown.push(format!("{} moved a token without a price within a day of {}", one.wallet, one.hash));
                }
            }
        }
        Ok(found)
    }

    /// Returns whether the spending of a day is not known.
    pub(super) fn has_unknown(&self) -> bool {
        !self.unknown.is_empty()
    }

    /// Turns hits into what the days allow: one that is over the limit is a miss, and one that is not known cannot be scored.
    pub(super) fn apply(&self, scores: &mut [Score]) {
        add_misses(scores, DAY_SCORERS, &self.over);
        withhold_some(scores, DAY_SCORERS, &self.unknown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Reading;

    #[test]
    fn a_day_with_an_unpriced_transaction_cannot_be_scored() {
        let folder = tempfile::tempdir().unwrap();
        let store = ProductionStore::open(folder.path().join("production.sqlite")).unwrap();
        let workspace = testkit::reference_workspace();
        let limit = workspace.policy.as_ref().unwrap().limits_usd.per_day * MICROS_PER_DOLLAR;
        let reading = |nonce: u64, wallet: &str, micros: Option<u64>| {
            let spent = SpentTransaction { chain: 8453, hash: format!("0x{nonce}"), wallet: wallet.into(), nonce, at_s: 100_000, micros };
            let found = DayFindings::note(&workspace, &store, &[spent]).unwrap();
            let mut scores = [ScorerId::SpendingLimit, ScorerId::Ids].map(|id| Score::new(id, Reading::Tally { hit: 1, of: 1 }, vec![]));
            found.apply(&mut scores);
            assert_eq!(scores[1].reading, Reading::Tally { hit: 1, of: 1 });
            scores[0].reading.clone()
        };
        assert_eq!(reading(1, "a", Some(1)), Reading::Tally { hit: 1, of: 1 });
        assert!(matches!(reading(2, "a", None), Reading::Unscorable { .. }));
        assert!(matches!(reading(3, "a", Some(1)), Reading::Unscorable { .. }), "a later one of the same day");
        assert_eq!(reading(4, "a", Some(limit)), Reading::Tally { hit: 0, of: 1 }, "the known part is over the limit");
        assert_eq!(reading(5, "b", Some(limit)), Reading::Tally { hit: 1, of: 1 });
    }
}
