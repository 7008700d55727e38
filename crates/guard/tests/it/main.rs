//! Integration tests of the guard: the frozen corpus and how it was made.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod frozen;
mod gates;
mod generator;
mod hostile;
mod seen;
mod sources;
