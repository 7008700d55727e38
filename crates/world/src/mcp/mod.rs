//! The edge that speaks the Model Context Protocol: our own server, and a client that trusts no server.

mod child;
mod client;
mod error;
mod http;
mod limits;
mod listed;
mod memory;
mod meter;
mod notes;
mod pages;
pub mod serve;
mod server;
mod session;
mod shown;
pub mod source;

pub use client::{Source, list};
pub use error::{Fault, McpError, Quantity};
pub use limits::Limits;
pub use listed::Listed;
pub use memory::list_in_memory;
pub use server::{Answer, ListsOnly, Reply, ToolServer};
pub(crate) use shown::shown;
