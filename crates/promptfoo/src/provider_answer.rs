//! Answer of a provider.

use run::providers::FaultKind;
use serde_json::{Map, Value};

/// Answer of a provider, in promptfoo's shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ProviderAnswer {
    pub output: Value,
    pub error: Option<String>,
    /// Kind of the fault, if a model failed.
    pub fault: Option<FaultKind>,
    pub cost: Option<f64>,
    /// Time of the reply, if it is known without the time in queues.
    pub latency_ms: Option<u64>,
    pub token_usage: Value,
    /// All of the response: `finishReason`, `logProbs`, `guardrails`, `metadata`, `raw`.
    pub response: Map<String, Value>,
    /// Transform that the output still needs. It runs when the call no longer counts as in flight.
    pub pending: Option<PendingTransform>,
}

/// `transformResponse` with the body of the response that it reads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PendingTransform {
    pub source: String,
    pub json: Option<Value>,
    pub text: String,
}

impl ProviderAnswer {
    pub(crate) fn of(output: Value) -> Self {
        Self { output, ..Self::default() }
    }

    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Self { error: Some(why.into()), ..Self::default() }
    }
}
