//! Transport that settles the SDK's probe of a server: its late answer is dropped or acted on, and an answer that is none becomes an error.
//!
//! The SDK probes a server with `server/discover`, waits 10 seconds and then sends `initialize`. A server that needs longer to start answers
//! both, the probe first, and the SDK would take that answer for the one to `initialize`. If the late answer is a refusal, the server is
//! initialized. If it is an answer, the server has settled on the protocol without `initialize`, which it will refuse: the handshake ends
//! with an error and the transport is handed back for one in that protocol. A server that answers methods it does not know with an empty
//! result does not know the probe, and is initialized like one that says so.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ErrorData, RoleClient};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub(super) struct LateReplyFilter<T> {
    /// Taken only when the filter is dropped.
    inner: Option<T>,
    probe: ProbeState,
    /// Request of an earlier handshake whose answer is dropped if it comes before that to the probe.
    stale: Option<RequestId>,
    handed_back: HandedBack<T>,
}

/// Place where a filter leaves the transport of a server that was discovered late.
pub(super) type HandedBack<T> = Arc<Mutex<Option<DiscoveredTransport<T>>>>;

/// Transport of a server that answered the probe after the SDK had given it up.
#[derive(Debug)]
pub(super) struct DiscoveredTransport<T> {
    transport: T,
    unanswered: RequestId,
}

/// Takes the transport that a filter handed back, with a filter for the next handshake.
pub(super) fn take_discovered<T>(handed_back: &HandedBack<T>) -> Option<LateReplyFilter<T>> {
    let DiscoveredTransport { transport, unanswered } = handed_back.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    let mut filter = LateReplyFilter::new(transport, HandedBack::default());
    filter.stale = Some(unanswered);
    Some(filter)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ProbeState {
    /// Never sent, or answered in time.
    Settled,
    Waiting(RequestId),
    /// Another handshake was started before the answer came.
    GivenUp {
        probe: RequestId,
        handshake: RequestId,
    },
    /// The answer came late and was no refusal.
    DiscoveredLate {
        handshake: RequestId,
    },
}

/// Meaning of an incoming message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyTiming {
    InTime,
    Late,
    /// A late answer that is not a refusal.
    LateDiscovery,
}

impl ProbeState {
    fn note_sent(&mut self, message: &ClientJsonRpcMessage) {
        let ClientJsonRpcMessage::Request(sent) = message else { return };
        match (&sent.request, &*self) {
            (ClientRequest::DiscoverRequest(_), _) => *self = Self::Waiting(sent.id.clone()),
            (ClientRequest::InitializeRequest(_), Self::Waiting(probe)) => {
                *self = Self::GivenUp { probe: probe.clone(), handshake: sent.id.clone() };
            }
            (_, _) => {}
        }
    }

    /// Returns the message as the SDK understands it: a result that does not answer the probe becomes the error of an unknown method.
    fn understood(&self, message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        let (Self::Waiting(probe), ServerJsonRpcMessage::Response(response)) = (self, &message) else { return message };
        if !is_same_id(probe, &response.id) || matches!(response.result, ServerResult::DiscoverResult(_)) {
            return message;
        }
        let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "the answer to server/discover is not one", None);
        ServerJsonRpcMessage::error(error, Some(probe.clone()))
    }

    /// Notes a message of the server and returns whether it is the late answer. A server that cannot read a request answers without id; it
    /// answers in order, so the first such error is about the probe.
    fn note_received(&mut self, message: &ServerJsonRpcMessage) -> ReplyTiming {
        let (id, without_id) = match message {
            ServerJsonRpcMessage::Response(response) => (Some(&response.id), false),
            ServerJsonRpcMessage::Error(error) => (error.id.as_ref(), error.id.is_none()),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => return ReplyTiming::InTime,
        };
        let is_about = |probe: &RequestId| without_id || id.is_some_and(|id| is_same_id(probe, id));
        let (next, timing) = match self {
            Self::Waiting(probe) if is_about(probe) => (Self::Settled, ReplyTiming::InTime),
            Self::GivenUp { probe, handshake } if is_about(probe) => match is_discovery(message) {
                true => (Self::DiscoveredLate { handshake: handshake.clone() }, ReplyTiming::LateDiscovery),
                false => (Self::Settled, ReplyTiming::Late),
            },
            Self::Settled | Self::Waiting(_) | Self::GivenUp { .. } | Self::DiscoveredLate { .. } => return ReplyTiming::InTime,
        };
        *self = next;
        timing
    }
}

