//! Integration tests of the guard: the frozen corpus and how it was made.

mod frozen;
mod gates;
mod generator;
mod hostile;
mod seen;
mod sources;
