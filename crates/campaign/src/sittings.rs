//! Who would sit where in a case and for how many moves, judged by its reference: the yardstick of every estimate.

use model::suite::{Case, Surface, Talk};

/// One conversation with a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sitting {
    /// What all conversations of this seat have in common.
    pub seat: String,
    pub agent: Option<String>,
    pub is_root: bool,
    pub moves: u64,
}

/// The root first. Whoever the reference has act was delegated to and talks apart; those whom the world plays are in no reference.
pub(crate) fn sittings(case: &Case) -> Vec<Sitting> {
    let turns = match &case.brief.talk {
        Talk::Turns(turns) => turns.len().max(1) as u64,
        Talk::Persona(_) => 3,
    };
    let steps = case.reference.len() as u64;
    let root = match &case.brief.surface {
        // The first move that calls tools ends it.
        Surface::Profile(name) => return vec![alone(format!("profile {}", name.value), turns)],
        Surface::Skills => return vec![alone("skills".to_owned(), steps.max(turns))],
        Surface::Agent(name) => name.value.as_str(),
    };
    let mut seated = vec![sits(root, true)];
    for step in &case.reference {
        let agent = step.agent.as_ref().map_or(root, |agent| agent.value.as_str());
        match seated.iter_mut().find(|sitting| sitting.agent.as_deref() == Some(agent)) {
            Some(sitting) => sitting.moves += 1,
            None => seated.push(Sitting { moves: 1, ..sits(agent, false) }),
        }
    }
    if let Some(root) = seated.first_mut() {
        root.moves = root.moves.max(turns);
    }
    seated
}

fn alone(seat: String, moves: u64) -> Sitting {
    Sitting { seat, agent: None, is_root: true, moves }
}

fn sits(agent: &str, is_root: bool) -> Sitting {
    Sitting { seat: format!("agent {agent}, root {is_root}"), agent: Some(agent.to_owned()), is_root, moves: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use score::example::Example;

    #[test]
    fn each_agent_of_the_reference_talks_apart() {
        let workspace = Example::minimal().load().expect("a workspace");
        let moves = |case: &str| -> Vec<(Option<String>, u64)> {
            let case = workspace.case(case).expect("a case");
            sittings(case).into_iter().map(|sitting| (sitting.agent, sitting.moves)).collect()
        };
        assert_eq!(moves("how_much_usdc"), [(None, 1)]);
        assert_eq!(moves("desk_hands_a_swap_over"), [(Some("desk".to_owned()), 2), (Some("trader".to_owned()), 5)]);
    }
}
