//! What a transcript and a workspace mean: checks, scorers, metrics, gates. Pure functions of stored data.

pub mod checks;
