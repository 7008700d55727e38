//! Servers of bardo-eval: the collector receives production traces and stores them.
//!
//! Requests are hostile until they are bounded and redacted. Reading traces, scoring and judging are in `campaign`.

pub mod collector;
