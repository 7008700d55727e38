//! Sources of replies: a node, or bodies that were recorded.

use super::super::ChainError;
use super::super::anvil::node_client::NodeClient;
use reqwest::StatusCode;
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Duration;

#[derive(Debug)]
pub(super) enum NodeSource {
    Http(NodeClient),
    Recorded { client: NodeClient, bodies: VecDeque<Vec<u8>> },
}

impl NodeSource {
    pub(super) fn recorded(bodies: Vec<Vec<u8>>) -> Self {
        // The address is a constant and never asked.
        let client = NodeClient::new("http://127.0.0.1", Duration::ZERO).unwrap_or_else(|error| panic!("{error}"));
        NodeSource::Recorded { client, bodies: bodies.into() }
    }

    pub(super) async fn request(&mut self, method: &'static str, params: Value) -> Result<Value, ChainError> {
        match self {
            NodeSource::Http(client) => client.request(method, params).await,
            NodeSource::Recorded { client, bodies } => {
                let body = bodies.pop_front().unwrap_or_default();
                client.read_reply(method, StatusCode::OK, &body)
            }
        }
    }
}
