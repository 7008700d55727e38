//! The baseline in the reference workspace: a trade by several agents, renamed tools, the same again.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for the few events it is about")]

mod harness;
mod renamed_tools;
mod trade;
