//! Integration tests of the world: contracts, both chains, the live world and its endpoints.

mod chain;
mod contracts;
mod edges;
mod live;
mod mcp;
mod scripted;
