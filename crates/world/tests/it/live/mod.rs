//! The live world as a subject meets it: the whole way of a trade, what goes wrong on it, every tool in every world, and nonsense.

mod determinism;
mod environment;
mod every_tool;
mod harness;
mod hook_violations;
mod malformed;
mod pipeline;
mod samples;
