//! Store of runs, trials, model calls and cached replies, in a SQLite file or a PostgreSQL database.

mod agent_output;
mod browse;
mod call_row;
mod calls;
mod copy;
mod engine;
mod error;
mod journal;
mod location;
mod lock;
mod open;
pub mod postgres;
mod private_file;
pub mod production;
mod run_listing;
mod runs;
mod search;
mod selection;
mod spending;
mod sqlite;
mod transcripts;
mod trial_text;
mod trials;

pub use agent_output::AgentOutput;
pub use browse::{StoredOutcome, TrialFilter, TrialListing, TrialPage};
pub use call_row::{CallKey, CallStateCounts};
pub use copy::{CopiedRows, RunCopy};
pub use error::StoreError;
pub use journal::{CommitCallback, Journal, JournalWrite};
pub use location::StoreLocation;
pub use lock::RunLock;
pub use run_listing::RunListing;
pub use runs::{NewRun, StoredRun};
pub use search::{IndexCoverage, ReportKey, SearchIndex, SearchPosition, SearchTerms};
pub use selection::RunCounts;
pub use spending::RoleSpending;
pub use sqlite::{OutcomeRule, set_busy_notice};
pub use transcripts::{TrialMatches, TrialPosition, UnreadTrial};
pub use trial_text::TrialCall;
pub use trials::{EndedTrial, TrialRow};

/// Connection to a store.
#[derive(Debug)]
pub struct Store {
    engine: Box<dyn engine::StoreEngine>,
}

#[cfg(test)]
mod tests;
