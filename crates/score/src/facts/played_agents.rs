//! Which agents of a trial the subject played itself. What others did is not its behaviour.

use crate::evidence::Evidence;
use model::Agent;
use model::suite::PeerMode;

/// The agents that acted and were played by the subject: the seat of the surface first.
pub(crate) fn agents_played_by_subject<'a>(evidence: &Evidence<'a>) -> Vec<&'a Agent> {
    let seat = evidence.case.brief.surface.agent().map(|name| name.as_str());
    let mut agents: Vec<&'a Agent> = vec![];
    let acted = evidence.transcript.events.iter().map(|event| event.by.as_str());
    for name in acted {
        let own = Some(name) == seat
            || match &evidence.case.brief.peers {
                // Reviews are computed from policy where peers are stubs.
                PeerMode::Stub => evidence.workspace.review_role(name).is_none(),
                PeerMode::Own => true,
                PeerMode::Subject(_) => false,
            };
        if own && !agents.iter().any(|agent| *agent.name == name) {
            agents.extend(evidence.workspace.agent(name));
        }
    }
    agents.sort_by_key(|agent| Some(agent.name.as_str()) != seat);
    agents
}
