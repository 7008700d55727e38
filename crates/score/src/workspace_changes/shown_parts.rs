//! Tools, agents and skills that a subject sees in a case, whether or not the case is about them.

use super::fingerprint::WorkspaceChanges;
use model::suite::{Case, CaseSurface, PeerMode};
use model::{Skill, SkillHandler, Workspace};
use std::collections::BTreeSet;

/// Returns whether a subject sees a changed tool, agent or skill in the case.
pub(super) fn shows_changed(workspace: &Workspace, case: &Case, changes: &WorkspaceChanges) -> bool {
    let surface = workspace.surface_tools(&case.brief.surface);
    if surface.iter().any(|tool| changes.tools.contains(tool.name.as_str())) {
        return true;
    }
    if matches!(case.brief.surface, CaseSurface::Skills) && !changes.skills.is_empty() {
        return true;
    }
    let is_own = |agent: &str| matches!(&case.brief.surface, CaseSurface::Agent(name) if **name == agent);
    played_agents(workspace, case).into_iter().filter_map(|name| workspace.agent(name)).any(|agent| {
        let lists = agent.delegates_to.iter().any(|peer| changes.agents.contains(peer.as_str()));
        lists || (!is_own(&agent.name) && agent.tools.iter().any(|tool| changes.tools.contains(tool_name(workspace, tool))))
    })
}

/// Returns a tool's own name for its name or alias.
fn tool_name<'w>(workspace: &'w Workspace, name: &'w str) -> &'w str {
    workspace.tool(name).map_or(name, |tool| tool.name.as_str())
}

/// Returns the agents that subjects play in the case: the one of its surface or those that carry out skills, and their peers, of which only
/// reviewers may have fixed answers.
fn played_agents<'w>(workspace: &'w Workspace, case: &'w Case) -> BTreeSet<&'w str> {
    let mut open: Vec<&str> = match &case.brief.surface {
        CaseSurface::Agent(name) => vec![name.as_str()],
        CaseSurface::Skills if case.brief.carry_out => workspace.skills.iter().filter_map(handling_agent).collect(),
        CaseSurface::Skills | CaseSurface::Profile(_) => vec![],
    };
    let is_played = |peer: &str| case.brief.peers != PeerMode::Stub || workspace.review_role(peer).is_none();
    let mut played = BTreeSet::new();
    while let Some(name) = open.pop() {
        if played.insert(name) {
            let peers = workspace.agent(name).into_iter().flat_map(|agent| &agent.delegates_to);
            open.extend(peers.map(|peer| peer.as_str()).filter(|peer| is_played(peer)));
        }
    }
    played
}

fn handling_agent(skill: &Skill) -> Option<&str> {
    match &skill.handler {
        SkillHandler::Agent(agent) => Some(agent.as_str()),
        SkillHandler::Tool(_) => None,
    }
}
