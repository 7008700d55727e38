//! Transport for `a2a:` agents: Agent2Agent over JSON-RPC, versions 0.3 and 1.0. The card says where and how; each turn is one message,
//! and the agent acts through the endpoints in the data part of the first one.

use super::agent_process::printable;
use super::http_transport::{agent_client, read_body, root_cause};
use super::message::AgentMessage;
use crate::secrets::SecretRedactor;
use crate::subjects::SubjectFault;
use model::transcript::Move;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use world::endpoints::TrialToken;

/// Time between two questions for the state of a task.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
const CARD_PATH: &str = ".well-known/agent-card.json";
/// Path of the card before version 0.3.
const OLD_CARD_PATH: &str = ".well-known/agent.json";
const NO_CARD: &str = "the agent has no card";

#[derive(Debug)]
pub(super) struct A2aTransport {
    client: Client,
    /// Address of the agent, with or without the path of its card.
    url: String,
    secrets: SecretRedactor,
    sender: mpsc::Sender<TurnEnd>,
    incoming: mpsc::Receiver<TurnEnd>,
    request_task: Option<JoinHandle<()>>,
    state: A2aConversation,
}

type TurnEnd = (A2aConversation, Result<AgentMessage, SubjectFault>);

/// Server and ids of the conversation, as learnt from its answers.
#[derive(Debug, Clone, Default)]
struct A2aConversation {
    endpoint: Option<A2aEndpoint>,
    context: Option<String>,
    /// Task that waits for input.
    task: Option<String>,
    /// Beginning of the ids of our messages, unique to the conversation.
    message_prefix: String,
    messages: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct A2aEndpoint {
    url: String,
    version: A2aVersion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum A2aVersion {
    V0_3,
    V1_0,
}

impl A2aTransport {
    pub(super) fn new(url: &str, secrets: SecretRedactor) -> Result<Self, SubjectFault> {
        let (sender, incoming) = mpsc::channel(4);
        let prefix = TrialToken::random().map_err(|error| SubjectFault::Harness(error.to_string()))?;
        Ok(Self {
            client: agent_client()?,
            url: url.to_owned(),
            secrets,
            sender,
            incoming,
            request_task: None,
            state: A2aConversation { message_prefix: prefix.as_str().to_owned(), ..A2aConversation::default() },
        })
    }

    /// Sends a turn. `hello` goes along with the first one.
    pub(super) fn send(&mut self, text: String, hello: Option<Value>) {
        let turn = A2aTurn { client: self.client.clone(), url: self.url.clone(), secrets: self.secrets.clone() };
        let (sender, mut state) = (self.sender.clone(), self.state.clone());
        self.request_task = Some(tokio::spawn(async move {
            let ended = turn.play(&mut state, text, hello).await;
            let _ = sender.send((state, ended)).await;
        }));
    }

    pub(super) async fn receive(&mut self) -> Result<AgentMessage, SubjectFault> {
        match self.incoming.recv().await {
            Some((state, ended)) => {
                self.state = state;
                ended
            }
            None => Err(SubjectFault::Harness("the A2A transport is closed".to_owned())),
        }
    }
}

impl Drop for A2aTransport {
    fn drop(&mut self) {
        if let Some(task) = &self.request_task {
            task.abort();
        }
    }
}

/// Parts that one turn needs.
struct A2aTurn {
    client: Client,
    url: String,
    secrets: SecretRedactor,
}

impl A2aTurn {
    async fn play(&self, state: &mut A2aConversation, text: String, hello: Option<Value>) -> Result<AgentMessage, SubjectFault> {
        let endpoint = match state.endpoint.clone() {
            Some(endpoint) => endpoint,
            None => self.find_endpoint().await?,
        };
        state.endpoint = Some(endpoint.clone());
        state.messages += 1;
        let params = json!({ "message": endpoint.version.message(state, text, hello) });
        let mut answer = self.call(&endpoint, endpoint.version.send_method(), params).await?;
        loop {
            state.remember(&answer);
            let task = match read_answer(&answer)? {
                A2aAnswer::Moved(next_move) => return Ok(AgentMessage { next_move: Some(next_move), claims: vec![] }),
                A2aAnswer::Working { task } => task,
            };
            tokio::time::sleep(POLL_INTERVAL).await;
            answer = self.call(&endpoint, endpoint.version.get_method(), json!({ "id": task })).await?;
        }
    }

    /// Reads the agent's card.
    async fn find_endpoint(&self) -> Result<A2aEndpoint, SubjectFault> {
        let base = self.url.trim_end_matches('/').trim_end_matches(CARD_PATH).trim_end_matches(OLD_CARD_PATH).trim_end_matches('/');
        let mut last = String::new();
        for path in [CARD_PATH, OLD_CARD_PATH] {
            let response = match self.client.get(format!("{base}/{path}")).send().await {
                Ok(response) => response,
                // Never reachable: not evidence about the agent.
                Err(error) => return Err(SubjectFault::Provider(format!("cannot connect to the agent: {}", root_cause(&error)))),
            };
            let status = response.status();
            if status.is_success() {
                let body = read_body(response).await?;
                // Not an agent that we can speak to, such as a web page at a wrong address: not evidence about it either.
                return self
                    .parse(&body)
                    .and_then(|card| A2aEndpoint::of_card(&card))
                    .map_err(|fault| no_card(&format!("{base}/{path}"), fault));
            }
            last = format!("{base}/{path} answered with status {}", status.as_u16());
        }
        Err(SubjectFault::Provider(format!("{NO_CARD}: {last}")))
    }

    async fn call(&self, endpoint: &A2aEndpoint, method: &str, params: Value) -> Result<Value, SubjectFault> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = self.client.post(&endpoint.url).header("content-type", "application/json").body(body.to_string());
        let response = with_version(request, endpoint.version).send().await;
        let response = response.map_err(|error| SubjectFault::Crashed(format!("the connection failed: {}", root_cause(&error))))?;
        let status = response.status();
        if status.is_server_error() {
            return Err(SubjectFault::Crashed(format!("the agent answered with status {}", status.as_u16())));
        }
        let mut answer = self.parse(&read_body(response).await?)?;
        if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
            let why = error.get("message").and_then(Value::as_str).unwrap_or("it gave no reason");
            return Err(SubjectFault::Crashed(format!("{method} failed: {}", printable(&self.secrets.redact(why), 200))));
        }
        match answer.get_mut("result").map(Value::take) {
            Some(result @ Value::Object(_)) => Ok(result),
            _ => Err(SubjectFault::Malformed(format!("the answer to {method} has no result (status {})", status.as_u16()))),
        }
    }

