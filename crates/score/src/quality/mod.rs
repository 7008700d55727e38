//! How good the cases are: whether they tell a right run from a nearly right one, and whether they are too easy.

mod alter;
mod mutants;
mod names;
mod rehearsal;
mod stand;

pub(crate) use mutants::{Mutant, Neighbours, mutants};
pub(crate) use names::NameIndex;
pub use rehearsal::rehearse;
pub(crate) use stand::Stand;