fn is_discovery(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(response) if matches!(response.result, ServerResult::DiscoverResult(_)))
}

/// Compares ids. Some servers answer a number as a text.
fn is_same_id(sent: &RequestId, answered: &RequestId) -> bool {
    sent.to_string() == answered.to_string()
}

impl<T> LateReplyFilter<T> {
    pub(super) fn new(inner: T, handed_back: HandedBack<T>) -> Self {
        Self { inner: Some(inner), probe: ProbeState::Settled, stale: None, handed_back }
    }

    /// Returns whether a message answers the handshake before this one. The server answers in order, so none does after the probe's.
    fn is_stale(&mut self, message: &ServerJsonRpcMessage) -> bool {
        let id = match message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => return false,
        };
        let is_stale = matches!((&self.stale, id), (Some(stale), Some(id)) if is_same_id(stale, id));
        self.stale = None;
        is_stale
    }

    /// Returns the message that the SDK gets; `None` for one that is dropped.
    fn passed_on(&mut self, message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        if self.is_stale(&message) {
            return None;
        }
        let message = self.probe.understood(message);
        match self.probe.note_received(&message) {
            ReplyTiming::InTime => Some(message),
            ReplyTiming::Late => None,
            ReplyTiming::LateDiscovery => self.end_of_handshake(),
        }
    }

    /// Returns the error that ends the handshake of a server that was discovered late.
    fn end_of_handshake(&self) -> Option<ServerJsonRpcMessage> {
        let ProbeState::DiscoveredLate { handshake } = &self.probe else { return None };
        let error = ErrorData::new(ErrorCode::INVALID_REQUEST, "the server answered server/discover late", None);
        Some(ServerJsonRpcMessage::error(error, Some(handshake.clone())))
    }
}