    fn parse(&self, body: &[u8]) -> Result<Value, SubjectFault> {
        serde_json::from_slice(body).map_err(|error| {
            let shown = printable(&self.secrets.redact(&String::from_utf8_lossy(body)), 80);
            SubjectFault::Malformed(format!("\"{shown}\": it is not JSON: {error}"))
        })
    }
}

/// Turns a fault in reading the card into one that says nothing about the agent, which was not asked yet.
fn no_card(url: &str, fault: SubjectFault) -> SubjectFault {
    if let SubjectFault::Malformed(why) = fault { SubjectFault::Provider(format!("{NO_CARD}: {url}: {why}")) } else { fault }
}

fn with_version(request: RequestBuilder, version: A2aVersion) -> RequestBuilder {
    match version {
        A2aVersion::V0_3 => request,
        A2aVersion::V1_0 => request.header("a2a-version", "1.0"),
    }
}

impl A2aEndpoint {
    /// Finds the JSON-RPC interface of a card: in `supportedInterfaces` of version 1.0, else in the card itself.
    fn of_card(card: &Value) -> Result<Self, SubjectFault> {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let is_rpc = |word: &str| word.eq_ignore_ascii_case("jsonrpc");
        let offered = |key: &str| card.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let new = offered("supportedInterfaces").into_iter().filter(|one| is_rpc(&text(one, "protocolBinding")));
        let new = new.map(|one| {
            let version = if text(&one, "protocolVersion").starts_with("0.") { A2aVersion::V0_3 } else { A2aVersion::V1_0 };
            A2aEndpoint { url: text(&one, "url"), version }
        });
        let transport = text(card, "preferredTransport");
        let own = (transport.is_empty() || is_rpc(&transport)).then(|| text(card, "url"));
        let more = offered("additionalInterfaces").into_iter().filter(|one| is_rpc(&text(one, "transport"))).map(|one| text(&one, "url"));
        let old = own.into_iter().chain(more).map(|url| A2aEndpoint { url, version: A2aVersion::V0_3 });
        // The newest version first.
        let mut all: Vec<Self> = new.chain(old).filter(|one| !one.url.is_empty()).collect();
        all.sort_by_key(|one| one.version == A2aVersion::V0_3);
        all.into_iter().next().ok_or_else(|| SubjectFault::Malformed("it offers no JSON-RPC interface".to_owned()))
    }
}

