//! What happens in a trial: the driver, the seats, the subjects. Whatever runs here cannot score.

mod budget;
mod clock;
mod driver;
pub mod finished;
mod journal;
pub mod judge;
pub mod ledger;
mod limits;
pub mod providers;
mod subject_pool;
pub mod subjects;
pub mod user;
mod verdict;

pub use budget::{Budget, BudgetExhausted, Reservation};
pub use clock::{Clock, Stopwatch};
pub use driver::{Scene, drive};
pub use journal::{JournalLedger, OpenRun};
pub use limits::{Limits, Used};
pub use model::seat::{Colleague, Heard, Seat, View};
pub use subject_pool::{SubjectDeps, SubjectInWorld, SubjectPool, fits};
pub use subjects::{Subject, SubjectFault};
pub use user::User;
