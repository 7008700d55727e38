//! Tests of the servers over loopback.

#![allow(clippy::disallowed_methods, reason = "tests use the clock and files")]

mod collector;
mod hostile;
