//! A day in the life of an account: the scripted acts every chain must show with the same effects.

mod acts;
mod both_chains;
mod harness;
mod limits;
mod signatures;
