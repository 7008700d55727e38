//! The edge that speaks the Model Context Protocol: our own server, and a client that trusts no server.

mod client;
mod diagnostics;
mod error;
mod http;
mod in_memory;
mod limits;
mod metered_reader;
mod printable;
pub mod serve;
mod server;
mod server_listing;
mod server_process;
mod session;
pub mod source;
mod tool_list;

pub use client::{McpEndpoint, list_tools};
pub use error::{BoundedQuantity, McpError, McpFault};
pub use in_memory::list_in_memory;
pub use limits::McpLimits;
pub(crate) use printable::printable;
pub use server::{ListOnlyHandler, McpReply, ToolHandler, ToolServer};
pub use server_listing::ServerListing;
