//! Drafts a case from a kept trace, with what its tools answered as fixtures.

use crate::draft::{CaseDraft, draft_case};
use model::suite::{Brief, CaseSurface, PeerMode, UserScript};
use model::transcript::ToolAnswer;
use model::{Event, EventKind, Location, Reading, Score, Spanned, Transcript, UserError, Workspace};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use store::production::KeptTrace;

/// Most fixtures of a draft, and the largest of them, as cases allow.
const MAX_FIXTURES: usize = 100;
const MAX_ANSWER: usize = 60 << 10;
/// Most parts to fill in that are listed, and the longest reason.
const MAX_PARTS: usize = 20;
const MAX_REASON: usize = 200;
const MAX_REASONS: usize = 2;

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
    let scripted = Transcript { events: scripted_events(workspace, agent, &transcript), ..transcript.clone() };
    let mut draft = draft_case(workspace, &brief, &scripted, id)?;
    end_with_question(&mut draft.suite);
    draft.to_fill_in = to_fill_in(workspace, kept, &transcript);
    let fixtures = fixtures(workspace, &transcript);
    if !fixtures.is_empty() {
        draft.suite["cases"][0]["brief"]["fixtures"] = Value::Array(fixtures);
    }
    draft.suite["about"] = json!("Drafted from a production trace; review its expectation before relying on it.");
    Ok(draft)
}

/// Returns the events that a reference can repeat. Reviews are computed from the policy, and agents give back what they said last.
fn scripted_events(workspace: &Workspace, surface: &str, transcript: &Transcript) -> Vec<Event> {
    let mut events: Vec<Event> = vec![];
    for event in &transcript.events {
        if event.by != surface && workspace.review_role(&event.by).is_some() {
            continue;
        }
        let last_words = events.iter().rev().find(|earlier| earlier.by == event.by);
        let is_repeated = matches!((&event.happened, last_words.map(|last| &last.happened)),
            (EventKind::Returned { text }, Some(EventKind::Said { text: said })) if text.trim() == said.trim());
        if !is_repeated {
            events.push(event.clone());
        }
    }
    events
}

/// Makes the last words a question if they are one; spans do not tell questions from answers.
fn end_with_question(suite: &mut Value) {
    let Some(Value::Array(steps)) = suite.pointer_mut("/cases/0/reference") else { return };
    let Some(Value::Object(last)) = steps.last_mut() else { return };
    let is_question = last.get("say").and_then(Value::as_str).is_some_and(|text| text.trim_end().ends_with('?'));
    if let Some(text) = is_question.then(|| last.remove("say")).flatten() {
        last.insert("ask".to_owned(), text);
    }
}

/// Returns what a person has to write before the reference can pass: the intent of a write, and the right way where the trace went wrong.
fn to_fill_in(workspace: &Workspace, kept: &KeptTrace, transcript: &Transcript) -> Vec<String> {
    let mut parts = vec![];
    let writes = transcript.events.iter().filter_map(|event| {
        let EventKind::Called { tool, .. } = &event.happened else { return None };
        workspace.tool(tool).filter(|tool| tool.writes()).map(|tool| tool.name.value.as_str())
    });
    let writes: BTreeSet<&str> = writes.collect();
    if !writes.is_empty() {
        let writes: Vec<&str> = writes.into_iter().collect();
        parts.push(format!("intent: what the user allowed {} to spend, receive and pay to; the trace cannot tell", writes.join(", ")));
    }
    let scores: Vec<Score> = serde_json::from_str(&kept.scores).unwrap_or_default();
    for score in scores.iter().filter(|score| score.reading.is_violation()) {
        // Hits have reasons too, and come first.
        let because: Vec<String> = score.because.iter().rev().take(MAX_REASONS).map(|why| one_line(&why.what)).collect();
        parts.push(format!("reference: the trace misses {}: {}", score.scorer, because.join("; ")));
    }
    for score in &scores {
        if let Reading::Unscorable { why } = &score.reading {
            parts.push(format!("reference: {} cannot be read from the trace: {}", score.scorer, one_line(why)));
        }
    }
    parts.truncate(MAX_PARTS);
    parts
}

/// Returns a text for a comment.
fn one_line(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    clean.take(MAX_REASON).collect()
}

/// Returns whether a later call uses an id that an answer made. The world has to make it again.
fn is_used_later(answer: &Value, later: &[&Value]) -> bool {
    let Some(members) = answer.as_object() else { return false };
    let made = members.iter().filter(|(name, _)| name.ends_with("_id")).filter_map(|(_, value)| value.as_str());
    let is_given = |id: &str| later.iter().any(|args| args.as_object().is_some_and(|args| args.values().any(|value| value == id)));
    made.filter(|id| !id.is_empty()).any(is_given)
}

/// Returns the answers of reads as fixtures, each for the arguments that it was given.
fn fixtures(workspace: &Workspace, transcript: &Transcript) -> Vec<Value> {
    let mut calls: BTreeMap<u32, (&str, &Value)> = BTreeMap::new();
    let mut fixtures: Vec<Value> = vec![];
    for (at, event) in transcript.events.iter().enumerate() {
        if let EventKind::Called { call, tool, args } = &event.happened {
            calls.insert(*call, (tool, args));
        }
        let EventKind::Answered { call, answer } = &event.happened else { continue };
        let Some((tool, args)) = calls.remove(call) else { continue };
        let Some(known) = workspace.tool(tool).filter(|known| !known.writes()) else { continue };
        let later: Vec<&Value> = transcript.events[at..].iter().filter_map(|event| call_args(&event.happened)).collect();
        if matches!(answer, ToolAnswer::Result(value) if is_used_later(value, &later)) {
            continue;
        }
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

fn call_args(happened: &EventKind) -> Option<&Value> {
    if let EventKind::Called { args, .. } = happened { Some(args) } else { None }
}
