//! Live world tests: a complete trade, hook violations, the environment, every tool in every world, and malformed arguments.

mod case_fixtures;
mod determinism;
mod environment;
mod every_tool;
mod guardian_terms;
mod harness;
mod hook_violations;
mod limits_over_chains;
mod malformed;
mod own_policy;
mod pipeline;
mod samples;
