//! Golden baselines: what a subject did when somebody looked and found it good, and whether it still does.

mod deed;
mod differ;
mod entry;
mod facts;
mod file;
mod shelf;
mod stamp;

pub use differ::{Compared, Reworded, compare};
pub use entry::{Entry, Step};
pub use file::{GoldenFile, UnreadableLine};
pub use shelf::Shelf;
pub use stamp::{AgentMark, Stamp};
