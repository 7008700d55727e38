//! Budget and ledger of a run, shared by all model calls.

use model::{Money, SubjectFile};
use run::ledger::Ledger;
use run::{Budget, Clock, JournalLedger, OpenRun, QueueLedger};
use std::sync::Arc;
use store::StoreError;

/// Created before the run has a journal; [`execute()`](crate::execute()) connects the ledger to it.
#[derive(Debug, Clone)]
pub struct RunFunds {
    pub budget: Arc<Budget>,
    pub ledger: Arc<dyn Ledger>,
    /// Absent for a worker, whose ledger writes through a lease.
    journal: Option<Arc<JournalLedger>>,
}

impl RunFunds {
    pub fn new(limit: Option<Money>, clock: Clock, cache_ttl_s: u64) -> Self {
        let journal = Arc::new(JournalLedger::new(clock, cache_ttl_s));
        Self { budget: Budget::new(limit), ledger: journal.clone(), journal: Some(journal) }
    }

    /// Returns the funds of a worker, whose limit the ledger enforces.
    pub fn shared(limit: Option<Money>, ledger: Arc<QueueLedger>) -> Self {
        Self { budget: Budget::shared(limit), ledger, journal: None }
    }

    /// Connects ledger and budget to a stored run. `spent` is the amount spent by earlier processes.
    pub(crate) fn connect(&self, run: OpenRun, spent: Money) -> Result<(), StoreError> {
        self.budget.deduct(spent);
        let journal = self.journal.as_ref().ok_or_else(|| StoreError::Journal("a worker has no journal".into()))?;
        journal.connect(run).map_err(|fault| StoreError::Journal(fault.to_string()))
    }
}

/// Returns true if calls to this model cost money. A model without a price is assumed to cost money.
pub(super) fn costs_money(file: &SubjectFile) -> bool {
    file.price.as_ref().is_none_or(|price| price.input_per_mtok > Money::ZERO || price.output_per_mtok > Money::ZERO)
}
