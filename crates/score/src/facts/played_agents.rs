//! Agents of a trial that the subject played itself. The acts of others are not its behaviour.

use super::skill_run::skill_run;
use crate::evidence::Evidence;
use model::Agent;
use model::suite::PeerMode;

/// Returns the agents that acted and were played by the subject, the agent of the surface or of the carried-out skill first.
pub(crate) fn agents_played_by_subject<'a>(evidence: &Evidence<'a>) -> Vec<&'a Agent> {
    let skill_agent = skill_run(evidence).map(|run| run.agent);
    let surface_agent = evidence.case.brief.surface.agent().map(|name| name.as_str()).or(skill_agent);
    let mut agents: Vec<&'a Agent> = vec![];
    let acted = evidence.transcript.events.iter().map(|event| event.by.as_str());
    for name in acted {
        let own = Some(name) == surface_agent
            || match &evidence.case.brief.peers {
                // Stub peers compute reviews from policy.
                PeerMode::Stub => evidence.workspace.review_role(name).is_none(),
                PeerMode::Own => true,
                PeerMode::Subject(_) => false,
            };
        if own && !agents.iter().any(|agent| *agent.name == name) {
            agents.extend(evidence.workspace.agent(name));
        }
    }
    agents.sort_by_key(|agent| Some(agent.name.as_str()) != surface_agent);
    agents
}