impl<T> Drop for LateReplyFilter<T> {
    fn drop(&mut self) {
        if let (ProbeState::DiscoveredLate { handshake }, Some(transport)) = (&self.probe, self.inner.take()) {
            let left = DiscoveredTransport { transport, unanswered: handshake.clone() };
            *self.handed_back.lock().unwrap_or_else(PoisonError::into_inner) = Some(left);
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for LateReplyFilter<T> {
    type Error = T::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.probe.note_sent(&item);
        let sending = self.inner.as_mut().map(|inner| inner.send(item));
        async move {
            match sending {
                Some(sending) => sending.await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.as_mut()?.receive().await?;
            if let Some(message) = self.passed_on(message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        match self.inner.as_mut() {
            Some(inner) => inner.close().await,
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn sent(id: u64, method: &str) -> ClientJsonRpcMessage {
        let client = json!({ "name": "test", "version": "1" });
        let params = match method {
            "initialize" => json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
            _ => json!({}),
        };
        serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).unwrap()
    }

    fn refused(id: Value) -> ServerJsonRpcMessage {
        let error = json!({ "code": -32601, "message": "Method not found" });
        serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "error": error })).unwrap()
    }

    fn probed(messages: &[(u64, &str)]) -> LateReplyFilter<()> {
        let mut filter = LateReplyFilter::new((), HandedBack::default());
        messages.iter().for_each(|(id, method)| filter.probe.note_sent(&sent(*id, method)));
        filter
    }

    fn discovered(id: Value) -> ServerJsonRpcMessage {
        let result = json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 0, "cacheScope": "private" });
        let message = serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "result": result })).unwrap();
        let ServerJsonRpcMessage::Response(response) = &message else { panic!("{message:?}") };
        assert!(matches!(response.result, ServerResult::DiscoverResult(_)), "{message:?}");
        message
    }

    fn answered(id: Value, result: Value) -> ServerJsonRpcMessage {
        serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "result": result })).unwrap()
    }

    #[test]
    fn answer_in_time_is_passed_on() {
        let mut filter = probed(&[(0, "server/discover")]);
        assert_eq!(filter.probe, ProbeState::Waiting(RequestId::Number(0)));
        assert!(filter.passed_on(refused(json!(0))).is_some());
        filter.probe.note_sent(&sent(1, "initialize"));
        assert!(filter.passed_on(refused(json!(1))).is_some(), "a refused handshake is an answer");
        assert_eq!(filter.probe, ProbeState::Settled);
        let mut in_time = probed(&[(0, "server/discover")]);
        assert!(matches!(in_time.passed_on(discovered(json!(0))), Some(ServerJsonRpcMessage::Response(_))));
        drop(in_time);
    }

    #[test]
    fn answer_that_is_none_is_an_unknown_method() {
        let mut filter = probed(&[(0, "server/discover")]);
        for (id, result) in [(json!(0), json!({})), (json!("0"), json!({})), (json!(0), json!({ "tools": [] })), (json!(0), json!("ok"))] {
            let ServerJsonRpcMessage::Error(error) = filter.probe.understood(answered(id, result.clone())) else { panic!("{result}") };
            assert_eq!((error.id, error.error.code), (Some(RequestId::Number(0)), ErrorCode::METHOD_NOT_FOUND), "{result}");
        }
        assert!(matches!(filter.passed_on(answered(json!(7), json!({}))), Some(ServerJsonRpcMessage::Response(_))), "another request");
        filter.probe.note_sent(&sent(1, "initialize"));
        assert!(matches!(filter.passed_on(answered(json!(1), json!({}))), Some(ServerJsonRpcMessage::Response(_))), "the handshake");
    }

    #[test]
    fn late_refusal_is_dropped_once() {
        for late in [json!(0), json!("0"), Value::Null] {
            let mut filter = probed(&[(0, "server/discover"), (1, "initialize")]);
            assert!(filter.passed_on(refused(json!(1))).is_some(), "the answer to the handshake is passed on");
            assert!(filter.passed_on(refused(late.clone())).is_none(), "{late}");
            assert!(filter.passed_on(refused(late.clone())).is_some(), "{late}: only one answer is late");
        }
    }

    #[test]
    fn late_discovery_hands_the_transport_back_for_another_handshake() {
        let mut filter = probed(&[(0, "server/discover"), (1, "initialize")]);
        let handed_back = filter.handed_back.clone();
        let Some(ServerJsonRpcMessage::Error(error)) = filter.passed_on(discovered(json!(0))) else { panic!("the handshake goes on") };
        assert_eq!(error.id, Some(RequestId::Number(1)));
        drop(filter);
        let mut next = take_discovered(&handed_back).expect("the transport");
        assert!(take_discovered(&handed_back).is_none());
        next.probe.note_sent(&sent(0, "server/discover"));
        assert!(next.passed_on(refused(json!(1))).is_none(), "the answer to the first handshake is dropped");
        assert!(matches!(next.passed_on(discovered(json!(0))), Some(ServerJsonRpcMessage::Response(_))));
        next.probe.note_sent(&sent(1, "tools/list"));
        assert!(next.passed_on(answered(json!(1), json!({ "tools": [] }))).is_some(), "a later request with the same id");
        drop(probed(&[(0, "server/discover"), (1, "initialize")]));
        assert!(take_discovered(&handed_back).is_none(), "a transport without late discovery is not handed back");
    }
}
