//! Parts of a workspace that a case is about, from its surface, expectations and reference.

use model::suite::{Case, CaseSurface, ReferenceAction};
use model::{SkillHandler, Workspace};
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct CaseParts<'w> {
    pub tools: BTreeSet<&'w str>,
    pub agents: BTreeSet<&'w str>,
    pub skills: BTreeSet<&'w str>,
}

impl<'w> CaseParts<'w> {
    pub(super) fn of(workspace: &'w Workspace, case: &'w Case) -> Self {
        let mut parts = Self::default();
        if let CaseSurface::Agent(name) = &case.brief.surface {
            parts.agents.insert(name.as_str());
        }
        for call in case.expect.calls.iter().flat_map(|calls| calls.expected_calls()) {
            parts.add_tool(workspace, &call.tool);
        }
        for step in &case.reference {
            parts.agents.extend(step.agent.as_ref().map(|agent| agent.as_str()));
            match &step.action {
                ReferenceAction::Call { tool, .. } => parts.add_tool(workspace, tool),
                ReferenceAction::Delegate { to, .. } => {
                    parts.agents.insert(to.as_str());
                }
                ReferenceAction::Activate { skill, .. } => parts.add_skill(workspace, skill),
                ReferenceAction::Ask(_) | ReferenceAction::Say(_) | ReferenceAction::Report(_) => {}
            }
        }
        if let Some(skill) = &case.expect.skill {
            parts.add_skill(workspace, skill);
        }
        parts
    }

    /// Adds a tool by its name or an alias.
    fn add_tool(&mut self, workspace: &'w Workspace, name: &'w str) {
        self.tools.insert(workspace.tool(name).map_or(name, |tool| tool.name.as_str()));
    }

    /// Adds a skill and the agent or tool that carries it out.
    fn add_skill(&mut self, workspace: &'w Workspace, name: &'w str) {
        self.skills.insert(name);
        match workspace.skill(name).map(|skill| &skill.handler) {
            Some(SkillHandler::Agent(agent)) => {
                self.agents.insert(agent.as_str());
            }
            Some(SkillHandler::Tool(tool)) => self.add_tool(workspace, tool),
            None => {}
        }
    }
}
