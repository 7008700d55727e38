//! Endpoints for finished agents, all on one loopback port: MCP, Ethereum JSON-RPC and pages, each for one trial and its token.

mod http;
mod pages;
mod rpc;
mod server;
mod stream;
mod token;
mod trial;

pub use server::{EdgeError, Edges, Server};
pub use token::{BadToken, Token};
