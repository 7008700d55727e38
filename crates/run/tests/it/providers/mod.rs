//! Every provider against a loopback server that speaks its wire format: good replies, odd ones, and every way to fail.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test fails by panicking, and reads what it wrote itself"
)]

mod budget;
mod fault_storm;
mod faults;
mod keys;
mod overhead;
mod reference_parity;
mod replies;
mod stack;
mod vendor_cases;
