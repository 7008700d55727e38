//! Drafts a case from a trial: the same brief and turns, the trial's moves as the reference, its calls as the expectation. The draft
//! accepts mistakes of the trial, so a person has to review it.

use model::suite::{Brief, CaseSurface, PeerMode, SuiteKind};
use model::transcript::ToolAnswer;
use model::{Event, EventKind, Transcript, UserError, Workspace};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub struct CaseDraft {
    pub kind: SuiteKind,
    pub id: String,
    /// A suite with one case.
    pub suite: Value,
    /// Parts that a person has to write before the reference can pass.
    pub to_fill_in: Vec<String>,
}

/// Reason why no case can be drafted from a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    #[error("the trial has no user turn")]
    NoUserTurn,
    #[error("the trial activated no skill, so a case would have nothing to expect")]
    NoSkill,
}

impl From<DraftError> for UserError {
    fn from(error: DraftError) -> Self {
        UserError::caused_by(error)
    }
}

/// Drafts a case. Without `id`, the id is derived from the first user turn.
///
/// # Errors
/// If the trial has no user turn, or no activated skill where one is needed.
pub fn draft_case(workspace: &Workspace, brief: &Brief, transcript: &Transcript, id: Option<&str>) -> Result<CaseDraft, DraftError> {
    let turns: Vec<&str> = transcript.events.iter().filter_map(user_text).collect();
    let first = turns.first().ok_or(DraftError::NoUserTurn)?;
    let id = id.map_or_else(|| unused_case_id(workspace, first), str::to_owned);
    let (surface, kind) = match &brief.surface {
        CaseSurface::Profile(name) => (json!({ "profile": name.value }), SuiteKind::ToolSelection),
        CaseSurface::Agent(name) => (json!({ "agent": name.value }), SuiteKind::Behavior),
        CaseSurface::Skills => (json!({ "skills": "all" }), SuiteKind::Skills),
    };
    let mut brief_json = json!({ "surface": surface, "turns": turns, "world": brief.world.value });
    if brief.peers == PeerMode::Own {
        brief_json["peers"] = json!("self");
    }
    if brief.carry_out {
        brief_json["carry_out"] = json!(true);
    }
    let expect = expectation(workspace, kind, &transcript.events)?;
    let reference = reference_steps(workspace, kind, &transcript.events);
    let case = json!({ "id": id, "brief": brief_json, "expect": expect, "reference": reference, "tags": ["draft"] });
    let suite = json!({ "suite": kind.word(), "about": "Drafted from a conversation; review its expectation before relying on it.", "cases": [case] });
    Ok(CaseDraft { kind, id, suite, to_fill_in: vec![] })
}

fn user_text(event: &Event) -> Option<&str> {
    if let EventKind::UserSaid { text } = &event.happened { Some(text) } else { None }
}

fn unused_case_id(workspace: &Workspace, text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).take(6).collect();
    let name = if words.is_empty() { "drafted_case".to_owned() } else { words.join("_").chars().take(60).collect() };
    let numbered = (2..).map(|n| format!("{name}_{n}"));
    std::iter::once(name.clone()).chain(numbered).find(|id| workspace.case(id).is_none()).unwrap_or(name)
}

/// Returns the `expect` block: the last activated skill, or the writes (all calls in tool selection, or if nothing was written).
fn expectation(workspace: &Workspace, kind: SuiteKind, events: &[Event]) -> Result<Value, DraftError> {
    if kind == SuiteKind::Skills {
        let activated = events.iter().rev().find_map(skill_activation).filter(|(skill, _)| workspace.skill(skill).is_some());
        let (skill, params) = activated.ok_or(DraftError::NoSkill)?;
        return Ok(json!({ "skill": skill, "params": params }));
    }
    let calls: Vec<(&str, &Value)> = events.iter().filter_map(tool_call).filter(|(tool, _)| workspace.tool(tool).is_some()).collect();
    // A preview sends nothing, and no case counts it as the write.
    let is_write = |tool: &str, args: &Value| workspace.tool(tool).is_some_and(|tool| tool.writes() && !tool.is_dry_run(args));
    let writes: Vec<(&str, &Value)> = calls.iter().copied().filter(|(tool, args)| is_write(tool, args)).collect();
    let expected = if kind == SuiteKind::ToolSelection || writes.is_empty() { calls } else { writes };
    if expected.is_empty() {
        return Ok(json!({ "calls": { "none": true } }));
    }
    let expected: Vec<Value> = expected.iter().map(|(tool, args)| json!({ "tool": tool, "args": stable_args(args) })).collect();
    Ok(json!({ "calls": { "any_of": [expected] } }))
}

fn tool_call(event: &Event) -> Option<(&str, &Value)> {
    if let EventKind::Called { tool, args, .. } = &event.happened { Some((tool, args)) } else { None }
}