impl A2aVersion {
    fn send_method(self) -> &'static str {
        match self {
            A2aVersion::V0_3 => "message/send",
            A2aVersion::V1_0 => "SendMessage",
        }
    }

    fn get_method(self) -> &'static str {
        match self {
            A2aVersion::V0_3 => "tasks/get",
            A2aVersion::V1_0 => "GetTask",
        }
    }

    fn message(self, state: &A2aConversation, text: String, hello: Option<Value>) -> Value {
        let data = hello.map(|hello| json!({ "bardo": hello }));
        let mut message = match self {
            A2aVersion::V0_3 => {
                let data = data.map(|data| json!({ "kind": "data", "data": data }));
                let parts: Vec<Value> = std::iter::once(json!({ "kind": "text", "text": text })).chain(data).collect();
                json!({ "kind": "message", "role": "user", "parts": parts })
            }
            A2aVersion::V1_0 => {
                let data = data.map(|data| json!({ "data": data }));
                let parts: Vec<Value> = std::iter::once(json!({ "text": text })).chain(data).collect();
                json!({ "role": "ROLE_USER", "parts": parts })
            }
        };
        message["messageId"] = json!(format!("{}-{}", state.message_prefix, state.messages));
        if let Some(context) = &state.context {
            message["contextId"] = json!(context);
        }
        if let Some(task) = &state.task {
            message["taskId"] = json!(task);
        }
        message
    }
}

impl A2aConversation {
    /// Keeps the ids that the next message must repeat.
    fn remember(&mut self, answer: &Value) {
        let (kind, body) = payload(answer);
        let id = |key: &str| body.get(key).and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned);
        self.context = id("contextId").or(self.context.take());
        let waits = kind == PayloadKind::Task && task_state(body) == "input-required";
        self.task = if waits { id("id") } else { None };
    }
}

