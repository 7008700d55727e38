//! Collector of OTLP traces: HTTP with protobuf or JSON, and gRPC. A request is answered once its spans are durable.

mod access;
mod fuzz_target;
mod grpc;
mod gzip;
mod hex_keys;
mod http;
mod json_request;
mod limits;
mod listed_words;
mod metrics;
mod protobuf;
mod received;
mod redaction;
mod seed_lists;
mod seed_words;
mod server;
mod sink;
mod state;
mod webhook;
mod wire;
mod word_runs;

pub use access::{Access, AccessError, BearerToken};
#[doc(hidden)]
pub use fuzz_target::read_any_export;
pub use limits::CollectorLimits;
pub use metrics::{CollectorMetrics, GaugeText, RefusalKind};
pub use redaction::{PatternError, Redactor};
pub use server::{Collector, CollectorError, CollectorSettings, TlsFiles};
pub use webhook::{Webhook, WebhookError};

use std::sync::Arc;

/// Milliseconds since 1970, from the caller.
pub type ClockMs = Arc<dyn Fn() -> u64 + Send + Sync>;
