//! Servers of bardo-eval: the collector receives production traces and stores them.
//!
//! What is received is hostile until it is bounded and redacted. Reading traces, scoring and judging are in `campaign`.

pub mod collector;
