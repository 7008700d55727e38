//! Drafts a case from a kept trace, with what its tools answered as fixtures.

use crate::draft::{CaseDraft, draft_case};
use model::suite::{Brief, CaseSurface, PeerMode, UserScript};
use model::transcript::ToolAnswer;
use model::{EventKind, Location, Spanned, Transcript, UserError, Workspace};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use store::production::KeptTrace;

/// Most fixtures of a draft, and the largest of them, as cases allow.
const MAX_FIXTURES: usize = 100;
const MAX_ANSWER: usize = 60 << 10;

/// Drafts a case that `run` accepts. Reads that tools answered in production become fixtures; writes act on the world.
///
/// # Errors
///
/// Fails if the trace has no user turn or no agent of the workspace.
pub fn draft_from_trace(workspace: &Workspace, kept: &KeptTrace, id: Option<&str>) -> Result<CaseDraft, UserError> {
    let transcript: Transcript = serde_json::from_str(&kept.transcript).map_err(UserError::caused_by)?;
    let agent = transcript.events.iter().map(|event| event.by.as_str()).find(|by| workspace.agent(by).is_some());
    let agent = agent.ok_or_else(|| {
        UserError::new("no agent of the trace is in the workspace", "set gen_ai.agent.name of its spans to the name of an agent file")
    })?;
    let world = workspace.worlds.iter().find(|world| world.is_default).or(workspace.worlds.first());
    let world = world.ok_or_else(|| UserError::without_remedy("the workspace has no world"))?;
    let here = |text: &str| Spanned::new(text.to_owned(), Location::new("trace", 0));
    let brief = Brief {
        surface: CaseSurface::Agent(here(agent)),
        user_script: UserScript::Turns(vec![]),
        world: here(&world.name.value),
        fixtures: vec![],
        fills: BTreeMap::new(),
        faults: vec![],
        peers: PeerMode::Stub,
        carry_out: false,
    };
    let mut draft = draft_case(workspace, &brief, &transcript, id)?;
    let fixtures = fixtures(workspace, &transcript);
    if !fixtures.is_empty() {
        draft.suite["cases"][0]["brief"]["fixtures"] = Value::Array(fixtures);
    }
    draft.suite["about"] = json!("Drafted from a production trace; review its expectation before relying on it.");
    Ok(draft)
}

/// Returns the answers of reads as fixtures, each for the arguments that it was given.
fn fixtures(workspace: &Workspace, transcript: &Transcript) -> Vec<Value> {
    let mut calls: BTreeMap<u32, (&str, &Value)> = BTreeMap::new();
    let mut fixtures: Vec<Value> = vec![];
    for event in &transcript.events {
        if let EventKind::Called { call, tool, args } = &event.happened {
            calls.insert(*call, (tool, args));
        }
        let EventKind::Answered { call, answer } = &event.happened else { continue };
        let Some((tool, args)) = calls.remove(call) else { continue };
        let Some(known) = workspace.tool(tool).filter(|known| !known.writes()) else { continue };
        // Scalars tell calls of one tool apart; ids that the world makes would never match again.
        let when: serde_json::Map<String, Value> = args
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, value)| !name.ends_with("_id") && (value.is_string() || value.is_number() || value.is_boolean()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let mut fixture = json!({ "tool": known.name.value });
        if !when.is_empty() {
            fixture["when"] = Value::Object(when);
        }
        match answer {
            ToolAnswer::Result(value) => fixture["is"] = value.clone(),
            ToolAnswer::Error { code, message } => {
                fixture["error"] = json!(if code.is_empty() { "TOOL_ERROR" } else { code });
                fixture["message"] = json!(message);
            }
        }
        if fixture.to_string().len() <= MAX_ANSWER && fixtures.len() < MAX_FIXTURES && !fixtures.contains(&fixture) {
            fixtures.push(fixture);
        }
    }
    fixtures
}
