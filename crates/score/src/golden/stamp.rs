//! Inputs that a golden baseline was made with, and their changes since then.

use super::GoldenPath;
use model::{Agent, ContentHash, SubjectFile, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenStamp {
    pub format: u32,
    pub subject: String,
    /// Name of the model, or of the subject if it has none.
    pub model: String,
    /// Hash of everything in the subject file that affects behaviour.
    pub configuration: ContentHash,
    /// Hash of everything shown to the subject: the tools, agents and skills below.
    pub catalogue: ContentHash,
    /// Version of the workspace, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_version: Option<u64>,
    /// UTC date of creation.
    pub date: String,
    pub tools: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, AgentFingerprint>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skills: BTreeMap<String, String>,
}

/// Parts of an agent whose changes are reported separately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentFingerprint {
    pub delegates_to: Vec<String>,
    pub tools: Vec<String>,
    /// Hash of role, needs, output, workflow and prompt.
    pub text: String,
}

pub(super) const FORMAT: u32 = 1;

impl GoldenStamp {
    /// Returns the current stamp for a baseline at this path.
    pub fn of(workspace: &Workspace, path: &GoldenPath, subject: &SubjectFile, date: &str) -> Self {
        let tools = path
            .shown_tools(workspace)
            .into_iter()
            .map(|tool| (tool.name.value.clone(), tool.listing().hash().short().to_owned()))
            .collect();
        let (mut agents, mut skills) = (BTreeMap::new(), BTreeMap::new());
        if path.shows_agents() {
            agents = workspace.agents.iter().map(|agent| (agent.name.value.clone(), agent_fingerprint(agent))).collect();
        }
        if path.shows_skills() {
            let hash = |skill: &model::Skill| {
                let params: Vec<_> = skill.params.iter().map(|(name, param)| json!([name, param.schema])).collect();
                let triggers: Vec<&str> = skill.triggers.iter().map(|trigger| trigger.as_str()).collect();
                ContentHash::of_json(&json!([skill.description, triggers, params, skill.body])).short().to_owned()
            };
            skills = workspace.skills.iter().map(|skill| (skill.name.value.clone(), hash(skill))).collect();
        }
        let catalogue = ContentHash::of_json(&json!([tools, agents, skills]));
        Self {
            format: FORMAT,
            subject: subject.name.value.clone(),
            model: subject.model.clone().unwrap_or_else(|| subject.name.value.clone()),
            configuration: subject.identity(),
            catalogue,
            workspace_version: workspace.version_number(),
            date: date.to_owned(),
            tools,
            agents,
            skills,
        }
    }

    /// Returns the reasons why this stamp is outdated compared to `now`; empty if it is current.
    pub fn stale_reasons(&self, now: &Self) -> Vec<String> {
        let mut why = vec![];
        if self.model != now.model {
            why.push(format!("the model is {}, was {}", now.model, self.model));
        } else if self.configuration != now.configuration {
            why.push(format!("the configuration of {} changed", now.subject));
        }
        if self.workspace_version != now.workspace_version {
            let shown = |version: Option<u64>| version.map_or_else(|| "none".to_owned(), |version| version.to_string());
            why.push(format!("the version of the workspace is {}, was {}", shown(now.workspace_version), shown(self.workspace_version)));
        }
        describe_changes("tool", &self.tools, &now.tools, &mut why, |name, _, _| format!("the description or schema of {name} changed"));
        describe_changes("agent", &self.agents, &now.agents, &mut why, describe_agent_change);
        describe_changes("skill", &self.skills, &now.skills, &mut why, |name, _, _| format!("the skill {name} changed"));
        why
    }
}

fn agent_fingerprint(agent: &Agent) -> AgentFingerprint {
    let names = |names: &[model::Spanned<String>]| names.iter().map(|name| name.value.clone()).collect::<Vec<_>>();
    let workflow: Vec<String> = agent.workflow.iter().map(|step| format!("{} {:?}", step.step, step.when)).collect();
    let text = ContentHash::of_json(&json!([
        agent.role,
        agent.needs,
        agent.output.as_ref().map_or("", |output| output.as_str()),
        workflow,
        agent.prompt
    ]));
    AgentFingerprint { delegates_to: names(&agent.delegates_to), tools: names(&agent.tools), text: text.short().to_owned() }
}

fn describe_agent_change(name: &str, was: &AgentFingerprint, is: &AgentFingerprint) -> String {
    let added = |one: &[String], other: &[String]| one.iter().filter(|name| !other.contains(name)).cloned().collect::<Vec<_>>().join(", ");
    let mut parts = vec![];
    for (words, old, new) in [("delegate to", &was.delegates_to, &is.delegates_to), ("call", &was.tools, &is.tools)] {
        let (more, less) = (added(new, old), added(old, new));
        if !more.is_empty() {
            parts.push(format!("may now {words} {more}"));
        }
        if !less.is_empty() {
            parts.push(format!("may no longer {words} {less}"));
        }
    }
    if parts.is_empty() { format!("the agent {name} changed") } else { format!("{name} {}", parts.join(" and ")) }
}

fn describe_changes<T: PartialEq>(
    noun: &str,
    was: &BTreeMap<String, T>,
    is: &BTreeMap<String, T>,
    why: &mut Vec<String>,
    changed: impl Fn(&str, &T, &T) -> String,
) {
    for (name, new) in is {
        match was.get(name) {
            None => why.push(format!("the {noun} {name} was added")),
            Some(old) if old != new => why.push(changed(name, old, new)),
            Some(_) => {}
        }
    }
    why.extend(was.keys().filter(|name| !is.contains_key(*name)).map(|name| format!("the {noun} {name} was removed")));
}
