//! What happens in a trial: the driver, the seats, the subjects. Whatever runs here cannot score.

mod driver;
mod seat;
pub mod subjects;
mod watcher;

pub use driver::{Limits, drive};
pub use seat::{Heard, Seat, View};
pub use subjects::{Subject, SubjectFault};
pub use watcher::{Go, Silent, Watcher};