fn skill_activation(event: &Event) -> Option<(&str, &Map<String, Value>)> {
    if let EventKind::Activated { skill, params } = &event.happened { Some((skill, params)) } else { None }
}

/// Returns the arguments without generated ids, which differ between runs.
fn stable_args(args: &Value) -> Map<String, Value> {
    let args = args.as_object().cloned().unwrap_or_default();
    args.into_iter().filter(|(name, value)| !(name.ends_with("_id") && is_opaque(value))).collect()
}

/// Returns true if a value looks generated: at least six characters with a digit and without spaces.
fn is_opaque(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() >= 6 && text.chars().any(|c| c.is_ascii_digit()) && !text.contains(' '))
}

/// Returns the moves of a trial as reference steps. Values generated by the world become references to earlier answers.
fn reference_steps(workspace: &Workspace, kind: SuiteKind, events: &[Event]) -> Vec<Value> {
    let user_words: String = events.iter().filter_map(user_text).collect::<Vec<_>>().join("\n").to_lowercase();
    let mut answers: BTreeMap<String, &Value> = BTreeMap::new();
    let mut steps: Vec<Value> = vec![];
    for event in events {
        if let EventKind::Answered { call, answer: ToolAnswer::Result(value) } = &event.happened {
            answers.insert(format!("a{call}"), value);
        }
        let with_references = |given: &Map<String, Value>| -> Map<String, Value> {
            let resolve = |value: &Value| back_reference(&answers, &user_words, value).unwrap_or_else(|| value.clone());
            given.iter().map(|(name, value)| (name.clone(), resolve(value))).collect()
        };
        let Some(mut step) = reference_step(workspace, &event.happened, with_references) else { continue };
        if kind == SuiteKind::Behavior {
            step["agent"] = json!(event.by);
        }
        steps.push(step);
    }
    drop_unused_names(steps)
}

/// Returns the reference step for an event, if it records a move.
fn reference_step(
    workspace: &Workspace,
    happened: &EventKind,
    with_references: impl Fn(&Map<String, Value>) -> Map<String, Value>,
) -> Option<Value> {
    if let EventKind::Called { call, tool, args } = happened {
        let args = with_references(args.as_object().unwrap_or(&Map::new()));
        return workspace.tool(tool).map(|_| json!({ "call": tool, "args": args, "as": format!("a{call}") }));
    }
    if let EventKind::Delegated { to, params } = happened {
        return Some(json!({ "delegate": to, "params": with_references(params) }));
    }
    if let EventKind::Activated { skill, params } = happened {
        return workspace.skill(skill).map(|_| json!({ "activate": skill, "params": params }));
    }
    if let EventKind::Asked { text } = happened {
        return Some(json!({ "ask": text }));
    }
    if let EventKind::Said { text } | EventKind::Refused { text } | EventKind::Returned { text } = happened {
        return Some(json!({ "say": text }));
    }
    if let EventKind::Reported { text } = happened { Some(json!({ "report": text })) } else { None }
}

/// Returns a reference to the earlier answer with this value, unless the user said it.
fn back_reference(answers: &BTreeMap<String, &Value>, user_words: &str, value: &Value) -> Option<Value> {
    let text = value.as_str().filter(|_| is_opaque(value)).filter(|text| !user_words.contains(&text.to_lowercase()))?;
    answers.iter().rev().find_map(|(name, answer)| path_to(answer, text).map(|path| json!({ "from": name, "path": path })))
}

/// Returns the dotted path of a text within an answer.
fn path_to(value: &Value, text: &str) -> Option<String> {
    let child_path = |key: String, item: &Value| {
        let rest = path_to(item, text)?;
        Some(if rest.is_empty() { key } else { format!("{key}.{rest}") })
    };
    match value {
        Value::String(found) => (found == text).then(String::new),
        Value::Object(entries) => {
            entries.iter().filter(|(key, _)| !key.contains(['.', '/'])).find_map(|(key, item)| child_path(key.clone(), item))
        }
        Value::Array(items) => items.iter().enumerate().find_map(|(n, item)| child_path(n.to_string(), item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Removes the name (`as`) of each step that no other step refers to.
fn drop_unused_names(mut steps: Vec<Value>) -> Vec<Value> {
    let given = |step: &Value| [step.get("args"), step.get("params")].into_iter().flatten().cloned().collect::<Vec<Value>>();
    let values: Vec<Value> = steps
        .iter()
        .flat_map(given)
        .flat_map(|args| args.as_object().cloned().unwrap_or_default().into_iter().map(|(_, value)| value))
        .collect();
    for step in &mut steps {
        let unused = step.get("as").is_some_and(|name| !values.iter().any(|value| value.get("from") == Some(name)));
        if let Some(step) = step.as_object_mut().filter(|_| unused) {
            step.remove("as");
        }
    }
    steps
}
