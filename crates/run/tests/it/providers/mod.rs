//! Tests of every provider against a loopback server in its wire format: replies, unknown fields and faults.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests panic on failure, print figures and read their own files"
)]

mod budget;
mod fault_storm;
mod faults;
mod keys;
mod latency;
mod reference_parity;
mod replies;
mod stack;
mod vendor_cases;
