//! What a subject did in one case: its own steps, without what the world answered.

use model::suite::Case;
use model::{Happened, Hash, IdKind, Kind, Transcript, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub case: String,
    /// Of the case as it was then: another question may have another answer.
    pub hash: Hash,
    pub ending: String,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    Call { by: String, tool: String, args: Value },
    Delegate { by: String, to: String, params: Map<String, Value> },
    Activate { skill: String, params: Map<String, Value> },
    Ask(String),
    Say(String),
    Refuse(String),
    Report(String),
}

impl Entry {
    pub fn of(workspace: &Workspace, case: &Case, transcript: &Transcript) -> Self {
        let mut prepared: BTreeMap<String, String> = BTreeMap::new();
        let mut steps = vec![];
        for event in &transcript.events {
            let by = || event.by.clone();
            match &event.happened {
                Happened::Called { tool, args, .. } => {
                    let known = workspace.tool(tool);
                    let name = known.map_or_else(|| tool.clone(), |tool| tool.name.value.clone());
                    let is_action = |arg: &str| {
                        known.and_then(|tool| tool.params.get(arg)).is_some_and(|param| is_action_id(param.kind.as_ref()))
                            || arg == "action_id"
                    };
                    steps.push(Step::Call { by: by(), tool: name, args: named(args, &prepared, is_action) });
                }
                Happened::Prepared { call, action } => {
                    let tool = called(transcript, *call).and_then(|tool| workspace.tool(tool)).map_or("a call", |tool| tool.name.as_str());
                    prepared.insert(action.action_id.clone(), format!("the action of {tool}"));
                }
                Happened::Delegated { to, params } => {
                    let params = named(&Value::Object(params.clone()), &prepared, |name| name == "action_id");
                    let params = if let Value::Object(params) = params { params } else { Map::new() };
                    steps.push(Step::Delegate { by: by(), to: to.clone(), params });
                }
                Happened::Activated { skill, params } => steps.push(Step::Activate { skill: skill.clone(), params: params.clone() }),
                Happened::Asked { text } => steps.push(Step::Ask(text.clone())),
                Happened::Said { text } | Happened::Returned { text } => steps.push(Step::Say(text.clone())),
                Happened::Refused { text } => steps.push(Step::Refuse(text.clone())),
                Happened::Reported { text } => steps.push(Step::Report(text.clone())),
                Happened::UserSaid { .. }
                | Happened::Resolved { .. }
                | Happened::Simulated { .. }
                | Happened::WouldBlock { .. }
                | Happened::Blocked { .. }
                | Happened::Confirmed { .. }
                | Happened::Answered { .. }
                | Happened::Decided { .. }
                | Happened::Messaged { .. }
                | Happened::Remembered { .. }
                | Happened::Recalled { .. }
                | Happened::HoleRead { .. }
                | Happened::Claimed { .. }
                | Happened::Signed { .. }
                | Happened::Mined { .. }
                | Happened::Revealed { .. }
                | Happened::Judged { .. }
                | Happened::Misjudged { .. }
                | Happened::Unmatched { .. } => {}
            }
        }
        Self { case: case.id.value.clone(), hash: case.hash.clone(), ending: transcript.ending.to_string(), steps }
    }
}

fn is_action_id(kind: Option<&Kind>) -> bool {
    matches!(kind, Some(Kind::Id(IdKind::Action)))
}

/// Ids of actions are handed out by the world in the order of the calls; what stays the same is which call an action came from.
fn named(args: &Value, prepared: &BTreeMap<String, String>, is_action: impl Fn(&str) -> bool) -> Value {
    let Value::Object(entries) = args else { return args.clone() };
    let entry = |(name, value): (&String, &Value)| {
        let stands_for = value.as_str().filter(|_| is_action(name)).and_then(|id| prepared.get(id));
        (name.clone(), stands_for.map_or_else(|| value.clone(), |text| Value::String(text.clone())))
    };
    Value::Object(entries.iter().map(entry).collect())
}

fn called(transcript: &Transcript, wanted: u32) -> Option<&str> {
    transcript.events.iter().find_map(|event| {
        let Happened::Called { call, tool, .. } = &event.happened else { return None };
        (*call == wanted).then_some(tool.as_str())
    })
}
