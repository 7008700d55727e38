//! Protocol messages between harness and external agent: one JSON object in each direction per move.

use model::transcript::{AgentClaim, Move, ToolAnswer};
use model::view::{AgentContext, Observation};
use serde_json::{Map, Value, json};
use world::endpoints::TrialEndpoints;

pub(super) const PROTOCOL: u32 = 1;
/// Forms of a move, for messages to authors of agents.
const MOVE_FORMS: &str = r#"{"say": TEXT}, {"ask": TEXT}, {"refuse": TEXT}, {"report": TEXT}, {"call": {"tool": NAME, "args": {…}}}, {"delegate": {"to": AGENT, "params": {…}}}, {"activate": {"skill": NAME, "params": {…}}}, {"stop": true}"#;
/// Maximum number of claims in one message.
const CLAIMS: usize = 100;

/// Message of an agent: its move and its claims. A message with claims only is not a move and gets no reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AgentMessage {
    pub(super) next_move: Option<Move>,
    pub(super) claims: Vec<AgentClaim>,
}

/// Reason that a message of an agent cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum MessageError {
    #[error("it is not JSON: {0}")]
    NotJson(String),
    #[error("it is not a JSON object")]
    NotAnObject,
    #[error("claims: {0}")]
    Claims(String),
    #[error("claims: at most {CLAIMS} in one message")]
    TooManyClaims,
    #[error("it is not a valid move: {0}; the moves are {MOVE_FORMS}")]
    NotAMove(String),
}

impl AgentMessage {
    pub(super) fn parse(text: &[u8]) -> Result<Self, MessageError> {
        let value: Value = serde_json::from_slice(text).map_err(|error| MessageError::NotJson(error.to_string()))?;
        let Value::Object(mut fields) = value else { return Err(MessageError::NotAnObject) };
        let claims: Vec<AgentClaim> = match fields.remove("claims") {
            None => vec![],
            Some(claims) => serde_json::from_value(claims).map_err(|error| MessageError::Claims(error.to_string()))?,
        };
        if claims.len() > CLAIMS {
            return Err(MessageError::TooManyClaims);
        }
        if fields.is_empty() && !claims.is_empty() {
            return Ok(Self { next_move: None, claims });
        }
        Ok(Self { next_move: Some(parse_move(fields)?), claims })
    }
}

/// Parses exactly one of say, ask, refuse, report, call, delegate, activate, stop.
fn parse_move(mut fields: Map<String, Value>) -> Result<Move, MessageError> {
    if let Some(one @ Value::Object(_)) = fields.get("call") {
        let calls = Value::Array(vec![one.clone()]);
        fields.insert("call".to_owned(), calls);
    }
    if fields.len() == 1 && fields.contains_key("stop") {
        return Ok(Move::Stop);
    }
    if fields.len() != 1 {
        let keys: Vec<&str> = fields.keys().map(String::as_str).take(5).collect();
        return Err(MessageError::NotAMove(format!("it has the keys {:?} instead of one move", keys.join(", "))));
    }
    serde_json::from_value(Value::Object(fields)).map_err(|error| MessageError::NotAMove(error.to_string()))
}

/// Builds the first message: the opaque id of the trial, the agent's context and its endpoints.
pub(super) fn hello(opaque_trial: &str, context: &AgentContext, edges: &TrialEndpoints, chains: &[u64]) -> Value {
    let rpc: Map<String, Value> = chains.iter().map(|chain| (chain.to_string(), edges.rpc_url(*chain).into())).collect();
    json!({
        "protocol": PROTOCOL,
        "trial": opaque_trial,
        "seat": seat_json(context),
        "mcp": { "url": edges.mcp_url(), "token": edges.token.as_str() },
        "rpc": rpc,
        "pages": edges.pages_url(),
    })
}

fn seat_json(context: &AgentContext) -> Value {
    let colleagues: Vec<Value> =
        context.delegate_infos.iter().map(|one| json!({ "agent": one.name, "role": one.role, "needs": one.needs })).collect();
    json!({
        "agent": context.agent,
        "prompt": context.prompt,
        "tools": context.tools,
        "skills": context.skills,
        "delegates": context.delegates,
        "colleagues": colleagues,
        "output": context.output,
    })
}

