//! Endpoints for finished agents, all on one loopback port: MCP, Ethereum JSON-RPC and pages, each for one trial and its token.

mod error;
mod guard;
mod pages;
mod registry;
mod routes;
mod rpc;
mod server;
mod token;
mod trial;

pub use error::EdgeError;
pub use server::{Edges, Server};
pub use token::{BadToken, Token};
