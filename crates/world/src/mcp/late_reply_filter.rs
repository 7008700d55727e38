//! Transport that settles the SDK's probe of a server: its late answer is dropped, and an answer that is none becomes an error.
//!
//! The SDK probes a server with `server/discover`, waits 10 seconds and then sends `initialize`. A server that needs longer to start answers
//! both, the probe first, and the SDK would take that answer for the one to `initialize`. A server that answers methods it does not know
//! with an empty result does not know the probe, and is initialized like one that says so.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ErrorData, RoleClient};

#[derive(Debug)]
pub(super) struct LateReplyFilter<T> {
    inner: T,
    probe: ProbeState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ProbeState {
    /// Never sent, or answered in time.
    Settled,
    Waiting(RequestId),
    /// Another handshake was started before the answer came.
    GivenUp(RequestId),
}

impl ProbeState {
    fn note_sent(&mut self, message: &ClientJsonRpcMessage) {
        let ClientJsonRpcMessage::Request(sent) = message else { return };
        match (&sent.request, &*self) {
            (ClientRequest::DiscoverRequest(_), _) => *self = Self::Waiting(sent.id.clone()),
            (ClientRequest::InitializeRequest(_), Self::Waiting(probe)) => *self = Self::GivenUp(probe.clone()),
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
    fn is_late_reply(&mut self, message: &ServerJsonRpcMessage) -> bool {
        let (id, without_id) = match message {
            ServerJsonRpcMessage::Response(response) => (Some(&response.id), false),
            ServerJsonRpcMessage::Error(error) => (error.id.as_ref(), error.id.is_none()),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => return false,
        };
        let is_about = |probe: &RequestId| without_id || id.is_some_and(|id| is_same_id(probe, id));
        let (answered, late) = match self {
            Self::Settled => (false, false),
            Self::Waiting(probe) => (is_about(probe), false),
            Self::GivenUp(probe) => (is_about(probe), is_about(probe)),
        };
        if answered {
            *self = Self::Settled;
        }
        late
    }
}

/// Compares ids. Some servers answer a number as a text.
fn is_same_id(sent: &RequestId, answered: &RequestId) -> bool {
    sent.to_string() == answered.to_string()
}

impl<T> LateReplyFilter<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, probe: ProbeState::Settled }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for LateReplyFilter<T> {
    type Error = T::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.probe.note_sent(&item);
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.probe.understood(self.inner.receive().await?);
            if !self.probe.is_late_reply(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
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

    #[test]
    fn answer_in_time_is_passed_on() {
        let mut probe = ProbeState::Settled;
        probe.note_sent(&sent(0, "server/discover"));
        assert_eq!(probe, ProbeState::Waiting(RequestId::Number(0)));
        assert!(!probe.is_late_reply(&refused(json!(0))));
        probe.note_sent(&sent(1, "initialize"));
        assert!(!probe.is_late_reply(&refused(json!(1))), "a refused handshake is an answer");
        assert_eq!(probe, ProbeState::Settled);
    }

    #[test]
    fn answer_that_is_none_is_an_unknown_method() {
        let answered = |id: Value, result: Value| -> ServerJsonRpcMessage {
            serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "result": result })).unwrap()
        };
        let mut probe = ProbeState::Settled;
        probe.note_sent(&sent(0, "server/discover"));
        for (id, result) in [(json!(0), json!({})), (json!("0"), json!({})), (json!(0), json!({ "tools": [] })), (json!(0), json!("ok"))] {
            let ServerJsonRpcMessage::Error(error) = probe.understood(answered(id, result.clone())) else { panic!("{result}") };
            assert_eq!((error.id, error.error.code), (Some(RequestId::Number(0)), ErrorCode::METHOD_NOT_FOUND), "{result}");
        }
        assert!(matches!(probe.understood(answered(json!(7), json!({}))), ServerJsonRpcMessage::Response(_)), "another request");
        probe.note_sent(&sent(1, "initialize"));
        assert!(matches!(probe.understood(answered(json!(1), json!({}))), ServerJsonRpcMessage::Response(_)), "the handshake");
    }

    #[test]
    fn late_answer_is_dropped_once() {
        for late in [json!(0), json!("0"), Value::Null] {
            let mut probe = ProbeState::Settled;
            probe.note_sent(&sent(0, "server/discover"));
            probe.note_sent(&sent(1, "initialize"));
            assert!(!probe.is_late_reply(&refused(json!(1))), "the answer to the handshake is passed on");
            assert!(probe.is_late_reply(&refused(late.clone())), "{late}");
            assert!(!probe.is_late_reply(&refused(late.clone())), "{late}: only one answer is late");
        }
    }
}
