//! Stored runs: started, or resumed after an interruption.

mod handle;
mod locked_run;

pub use handle::RunHandle;
pub(crate) use handle::plan_difference;
pub use locked_run::LockedRun;

use model::UserError;
use run::Clock;
use score::outcome::case_outcome;
use store::{Store, StoreError, StoreLocation};

/// Opens or creates a store.
pub fn open_store(location: impl Into<StoreLocation>) -> Result<Store, StoreError> {
    Store::open(location, case_outcome)
}

/// Opens or creates a store, with the folder of its file.
pub(crate) fn create_store(location: &StoreLocation) -> Result<Store, RunStoreError> {
    if location.file().is_some() {
        std::fs::create_dir_all(location.folder())?;
    }
    Ok(open_store(location)?)
}

/// Opens a store; returns nothing and creates nothing if there is none.
pub fn open_existing_store(location: &StoreLocation) -> Result<Option<Store>, StoreError> {
    Store::open_existing(location, case_outcome)
}

/// Returns the current time in UTC, ISO 8601.
pub fn timestamp(clock: Clock) -> String {
    humantime::format_rfc3339_seconds(clock.utc()).to_string()
}

/// Storage for a new run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunDestination {
    Store(StoreLocation),
    Memory,
}

/// Origin of a run.
#[derive(Debug)]
pub enum RunOrigin {
    New(RunDestination),
    Resumed(Box<LockedRun>),
}

/// Actual storage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStorage {
    Store,
    Memory,
}

#[derive(Debug, thiserror::Error)]
pub enum RunStoreError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the run could not be stored in {location}: {why}")]
    Unusable { location: Box<StoreLocation>, why: String, remedy: &'static str },
    #[error("run {0} is complete")]
    Complete(String),
    #[error("run {run} has a different plan: {what}")]
    Changed { run: String, what: &'static str },
    #[error("the journal cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

impl RunStoreError {
    /// Returns the error of a run that cannot be kept and so does not start.
    pub(crate) fn unusable(location: &StoreLocation, error: &Self) -> Self {
        let remedy = if let Self::Store(error @ StoreError::Postgres(_)) = error { error.remedy() } else { "" };
        Self::Unusable { location: Box::new(location.clone()), why: error.to_string(), remedy }
    }
}

impl From<RunStoreError> for UserError {
    fn from(error: RunStoreError) -> Self {
        let remedy = match &error {
            RunStoreError::Store(error) => error.remedy(),
            RunStoreError::Unusable { remedy: "", .. } => "make room, name another store with --store, or keep nothing with --no-store",
            RunStoreError::Unusable { remedy, .. } => remedy,
            RunStoreError::Complete(_) => "there is nothing to resume",
            RunStoreError::Changed { .. } => "restore the files and arguments, or start a new run",
            RunStoreError::Thread(_) => "",
        };
        UserError::new(error.to_string(), remedy)
    }
}
