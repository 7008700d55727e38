//! Integration tests of the guard: the frozen corpus and how it was made.

mod frozen;
mod generator;
mod sources;
