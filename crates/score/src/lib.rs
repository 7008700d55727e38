//! Evaluation of stored data: workspace checks, scorers, metrics and gates. All functions are pure.

pub mod assertions;
pub mod causes;
pub mod checks;
mod compare;
pub mod confusability;
pub mod coverage;
pub mod diff;
pub mod drift;
mod evidence;
pub mod example;
mod external_scores;
mod facts;
mod finding;
pub mod gates;
pub mod golden;
mod json_answer;
mod json_texts;
pub mod outcome;
pub mod pairing;
pub mod production;
pub mod quality;
pub mod questions;
mod rules;
mod sample_run;
pub mod scorers;
pub mod spec_bounds;
pub mod statistics;
mod trial;
pub mod workspace_changes;

pub use scorers::oracles;
pub use trial::score_trial;
