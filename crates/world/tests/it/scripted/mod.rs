//! A day in the life of an account: the scripted acts every chain must show with the same effects.

mod account_operations;
mod chain_parity;
mod harness;
mod limits;
mod signatures;
