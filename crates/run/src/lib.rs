//! Runs trials: driver, subjects, simulated users and LLM providers. Scoring is in another crate.

pub mod attacker;
mod budget;
mod clock;
mod driver;
pub mod external;
mod journal_ledger;
pub mod judge;
pub mod ledger;
mod limits;
mod move_size;
mod production_ledger;
pub mod providers;
mod queue_ledger;
mod secrets;
mod subject_pool;
pub mod subjects;
pub mod user;
mod verifier_decision;

pub use budget::{BillingDoubts, Budget, BudgetExhausted, BudgetReservation, FundingGap};
pub use clock::{Clock, Stopwatch};
pub use driver::{TrialContext, drive};
pub use journal_ledger::{JournalLedger, OpenRun};
pub use limits::{ReplyTotals, SubjectUsage, TrialLimits};
pub use model::view::{AgentContext, DelegateInfo, Observation, View};
pub use production_ledger::ProductionLedger;
pub use queue_ledger::QueueLedger;
pub use secrets::{REDACTED, SecretInFixedWord, SecretRedactor};
pub use subject_pool::{SubjectDeps, SubjectGuard, SubjectInWorld, SubjectPool, check_tool_limit};
pub use subjects::{Subject, SubjectFault};
pub use user::User;
