//! Reads small logs of every format, hostile input, and exports.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "the tests read their fixtures, look at few events, and stop where they cannot go on"
)]

mod attacks;
mod exports;
mod formats;
mod hostile;
mod support;
