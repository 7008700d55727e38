//! HTTP provider: sends requests in one wire format and charges the run's budget. The only code that connects to a vendor.

use super::Provider;
use super::api_key::ApiKey;
use super::chat::{ContentBlock, ModelCall, ModelReply};
use super::fault::{FaultKind, ProviderFault};
use super::price::{ceiling, cost};
use super::retry_after::parse_retry_after;
use super::tool_names::{ToolNameMap, VendorLimits};
use super::wire::{WireFormat, expect_object};
use crate::budget::{Budget, BudgetReservation};
use crate::clock::Clock;
use crate::ledger::{BillingDoubt, Ledger};
use crate::secrets::SecretRedactor;
use async_trait::async_trait;
use model::{ModelPrice, Money};
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Maximum size of a reply.
const MAX_REPLY_BYTES: usize = 8 << 20;

/// Maximum bytes read of an error response.
const MAX_ERROR_BYTES: usize = 64 << 10;
const MAX_ERROR_CHARS: usize = 300;

/// Provider that sends requests. It cannot be built without a budget and a ledger.
pub(super) struct HttpProvider {
    pub(super) wire: Box<dyn WireFormat>,
    pub(super) client: reqwest::Client,
    pub(super) url: Url,
    pub(super) key: Option<ApiKey>,
    /// Secrets of the run, with the key.
    pub(super) secrets: SecretRedactor,
    pub(super) price: Option<ModelPrice>,
    pub(super) stream: bool,
    pub(super) time_limit: Duration,
    pub(super) budget: Arc<Budget>,
    pub(super) clock: Clock,
    pub(super) ledger: Arc<dyn Ledger>,
    /// Server and fingerprint of the key, for limits that machines share.
    pub(super) vendor: String,
}

impl fmt::Debug for HttpProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpProvider").field("url", &self.url.as_str()).field("price", &self.price).finish_non_exhaustive()
    }
}

#[async_trait]
impl Provider for HttpProvider {
    fn vendor_limits(&self) -> VendorLimits {
        self.wire.vendor_limits()
    }

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault> {
        let names = ToolNameMap::new(self.wire.vendor_limits(), &ask.request().tools)?;
        let body = self.wire.request_body(ask, self.stream).to_string();
        let reservation = self.reserve(ask, body.len()).await?;
        if let Err(fault) = self.ledger.reserve_at(&ask.call, reservation.ceiling(), &self.vendor).await {
            reservation.release();
            return Err(fault.into());
        }
        match self.send(body).await {
            Ok(reply) => self.settle(ask, reservation, restore_tool_names(reply, &names)).await,
            Err(fault) => Err(self.fail(ask, reservation, fault).await),
        }
    }
}