#[derive(Debug, PartialEq)]
enum A2aAnswer {
    Moved(Move),
    Working { task: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PayloadKind {
    Task,
    Message,
}

/// Returns the task or message of an answer. Version 1.0 wraps it, version 0.3 marks it by its kind.
fn payload(answer: &Value) -> (PayloadKind, &Value) {
    if let Some(task) = answer.get("task") {
        return (PayloadKind::Task, task);
    }
    if let Some(message) = answer.get("message") {
        return (PayloadKind::Message, message);
    }
    (if answer.get("status").is_some() { PayloadKind::Task } else { PayloadKind::Message }, answer)
}

/// Returns the state of a task in the words of version 0.3.
fn task_state(task: &Value) -> String {
    let state = task.pointer("/status/state").and_then(Value::as_str).unwrap_or_default();
    state.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-")
}

fn read_answer(answer: &Value) -> Result<A2aAnswer, SubjectFault> {
    let (kind, body) = payload(answer);
    if kind == PayloadKind::Message {
        let text = parts_text(body.get("parts"));
        return match text.is_empty() {
            true => Err(SubjectFault::Malformed("the answer is neither a task nor a message with text".to_owned())),
            false => Ok(A2aAnswer::Moved(Move::Say(text))),
        };
    }
    let said = parts_text(body.pointer("/status/message/parts"));
    let artifacts = body.get("artifacts").and_then(Value::as_array).into_iter().flatten();
    let results: Vec<String> = artifacts.map(|one| parts_text(one.get("parts"))).filter(|text| !text.is_empty()).collect();
    let why = || if said.is_empty() { "it gave no reason".to_owned() } else { printable(&said, 300) };
    Ok(A2aAnswer::Moved(match task_state(body).as_str() {
        "completed" if results.is_empty() => Move::Say(said),
        "completed" => Move::Say(results.join("\n\n")),
        "input-required" => Move::Ask(said),
        "rejected" => Move::Refuse(said),
        "failed" => return Err(SubjectFault::Crashed(format!("its task failed: {}", why()))),
        "canceled" => return Err(SubjectFault::Crashed(format!("it cancelled its task: {}", why()))),
        "submitted" | "working" => {
            let task = body.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            return Ok(A2aAnswer::Working { task });
        }
        other => return Err(SubjectFault::Malformed(format!("a task in the state \"{}\" cannot be continued", printable(other, 40)))),
    }))
}

/// Returns the text of a message or artifact; data parts are written as JSON.
fn parts_text(parts: Option<&Value>) -> String {
    let text = |part: &Value| match (part.get("text"), part.get("data")) {
        (Some(Value::String(text)), _) => Some(text.clone()),
        (_, Some(data)) => Some(data.to_string()),
        (_, None) => None,
    };
    let parts = parts.and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(text).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Parses a body as a card and as an answer, wrapped by JSON-RPC or not, for fuzzers. The next message repeats the ids of the answer.
pub(super) fn parse_any(body: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return };
    if let Ok(endpoint) = A2aEndpoint::of_card(&value) {
        assert!(!endpoint.url.is_empty(), "{value}");
    }
    for answer in [Some(&value), value.get("result")].into_iter().flatten() {
        let mut state = A2aConversation::default();
        state.remember(answer);
        let asks = matches!(read_answer(answer), Ok(A2aAnswer::Moved(Move::Ask(_))));
        assert!(asks || state.task.is_none(), "{answer}");
        for version in [A2aVersion::V0_3, A2aVersion::V1_0] {
            let message = version.message(&state, "more".to_owned(), None);
            let id = |key: &str| message.get(key).and_then(Value::as_str).map(str::to_owned);
            assert_eq!((id("taskId"), id("contextId")), (state.task.clone(), state.context.clone()), "{answer}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_of_either_version_names_its_endpoint() {
        let new = json!({ "supportedInterfaces": [
            { "url": "http://a/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0" },
            { "url": "http://a/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3" },
            { "url": "http://a/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" },
        ] });
        assert_eq!(A2aEndpoint::of_card(&new).unwrap(), A2aEndpoint { url: "http://a/rpc".into(), version: A2aVersion::V1_0 });
        let old = json!({ "url": "http://b", "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC" });
        assert_eq!(A2aEndpoint::of_card(&old).unwrap(), A2aEndpoint { url: "http://b".into(), version: A2aVersion::V0_3 });
        let other = json!({ "url": "http://c/grpc", "preferredTransport": "GRPC", "additionalInterfaces": [{ "url": "http://c", "transport": "JSONRPC" }] });
        assert_eq!(A2aEndpoint::of_card(&other).unwrap().url, "http://c");
        assert!(A2aEndpoint::of_card(&json!({ "url": "http://c", "preferredTransport": "GRPC" })).is_err());
    }

    #[test]
    fn states_of_a_task_are_moves_or_faults() {
        let task = |state: &str| json!({ "task": { "id": "t", "contextId": "c", "status": { "state": state, "message": { "parts": [{ "text": "why" }] } } } });
        let moved = |state: &str| read_answer(&task(state));
        assert_eq!(moved("TASK_STATE_INPUT_REQUIRED"), Ok(A2aAnswer::Moved(Move::Ask("why".into()))));
        assert_eq!(moved("TASK_STATE_REJECTED"), Ok(A2aAnswer::Moved(Move::Refuse("why".into()))));
        assert_eq!(moved("TASK_STATE_COMPLETED"), Ok(A2aAnswer::Moved(Move::Say("why".into()))));
        assert_eq!(moved("TASK_STATE_WORKING"), Ok(A2aAnswer::Working { task: "t".into() }));
        assert_eq!(moved("TASK_STATE_FAILED"), Err(SubjectFault::Crashed("its task failed: why".into())));
        assert!(matches!(moved("TASK_STATE_AUTH_REQUIRED"), Err(SubjectFault::Malformed(_))));
        let old = json!({ "kind": "task", "id": "t", "contextId": "c", "status": { "state": "completed" },
            "artifacts": [{ "parts": [{ "kind": "text", "text": "done" }, { "kind": "data", "data": { "a": 1 } }] }] });
        assert_eq!(read_answer(&old), Ok(A2aAnswer::Moved(Move::Say("done\n{\"a\":1}".into()))));
        let message = json!({ "kind": "message", "role": "agent", "parts": [{ "kind": "text", "text": "hi" }] });
        assert_eq!(read_answer(&message), Ok(A2aAnswer::Moved(Move::Say("hi".into()))));
        assert!(matches!(read_answer(&json!({})), Err(SubjectFault::Malformed(_))));
    }

    #[test]
    fn task_that_waits_for_input_is_continued() {
        let mut state = A2aConversation::default();
        state.remember(&json!({ "task": { "id": "t", "contextId": "c", "status": { "state": "TASK_STATE_INPUT_REQUIRED" } } }));
        let message = A2aVersion::V1_0.message(&state, "on Base".into(), None);
        assert_eq!((&message["taskId"], &message["contextId"]), (&json!("t"), &json!("c")));
        state.remember(&json!({ "task": { "id": "t", "contextId": "c", "status": { "state": "TASK_STATE_COMPLETED" } } }));
        let message = A2aVersion::V0_3.message(&state, "more".into(), Some(json!({ "mcp": {} })));
        assert_eq!((message.get("taskId"), &message["contextId"]), (None, &json!("c")), "a new task in the same conversation");
        assert_eq!(message["parts"][1], json!({ "kind": "data", "data": { "bardo": { "mcp": {} } } }));
    }
}
