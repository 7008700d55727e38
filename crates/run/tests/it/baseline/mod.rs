//! The baseline in the reference workspace: a trade by several agents, renamed tools, determinism.

#![expect(clippy::wildcard_enum_match_arm, reason = "tests match only the events they check")]

mod harness;
mod renamed_tools;
mod trade;