impl HttpProvider {
    async fn reserve(&self, ask: &ModelCall, bytes: usize) -> Result<BudgetReservation, ProviderFault> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let most = match &self.price {
            Some(price) => ceiling(price, bytes, ask.request().max_output),
            None if self.budget.has_limit() => {
                return Err(ProviderFault::new(FaultKind::Unfunded, "cannot enforce the budget: the model has no price"));
            }
            None => Money::ZERO,
        };
        Ok(self.budget.reserve(most).await?)
    }

    async fn settle(&self, ask: &ModelCall, reservation: BudgetReservation, reply: ModelReply) -> Result<ModelReply, ProviderFault> {
        let reply = self.redact_reply(reply)?;
        let paid = match (&self.price, &reply.usage) {
            (Some(price), Some(usage)) if usage.input > 0 => {
                let cost = cost(price, usage);
                if reservation.is_impossible(cost) {
                    self.ledger.record_doubt(BillingDoubt::Impossible).await?;
                }
                reservation.settle(cost)
            }
            (Some(_), _) => {
                self.ledger.record_doubt(BillingDoubt::Unreadable).await?;
                reservation.settle_unreadable()
            }
            (None, _) => reservation.settle(Money::ZERO),
        };
        self.ledger.settle(&ask.call, paid, &super::settled_reply::keyed_reply_json(ask, &reply)).await?;
        Ok(reply)
    }

    async fn fail(&self, ask: &ModelCall, reservation: BudgetReservation, fault: ProviderFault) -> ProviderFault {
        let paid = if fault.kind.may_be_billed() { reservation.ceiling() } else { Money::ZERO };
        reservation.settle(paid);
        let throttled = match fault.kind.is_throttling() {
            true => self.ledger.record_throttle(&ask.call, fault.wait).await,
            false => Ok(()),
        };
        match throttled.and(self.ledger.fail(&ask.call, paid, &fault.to_string()).await) {
            Ok(()) => fault,
            Err(ledger) => ledger.into(),
        }
    }

    /// Sends the request with the time limit. Latency is measured from sending to the last byte received.
    async fn send(&self, body: String) -> Result<ModelReply, ProviderFault> {
        let stopwatch = self.clock.stopwatch();
        let answered = timeout(self.time_limit, self.exchange(body)).await;
        let seconds = self.time_limit.as_secs();
        let mut reply = answered.unwrap_or_else(|_| Err(ProviderFault::new(FaultKind::TooSlow, format!("no reply within {seconds} s"))))?;
        reply.latency_ms = u64::try_from(stopwatch.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(reply)
    }

    async fn exchange(&self, body: String) -> Result<ModelReply, ProviderFault> {
        let mut request = self.client.post(self.url.clone()).header("content-type", "application/json").body(body);
        for (name, value) in self.wire.headers(self.key.as_ref()) {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|error| self.transport_fault(&error))?;
        let request_id = response.headers().get(self.wire.request_id_header()).and_then(|id| id.to_str().ok());
        let request_id = request_id.map(|id| self.sanitize(id, 128));
        let read = match response.status().is_success() {
            true => self.read_reply(response).await,
            false => Err(self.read_error(response).await),
        };
        match read {
            Ok(reply) => Ok(ModelReply { request_id, ..reply }),
            Err(fault) => Err(ProviderFault { request_id, ..fault }),
        }
    }

    async fn read_reply(&self, response: Response) -> Result<ModelReply, ProviderFault> {
        let text = self.read_text(response).await?;
        // Some servers answer a request for a stream with one document, above all if it is an error.
        let whole = match self.stream && (self.wire.streams_documents() || !text.trim_start().starts_with('{')) {
            true => self.wire.assemble_stream(&text),
            false => serde_json::from_str(&text).map_err(|error| ProviderFault::garbled(format!("not JSON: {error}"))),
        };
        let read = whole.and_then(|whole| {
            let error_message = error_message(&whole);
            let reply = self.wire.parse_reply(expect_object(whole, "the reply")?);
            reply.map_err(|fault| error_message.map_or(fault, |said| ProviderFault::garbled(format!("the reply is an error: {said}"))))
        });
        read.map_err(|fault| ProviderFault { why: self.sanitize(&fault.why, MAX_ERROR_CHARS), ..fault })
    }

    async fn read_text(&self, mut response: Response) -> Result<String, ProviderFault> {
        let too_large = || ProviderFault::new(FaultKind::TooLarge, format!("larger than {} MB", MAX_REPLY_BYTES >> 20));
        if response.content_length().is_some_and(|length| length > MAX_REPLY_BYTES as u64) {
            return Err(too_large());
        }
        let mut bytes = vec![];
        while let Some(chunk) = response.chunk().await.map_err(|error| self.transport_fault(&error))? {
            if bytes.len() + chunk.len() > MAX_REPLY_BYTES {
                return Err(too_large());
            }
            bytes.extend_from_slice(&chunk);
        }
        String::from_utf8(bytes).map_err(|_| ProviderFault::garbled("not UTF-8"))
    }

    /// Reads an error response: kind, retry delay and the vendor's message.
    async fn read_error(&self, mut response: Response) -> ProviderFault {
        let (status, wait) = (response.status(), parse_retry_after(response.headers()));
        let mut bytes = vec![];
        while let Ok(Some(chunk)) = response.chunk().await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() >= MAX_ERROR_BYTES {
                break;
            }
        }
        let page = String::from_utf8_lossy(&bytes).into_owned();
        let (code, said) = parse_error_body(&page);
        let kind = fault_kind_of(status, &code);
        let why = match status.is_redirection() {
            true => format!("status {}", status.as_u16()),
            false => format!("status {}, {}", status.as_u16(), self.sanitize(&said, MAX_ERROR_CHARS)),
        };
        ProviderFault { wait, ..ProviderFault::new(kind, why) }
    }

    fn transport_fault(&self, error: &reqwest::Error) -> ProviderFault {
        let kind = if error.is_connect() { FaultKind::Unreachable } else { FaultKind::Dropped };
        ProviderFault::new(kind, self.sanitize(&root_cause(error), MAX_ERROR_CHARS))
    }

    /// Makes vendor text safe to display: secrets redacted, one line, at most `most` characters.
    fn sanitize(&self, text: &str, most: usize) -> String {
        let text = self.secrets.redact(text);
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most).collect::<String>().trim().to_owned()
    }

    /// Removes echoed secrets, so that they do not reach a transcript.
    fn redact_reply(&self, reply: ModelReply) -> Result<ModelReply, ProviderFault> {
        let mut reply = self.secrets.redact_item(reply).map_err(|error| ProviderFault::garbled(error.to_string()))?;
        let texts = reply.blocks.iter_mut().filter_map(|block| if let ContentBlock::Text { text, .. } = block { Some(text) } else { None });
        self.secrets.redact_parts(texts.collect());
        Ok(reply)
    }
}

fn restore_tool_names(mut reply: ModelReply, names: &ToolNameMap) -> ModelReply {
    for block in &mut reply.blocks {
        if let ContentBlock::Call { tool, .. } = block {
            *tool = names.to_tool_name(std::mem::take(tool));
        }
    }
    reply
}

fn fault_kind_of(status: StatusCode, code: &str) -> FaultKind {
    match status.as_u16() {
        // An empty account is not fixed by waiting.
        429 if code == "insufficient_quota" => FaultKind::Rejected,
        429 => FaultKind::RateLimited,
        503 | 529 => FaultKind::Overloaded,
        408 | 500..=599 => FaultKind::Server,
        300..=399 => FaultKind::Redirected,
        _ => FaultKind::Rejected,
    }
}

/// Returns the message of an error that came with a status of success.
fn error_message(reply: &Value) -> Option<String> {
    let error = reply.get("error").filter(|error| !error.is_null())?;
    Some(parse_error_body(&serde_json::json!({ "error": error }).to_string()).1)
}

/// Returns code and message of an error body; the whole body if it has no known format.
fn parse_error_body(page: &str) -> (String, String) {
    let Ok(body) = serde_json::from_str::<Value>(page) else { return (String::new(), page.to_owned()) };
    let text = |path: &str| body.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let code = text("/error/code").or_else(|| text("/error/type")).unwrap_or_default();
    (code, text("/error/message").or_else(|| text("/error")).unwrap_or_else(|| page.to_owned()))
}

/// Returns the innermost cause. reqwest nests "connection refused" three levels deep, and the outer texts repeat the address.
fn root_cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(deeper) = innermost.source() {
        innermost = deeper;
    }
    innermost.to_string()
}
