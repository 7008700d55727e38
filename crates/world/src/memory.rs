//! A world in memory: fixture answers, prepared actions with identity, peers computed from policy, a virtual clock.
//! Writes are accepted and remembered; balances move once the chain is there.

use crate::peers::{self, Prepared};
use crate::{PeerAnswer, World};
use async_trait::async_trait;
use model::suite::Peers;
use model::transcript::ToolAnswer;
use model::{Acts, Tool, Workspace, WorldFile};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Think time per move, and how long a tool takes.
const THINK_MS: u64 = 2_000;
const TOOL_MS: u64 = 200;

#[derive(Debug)]
pub struct MemoryWorld {
    workspace: Arc<Workspace>,
    world: WorldFile,
    peers: Peers,
    now_ms: u64,
    actions: BTreeMap<String, Prepared>,
}

impl MemoryWorld {
    pub fn new(workspace: Arc<Workspace>, world: WorldFile, peers: Peers) -> Self {
        Self { workspace, world, peers, now_ms: 0, actions: BTreeMap::new() }
    }

    /// Freezes an action under a new id.
    fn prepare(&mut self, tool: &Tool, args: &Value) -> Value {
        let id = format!("action-{}", self.actions.len() + 1);
        let expires_ms = self.now_ms + self.workspace.policy.quote_max_age_s * 1000;
        self.actions.insert(id.clone(), Prepared { tool: tool.name.value.clone(), args: args.clone() });
        json!({ "action_id": id, "expires_at_ms": expires_ms })
    }

    fn act(&mut self, tool: &Tool, args: &Value) -> ToolAnswer {
        let fixture = self.world.answers.get(tool.name.as_str()).and_then(|answers| match &answers.rows.first()?.gives {
            model::world::Gives::Value(value) => Some(value.clone()),
            model::world::Gives::Error { .. } => None,
        });
        if tool.acts.value == Acts::Quote || (tool.writes() && args.get("dry_run") == Some(&Value::Bool(true))) {
            let mut answer = self.prepare(tool, args);
            merge(&mut answer, fixture);
            return ToolAnswer::Result(answer);
        }
        let action_id = args.get("action_id").and_then(Value::as_str);
        if let Some(id) = action_id.filter(|id| !self.actions.contains_key(*id)) {
            return error("EXECUTION_UNKNOWN_ACTION", format!("no action {id} was prepared"));
        }
        if tool.acts.value.changes_something() {
            return ToolAnswer::Result(json!({ "status": "accepted", "action_id": action_id }));
        }
        if tool.acts.value == Acts::Simulate {
            return ToolAnswer::Result(json!({ "success": true, "action_id": action_id }));
        }
        fixture.map_or_else(|| error("DATA_UNAVAILABLE", "no source answered"), ToolAnswer::Result)
    }
}

#[async_trait]
impl World for MemoryWorld {
    async fn call(&mut self, _by: &str, name: &str, args: &Value) -> ToolAnswer {
        self.now_ms += TOOL_MS;
        let workspace = self.workspace.clone();
        let Some(tool) = workspace.tool(name) else {
            return error("VALIDATION_UNKNOWN_TOOL", "there is no such tool");
        };
        match tool.schema.violations(args).first() {
            Some(violation) => error("VALIDATION_INVALID_ARGUMENTS", format!("{}: {}", violation.path, violation.what)),
            None => self.act(tool, args),
        }
    }

    async fn ask_peer(&mut self, _by: &str, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer> {
        if self.peers != Peers::Stub || !peers::is_stub(to) {
            return None;
        }
        self.now_ms += THINK_MS;
        Some(peers::decide(to, &self.workspace, &self.actions, params))
    }

    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn think(&mut self) {
        self.now_ms += THINK_MS;
    }
}

fn merge(answer: &mut Value, fixture: Option<Value>) {
    if let (Some(answer), Some(Value::Object(fixture))) = (answer.as_object_mut(), fixture) {
        for (key, value) in fixture {
            answer.entry(key).or_insert(value);
        }
    }
}

fn error(code: &str, message: impl Into<String>) -> ToolAnswer {
    ToolAnswer::Error { code: code.to_owned(), message: message.into() }
}
