//! What happens in a trial: the driver, the seats, the subjects. Whatever runs here cannot score.

mod company;
mod driver;
pub mod finished;
mod journal;
pub mod judge;
pub mod ledger;
mod limits;
pub mod providers;
mod purse;
mod seat;
pub mod subjects;
pub mod user;
mod verdict;

pub use company::{Company, Hiring, fits};
pub use driver::{Scene, drive};
pub use journal::JournalLedger;
pub use limits::{Limits, Used};
pub use purse::{Purse, Reservation, Unfunded};
pub use seat::{Colleague, Heard, Seat, View};
pub use subjects::{Subject, SubjectFault};
pub use user::User;
