//! Reads small logs of every format, hostile input, and exports.

#![allow(clippy::disallowed_methods, clippy::wildcard_enum_match_arm, reason = "the tests read their fixtures and look at few events")]

mod attacks;
mod exports;
mod formats;
mod hostile;
mod support;
