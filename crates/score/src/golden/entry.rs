//! Steps of a subject in one case, without answers of the world.

use model::suite::Case;
use model::{ContentHash, EventKind, IdKind, ParamKind, Transcript, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenEntry {
    pub case: String,
    /// Hash of the case when the baseline was made; a changed case may need other steps.
    pub hash: ContentHash,
    pub ending: String,
    pub steps: Vec<GoldenStep>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GoldenStep {
    Call { by: String, tool: String, args: Value },
    Delegate { by: String, to: String, params: Map<String, Value> },
    Activate { skill: String, params: Map<String, Value> },
    Ask(String),
    Say(String),
    Refuse(String),
    Report(String),
}

impl GoldenEntry {
    pub fn of(workspace: &Workspace, case: &Case, transcript: &Transcript) -> Self {
        let mut prepared: BTreeMap<String, String> = BTreeMap::new();
        let mut steps = vec![];
        for event in &transcript.events {
            let by = || event.by.clone();
            match &event.happened {
                EventKind::Called { tool, args, .. } => {
                    let known = workspace.tool(tool);
                    let name = known.map_or_else(|| tool.clone(), |tool| tool.name.value.clone());
                    let is_action = |arg: &str| {
                        known.and_then(|tool| tool.params.get(arg)).is_some_and(|param| is_action_id(param.kind.as_ref()))
                            || arg == "action_id"
                    };
                    steps.push(GoldenStep::Call { by: by(), tool: name, args: name_action_ids(args, &prepared, is_action) });
                }
                EventKind::Prepared { call, action } => {
                    let tool =
                        tool_of_call(transcript, *call).and_then(|tool| workspace.tool(tool)).map_or("a call", |tool| tool.name.as_str());
                    prepared.insert(action.action_id.clone(), format!("the action of {tool}"));
                }
                EventKind::Delegated { to, params } => {
                    let params = name_action_ids(&Value::Object(params.clone()), &prepared, |name| name == "action_id");
                    let params = if let Value::Object(params) = params { params } else { Map::new() };
                    steps.push(GoldenStep::Delegate { by: by(), to: to.clone(), params });
                }
                EventKind::Activated { skill, params } => steps.push(GoldenStep::Activate { skill: skill.clone(), params: params.clone() }),
                EventKind::Asked { text } => steps.push(GoldenStep::Ask(text.clone())),
                EventKind::Said { text } | EventKind::Returned { text } => steps.push(GoldenStep::Say(text.clone())),
                EventKind::Refused { text } => steps.push(GoldenStep::Refuse(text.clone())),
                EventKind::Reported { text } => steps.push(GoldenStep::Report(text.clone())),
                EventKind::UserSaid { .. }
                | EventKind::Resolved { .. }
                | EventKind::Simulated { .. }
                | EventKind::WouldBlock { .. }
                | EventKind::Blocked { .. }
                | EventKind::Confirmed { .. }
                | EventKind::Answered { .. }
                | EventKind::Decided { .. }
                | EventKind::Messaged { .. }
                | EventKind::Remembered { .. }
                | EventKind::Recalled { .. }
                | EventKind::HoleRead { .. }
                | EventKind::FixtureUsed { .. }
                | EventKind::Claimed { .. }
                | EventKind::Signed { .. }
                | EventKind::Mined { .. }
                | EventKind::Revealed { .. }
                | EventKind::Judged { .. }
                | EventKind::Misjudged { .. }
                | EventKind::Scored { .. }
                | EventKind::Used { .. }
                | EventKind::Unmatched { .. } => {}
            }
        }
        Self { case: case.id.value.clone(), hash: case.hash.clone(), ending: transcript.ending.to_string(), steps }
    }
}

fn is_action_id(kind: Option<&ParamKind>) -> bool {
    matches!(kind, Some(ParamKind::Id(IdKind::Action)))
}

/// Replaces action ids, which depend on the order of calls, by the tool that prepared the action.
fn name_action_ids(args: &Value, prepared: &BTreeMap<String, String>, is_action: impl Fn(&str) -> bool) -> Value {
    let Value::Object(entries) = args else { return args.clone() };
    let entry = |(name, value): (&String, &Value)| {
        let stable_name = value.as_str().filter(|_| is_action(name)).and_then(|id| prepared.get(id));
        (name.clone(), stable_name.map_or_else(|| value.clone(), |text| Value::String(text.clone())))
    };
    Value::Object(entries.iter().map(entry).collect())
}

fn tool_of_call(transcript: &Transcript, wanted: u32) -> Option<&str> {
    transcript.events.iter().find_map(|event| {
        let EventKind::Called { call, tool, .. } = &event.happened else { return None };
        (*call == wanted).then_some(tool.as_str())
    })
}
