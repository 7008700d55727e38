//! Expected number of model calls per agent of a case, derived from its reference run. Used for cost estimates.

use model::suite::{Case, CaseSurface, UserScript};

/// Expected conversation with a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExpectedSession {
    /// Sessions with the same key share a prompt prefix.
    pub prompt_key: String,
    pub agent: Option<String>,
    pub is_root: bool,
    pub moves: u64,
}

/// Returns the root's session first, then one for each agent that the reference delegates to or starts by a skill. Agents played by the world are not in
/// references.
pub(crate) fn expected_sessions(case: &Case) -> Vec<ExpectedSession> {
    let turns = match &case.brief.user_script {
        UserScript::Turns(turns) => turns.len().max(1) as u64,
        UserScript::Persona(_) => 3,
    };
    let steps = case.reference.len() as u64;
    let root = match &case.brief.surface {
        // The trial ends with the first move that calls tools.
        CaseSurface::Profile(name) => return vec![root_session(format!("profile {}", name.value), turns)],
        CaseSurface::Skills if !case.brief.carry_out => return vec![root_session("skills".to_owned(), steps.max(turns))],
        CaseSurface::Skills => None,
        CaseSurface::Agent(name) => Some(name.value.as_str()),
    };
    let mut sessions = vec![root.map_or_else(|| root_session("skills".to_owned(), 0), |root| agent_session(root, true))];
    for step in &case.reference {
        let agent = step.agent.as_ref().map(|agent| agent.value.as_str()).or(root);
        let Some(agent) = agent else {
            sessions[0].moves += 1;
            continue;
        };
        match sessions.iter_mut().find(|session| session.agent.as_deref() == Some(agent)) {
            Some(session) => session.moves += 1,
            None => sessions.push(ExpectedSession { moves: 1, ..agent_session(agent, false) }),
        }
    }
    if let Some(root) = sessions.first_mut() {
        root.moves = root.moves.max(turns);
    }
    sessions
}

fn root_session(prompt_key: String, moves: u64) -> ExpectedSession {
    ExpectedSession { prompt_key, agent: None, is_root: true, moves }
}

fn agent_session(agent: &str, is_root: bool) -> ExpectedSession {
    ExpectedSession { prompt_key: format!("agent {agent}, root {is_root}"), agent: Some(agent.to_owned()), is_root, moves: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use score::example::ExampleWorkspace;

    #[test]
    fn expected_sessions_has_one_per_agent() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let moves = |case: &str| -> Vec<(Option<String>, u64)> {
            let case = workspace.case(case).expect("a case");
            expected_sessions(case).into_iter().map(|session| (session.agent, session.moves)).collect()
        };
        assert_eq!(moves("how_much_usdc"), [(None, 1)]);
        assert_eq!(moves("desk_hands_a_swap_over"), [(Some("desk".to_owned()), 2), (Some("trader".to_owned()), 5)]);
    }
}
