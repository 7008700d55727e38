//! Integration tests of the guard: the frozen corpus, the rules and the gates.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod frozen;
mod gates;
mod hostile;
mod seen;
