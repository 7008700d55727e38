//! Selection, planning and the one way from a request to a summary. Prints nothing.
//!
//! `RunRequest` → `RunSpec` → `RunPlan` → `PreparedRun` → `execute` → `Summary`. Stored runs take the same last step through `rescore`.

mod aggregate;
mod changes;
mod ci;
mod cost;
mod draft;
mod execute;
mod failed_cases;
mod golden;
mod judging;
mod plan;
mod prepare;
mod rescore;
mod run_store;
mod spec;
mod summary;
mod watcher;
mod wording;

pub use changes::{ChangedScore, ChangedVerdict, Changes, Judged};
pub use ci::{Occasion, TierPlan, ci_plan};
pub use cost::{
    Bill, Estimate, GateReach, LiveModels, Quote, RunCost, Saved, Spent, Sum, TierCost, bill, estimate, funded, gates_first, quotes, reach,
};
pub use draft::{Draft, DraftError, draft};
pub use execute::{execute, execute_in_memory};
pub use failed_cases::failed_cases;
pub use golden::{Changed, Golden, GoldenDiff, Says, Status, Wording, Wordings};
pub use judging::{NotCalibrated, ask_judge, calibrate_judge};
pub use plan::{CostForecast, ForecastJudge, RunPlan, outline, plan};
pub use prepare::{AuxiliaryModels, PreparedRun, RunEnvironment, RunFunds, RunParts, prepare};
pub use rescore::{RescoredRun, import_record, rescore};
pub use run_store::{LockedRun, RunDestination, RunHandle, RunOrigin, RunStorage, RunStoreError, open_store, timestamp};
pub use spec::{
    ChainChoice, JudgeRequest, RecordingMode, RunOptions, RunRequest, RunSettings, RunSpec, Selection, Unknown, UnknownChain,
    inline_subject, select,
};
pub use summary::{AbortedTrial, FlakyCase, OutcomeCounts, Summary};
pub use tokio_util::sync::CancellationToken;
pub use watcher::{Go, Silent, WatchedTrial, Watcher};
pub use wording::judge_wordings;
