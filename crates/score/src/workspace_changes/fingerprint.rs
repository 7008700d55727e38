//! Hashes of the parts of a workspace that a subject sees or acts on, small enough to keep with every run.

use crate::confusability::{ToolDoc, WARN_SIMILARITY, rank_confusable};
use model::{ContentHash, Tool, Workspace, WorkspaceFiles};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceFingerprint {
    pub tools: BTreeMap<String, String>,
    pub agents: BTreeMap<String, String>,
    pub skills: BTreeMap<String, String>,
    pub profiles: BTreeMap<String, String>,
    pub worlds: BTreeMap<String, String>,
    pub cases: BTreeMap<String, String>,
    /// Files that concern every case: policy, addresses, outputs and contracts.
    pub shared: BTreeMap<String, String>,
    /// Tools that read alike, in both directions.
    pub near: BTreeMap<String, BTreeMap<String, f64>>,
}

/// Names of parts that were changed, added or removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceChanges {
    pub tools: BTreeSet<String>,
    pub agents: BTreeSet<String>,
    pub skills: BTreeSet<String>,
    pub profiles: BTreeSet<String>,
    pub worlds: BTreeSet<String>,
    pub cases: BTreeSet<String>,
    pub shared: BTreeSet<String>,
}

/// Files of the workspace that concern every case.
const SHARED: &[&str] = &["policy.yaml", "registry/", "outputs/", "contracts/"];

impl WorkspaceFingerprint {
    pub fn of(workspace: &Workspace, files: &WorkspaceFiles) -> Self {
        let short = |text: &str| ContentHash::of_text(text).short().to_owned();
        let file = |at: &model::Location| short(files.get(&at.file).unwrap_or_default());
        let shared = files.iter().filter(|(path, _)| SHARED.iter().any(|part| path.starts_with(part)));
        Self {
            tools: workspace.tools.iter().map(|tool| (tool.name.value.clone(), tool_hash(tool))).collect(),
            agents: workspace.agents.iter().map(|agent| (agent.name.value.clone(), file(&agent.at))).collect(),
            skills: workspace.skills.iter().map(|skill| (skill.name.value.clone(), file(&skill.at))).collect(),
            profiles: workspace.profiles.iter().map(|profile| (profile.name.value.clone(), file(&profile.at))).collect(),
            worlds: workspace.worlds.iter().map(|world| (world.name.value.clone(), file(&world.name.at))).collect(),
            cases: workspace.cases().map(|case| (case.id.value.clone(), case.hash.short().to_owned())).collect(),
            shared: shared.map(|(path, text)| (path.to_owned(), short(text))).collect(),
            near: near_tools(&workspace.tools),
        }
    }

    /// Returns the parts that differ from an earlier state.
    pub fn changes_since(&self, before: &Self) -> WorkspaceChanges {
        WorkspaceChanges {
            tools: differing(&before.tools, &self.tools),
            agents: differing(&before.agents, &self.agents),
            skills: differing(&before.skills, &self.skills),
            profiles: differing(&before.profiles, &self.profiles),
            worlds: differing(&before.worlds, &self.worlds),
            cases: differing(&before.cases, &self.cases),
            shared: differing(&before.shared, &self.shared),
        }
    }
}

impl WorkspaceChanges {
    /// Returns kinds of parts with their changed names, without the kinds that did not change.
    pub fn by_kind(&self) -> Vec<(&'static str, &BTreeSet<String>)> {
        let kinds = [
            ("tool", &self.tools),
            ("agent", &self.agents),
            ("skill", &self.skills),
            ("profile", &self.profiles),
            ("world", &self.worlds),
            ("case", &self.cases),
            ("file", &self.shared),
        ];
        kinds.into_iter().filter(|(_, names)| !names.is_empty()).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.by_kind().is_empty()
    }
}

/// Returns the names that are in one map only, or with another value.
pub fn differing<T: PartialEq>(before: &BTreeMap<String, T>, after: &BTreeMap<String, T>) -> BTreeSet<String> {
    before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
}

/// Hashes what a subject sees of a tool and what the tool does.
fn tool_hash(tool: &Tool) -> String {
    let acts = format!("{:?} {:?} {:?} {:?}", tool.capability, tool.risk, tool.acts.value, tool.ttl_s);
    ContentHash::of_parts(&[tool.listing().hash().as_str(), &acts]).short().to_owned()
}

/// Returns the pairs of tools that read alike.
fn near_tools(tools: &[Tool]) -> BTreeMap<String, BTreeMap<String, f64>> {
    let docs: Vec<ToolDoc<'_>> = tools
        .iter()
        .map(|tool| ToolDoc { name: &tool.name, description: &tool.description, params: tool.params.keys().map(String::as_str).collect() })
        .collect();
    let mut near: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for pair in rank_confusable(&docs).into_iter().take_while(|pair| pair.similarity >= WARN_SIMILARITY) {
        near.entry(pair.a.clone()).or_default().insert(pair.b.clone(), pair.similarity);
        near.entry(pair.b).or_default().insert(pair.a, pair.similarity);
    }
    near
}
