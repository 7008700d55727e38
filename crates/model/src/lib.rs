//! What things are: the types, ids and file shapes of bardo-eval. No I/O, no clock, no environment, no randomness.

mod listing;

pub use listing::Listing;
