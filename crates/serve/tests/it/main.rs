//! Tests of the servers over loopback.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests use the clock and files, and fail by panicking")]

mod collector;
mod hostile;
