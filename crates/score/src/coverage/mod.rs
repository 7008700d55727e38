//! Number of cases by agent, tool, skill, chain, language and number of turns, beside the minimums of `coverage.yaml`.

mod case_facts;
mod count;

pub use count::{CoverageGroup, CoverageRow, coverage};