/// Returns an observation as protocol JSON.
pub(super) fn observation_json(observation: &Observation) -> Value {
    match observation {
        Observation::User(text) => json!({ "user": text }),
        Observation::HandOver { from, params } => json!({ "handover": { "from": from, "params": params } }),
        Observation::Answer { tool, answer: ToolAnswer::Result(result) } => json!({ "answer": { "tool": tool, "result": result } }),
        Observation::Answer { tool, answer: ToolAnswer::Error { code, message } } => {
            json!({ "answer": { "tool": tool, "error": { "code": code, "message": message } } })
        }
        Observation::Peer { agent, said } => json!({ "peer": { "agent": agent, "said": said } }),
        Observation::Message { from, text } => json!({ "message": { "from": from, "text": text } }),
    }
}

/// Returns an observation as text, for agents that do not use the protocol. `None` for results they get over MCP.
pub(super) fn observation_text(observation: &Observation) -> Option<String> {
    match observation {
        Observation::User(text) => Some(text.clone()),
        Observation::HandOver { from, params } => Some(format!("{from} delegated this task to you: {}", json!(params))),
        Observation::Message { from, text } => Some(format!("Message from {from}: {text}")),
        Observation::Answer { .. } | Observation::Peer { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::transcript::{ReviewDecision, ToolCall};

    fn read(text: &str) -> Result<AgentMessage, MessageError> {
        AgentMessage::parse(text.as_bytes())
    }

    #[test]
    fn hello_shows_the_parameters_of_skills() {
        let workspace = model::Workspace::load(&model::MINIMAL_WORKSPACE.iter().copied().collect()).unwrap();
        let skill = &workspace.skills[0];
        let context = AgentContext { skills: vec![skill.listing()], ..AgentContext::for_agent(&workspace, "trader") };
        let shown = seat_json(&context)["skills"][0].clone();
        assert_eq!(shown["name"], skill.name.as_str());
        let (name, param) = skill.params.first().unwrap();
        assert_eq!(shown["input_schema"]["properties"][name], param.schema);
    }

    #[test]
    fn every_move_is_parsed() {
        let does = |text: &str| read(text).unwrap().next_move.unwrap();
        assert_eq!(does(r#"{"say":"done"}"#), Move::Say("done".into()));
        assert_eq!(does(r#"{"ask":"which chain?"}"#), Move::Ask("which chain?".into()));
        assert_eq!(does(r#"{"refuse":"no"}"#), Move::Refuse("no".into()));
        assert_eq!(does(r#"{"report":"odd"}"#), Move::Report("odd".into()));
        assert_eq!(does(r#"{"stop":true}"#), Move::Stop);
        let call = Move::Call(vec![ToolCall { tool: "t".into(), args: json!({}) }]);
        assert_eq!(does(r#"{"call":{"tool":"t","args":{}}}"#), call);
        assert_eq!(does(r#"{"call":[{"tool":"t","args":{}}]}"#), call);
        assert!(matches!(does(r#"{"delegate":{"to":"x","params":{}}}"#), Move::Delegate { .. }));
        assert!(matches!(does(r#"{"activate":{"skill":"x","params":{}}}"#), Move::Activate { .. }));
    }

    #[test]
    fn claims_are_parsed_with_or_without_a_move() {
        let said = read(r#"{"say":"done","claims":[{"delegated":{"to":"mine"}}]}"#).unwrap();
        assert_eq!(said.claims, [AgentClaim::Delegated { to: "mine".into(), params: Map::new() }]);
        let alone = read(r#"{"claims":[{"decided":{"by":"g","decision":"veto"}}]}"#).unwrap();
        let veto = AgentClaim::Decided { by: "g".into(), action_id: None, decision: ReviewDecision::Veto, reason: String::new() };
        assert_eq!(alone, AgentMessage { next_move: None, claims: vec![veto] });
    }

    #[test]
    fn message_that_is_no_move_names_the_moves() {
        let said = read(r#"{"tool":"t","arguments":{}}"#).unwrap_err().to_string();
        assert!(said.contains("tool, arguments") && said.contains(r#"{"call": {"tool": NAME, "args": {…}}}"#), "{said}");
    }

    #[test]
    fn malformed_messages_are_rejected() {
        for bad in ["", "hello", "[]", "\"stop\"", "{}", r#"{"say":1}"#, r#"{"say":"a","ask":"b"}"#, r#"{"think":"a"}"#, r#"{"claims":[]}"#]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
        for bad in [r#"{"claims":[{"mined":{}}]}"#, r#"{"say":"a","claims":{}}"#, r#"{"call":{"args":{}}}"#, "{\"say\":\"a\"} {}"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
