//! Scripted account operations that must have the same effects on every chain.

mod account_operations;
mod chain_parity;
mod harness;
mod limits;
mod padded_batches;
mod signatures;
