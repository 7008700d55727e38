//! Model Context Protocol: our server, and a client that treats every server as untrusted.

mod client;
mod diagnostics;
mod error;
mod http;
mod in_memory;
mod late_reply_filter;
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
pub use tool_list::DeclaredEffect;
#[doc(hidden)]
pub use tool_list::read_server_message;
