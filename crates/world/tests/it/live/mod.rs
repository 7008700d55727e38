//! The live world as a subject meets it: the whole way of a trade, what goes wrong on it, every tool in every world, and nonsense.

mod around;
mod departures;
mod determinism;
mod harness;
mod malformed;
mod pipeline;
mod samples;
mod table;
