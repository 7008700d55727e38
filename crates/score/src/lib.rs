//! What a transcript and a workspace mean: checks, scorers, metrics, gates. Pure functions of stored data.

pub mod checks;
mod compare;
pub mod confusability;
pub mod diff;
pub mod example;
pub mod fuzz;
pub mod gates;
pub mod golden;
pub mod quality;
pub mod questions;
mod rules;
pub mod scorers;
