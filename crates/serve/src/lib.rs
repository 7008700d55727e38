//! Servers of bardo-eval. The [`collector`] receives production traces and stores them; the [`viewer`] shows stored runs in a browser, and [`pages`] are its
//! pages, pure functions from stored data to HTML.
//!
//! Requests are hostile until they are bounded and redacted. Reading traces, scoring and judging are in `campaign`.

pub mod collector;
mod connections;
pub mod pages;
pub mod viewer;
