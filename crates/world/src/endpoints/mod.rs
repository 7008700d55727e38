//! Endpoints for external agents on one loopback port: MCP, Ethereum JSON-RPC and pages. Each trial has its own token.

mod error;
mod pages;
mod request_guard;
mod routes;
mod rpc;
mod served_trial;
mod server;
mod trial_registry;
mod trial_token;

pub use error::EndpointError;
#[doc(hidden)]
pub use rpc::answer_rpc_body;
pub use server::{EndpointServer, TrialEndpoints};
pub use trial_token::{TokenError, TrialToken};
