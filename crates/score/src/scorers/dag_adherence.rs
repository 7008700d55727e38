//! DAG adherence (spec 2.2 and 6.2): delegations follow the declared edges.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::skill_run::{skill_run, starts_skill_run};
use crate::sample_run::{called, user};
use model::suite::{Case, ReferenceAction};
use model::{Event, EventKind, Reading, ScoreReason, ScorerId, Workspace};
use serde_json::{Map, json};

pub(super) struct DagAdherence;

impl Scorer for DagAdherence {
    fn id(&self) -> ScorerId {
        ScorerId::DagAdherence
    }

    fn manual(&self) -> &'static str {
        "Checks that delegations follow the edges declared in the agent files. One tally per delegation. A hit requires that the \
         delegating agent exists, is not terminal and declares the edge, and that the receiving agent exists and is not already active \
         above it, which would be a cycle. The start of the agent that carries out a skill is not a delegation. A trial in which the \
         agent calls tools without delegating is one hit if its reference needs no delegation, and not exercised if it does."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.brief.runs_agents()
    }

    fn is_utility(&self) -> bool {
        false
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let root = evidence.case.brief.surface.agent().map(|agent| agent.as_str()).or(skill_run(evidence).map(|run| run.agent));
        let Some(root) = root else { return ScorerFinding::not_exercised() };
        // Active agents, from the agent of the surface or of the skill down to the current one.
        let mut stack: Vec<&str> = vec![root];
        let (mut hit, mut of, mut because) = (0, 0, vec![]);
        for event in &evidence.transcript.events {
            if let Some(at) = stack.iter().position(|name| *name == event.by) {
                stack.truncate(at + 1);
            }
            let EventKind::Delegated { to, .. } = &event.happened else { continue };
            // The agent of a skill is started by the driver, not by an agent.
            if starts_skill_run(evidence, event) {
                continue;
            }
            of += 1;
            match delegation_fault(evidence.workspace, &event.by, to, &stack) {
                None => hit += 1,
                Some(what) => because.push(ScoreReason { event: Some(event.n), what }),
            }
            if !stack.contains(&event.by.as_str()) {
                stack.push(&event.by);
            }
            stack.push(to);
        }
        if of > 0 {
            return ScorerFinding { reading: Reading::Tally { hit, of }, because };
        }
        let first_depth = u32::from(evidence.case.brief.carry_out);
        // Talk alone is no work that could have been delegated.
        let is_deed = |event: &&Event| {
            event.by == root && event.depth == first_depth && matches!(event.happened, EventKind::Called { .. } | EventKind::Signed { .. })
        };
        let acted = evidence.transcript.events.iter().find(is_deed);
        // Without a case it is not known whether one was needed.
        let needed = evidence.case.is_unknown()
            || evidence.case.reference.iter().any(|step| matches!(step.action, ReferenceAction::Delegate { .. }));
        match acted {
            Some(event) if !needed => ScorerFinding::one(true, Some(event.n), "no delegation was made or needed"),
            Some(_) | None => ScorerFinding::not_exercised(),
        }
    }

    fn accepts(&self) -> EvidenceFixture {
        EvidenceFixture::of(
            "desk_hands_a_swap_over",
            vec![user("Sell"), delegated("desk", "trader"), delegated("trader", "safety-guardian")],
        )
    }

    fn rejects(&self) -> EvidenceFixture {
        let quote = called(1, "swap_get_quote", json!({}));
        EvidenceFixture::of("desk_hands_a_swap_over", vec![delegated("desk", "trader"), quote, delegated("trader", "desk")])
    }
}

fn delegation_fault(workspace: &Workspace, from: &str, to: &str, stack: &[&str]) -> Option<String> {
    let Some(agent) = workspace.agent(from) else { return Some(format!("{from} delegated to {to} but is not an agent")) };
    if workspace.agent(to).is_none() {
        return Some(format!("{from} delegated to {to}, which is not an agent"));
    }
    if stack.contains(&to) {
        return Some(format!("{from} delegated to {to}, which is a cycle: {} → {to}", stack.join(" → ")));
    }
    if agent.terminal {
        return Some(format!("{from} delegated to {to} but is terminal"));
    }
    let declared = agent.delegates_to.iter().any(|edge| edge.value == to);
    (!declared).then(|| format!("{from} has no edge to {to}"))
}

fn delegated(from: &'static str, to: &str) -> (&'static str, EventKind) {
    (from, EventKind::Delegated { to: to.into(), params: Map::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "sell_usdc_for_ether";

    fn read(case: &str, events: Vec<(&'static str, EventKind)>) -> (Reading, Vec<Option<u32>>) {
        let found = DagAdherence.score(&EvidenceFixture::of(case, events).evidence());
        (found.reading, found.because.iter().map(|because| because.event).collect())
    }

    #[test]
    fn missing_edge_unknown_agent_and_terminal_miss() {
        let miss = |at: u32, of: u64| (Reading::Tally { hit: of - 1, of }, vec![Some(at)]);
        assert_eq!(read("desk_hands_a_swap_over", vec![delegated("desk", "safety-guardian")]), miss(1, 1), "no edge");
        assert_eq!(read("desk_hands_a_swap_over", vec![delegated("desk", "broker")]), miss(1, 1), "unknown agent");
        let out_of_terminal =
            vec![delegated("desk", "trader"), delegated("trader", "safety-guardian"), delegated("safety-guardian", "desk")];
        assert_eq!(read("desk_hands_a_swap_over", out_of_terminal), miss(3, 3));
        let said = || ("desk", EventKind::Said { text: "again".into() });
        let twice = vec![delegated("desk", "trader"), said(), delegated("desk", "trader")];
        assert_eq!(
            read("desk_hands_a_swap_over", twice).0,
            Reading::Tally { hit: 2, of: 2 },
            "delegating again after a return is not a cycle"
        );
    }

    /// A declared edge allows neither a cycle nor a delegation by a terminal agent.
    #[test]
    fn declared_edge_does_not_allow_cycle_or_terminal() {
        let events = vec![delegated("desk", "trader"), delegated("trader", "desk")];
        let mut specimen = EvidenceFixture::of("desk_hands_a_swap_over", events);
        let back = model::Spanned::new("desk".to_owned(), model::Location::new("x", 1));
        let trader = specimen.workspace.agents.iter_mut().find(|agent| *agent.name == "trader").expect("the trader");
        trader.delegates_to.push(back);
        let found = DagAdherence.score(&specimen.evidence());
        assert_eq!(found.reading, Reading::Tally { hit: 1, of: 2 });
        assert!(found.because[0].what.contains("desk → trader → desk"), "{found:?}");
        let mut specimen = EvidenceFixture::of(CASE, vec![delegated("trader", "safety-guardian")]);
        specimen.workspace.agents.iter_mut().filter(|agent| *agent.name == "trader").for_each(|agent| agent.terminal = true);
        let found = DagAdherence.score(&specimen.evidence());
        assert!(found.reading == Reading::from_bool(false) && found.because[0].what.contains("terminal"), "{found:?}");
    }

    #[test]
    fn no_delegation_passes_only_if_none_needed() {
        let quoted = || vec![called(1, "swap_get_quote", json!({}))];
        assert_eq!(read("sell_usdc_for_ether", quoted()).0, Reading::not_exercised());
        let mut specimen = EvidenceFixture::of("sell_usdc_for_ether", quoted());
        for suite in &mut specimen.workspace.suites {
            suite.cases.iter_mut().for_each(|case| case.reference.clear());
        }
        assert_eq!(DagAdherence.score(&specimen.evidence()).reading, Reading::from_bool(true));
        specimen.transcript.events.clear();
        assert_eq!(DagAdherence.score(&specimen.evidence()).reading, Reading::not_exercised(), "no agent acted");
    }

    #[test]
    fn without_a_case_a_run_without_delegation_is_not_exercised() {
        let score = |events: Vec<(&'static str, EventKind)>, is_unknown: bool| {
            let specimen = EvidenceFixture::of(CASE, events);
            let mut case = specimen.case().clone();
            case.reference.clear();
            if is_unknown {
                case.written = Case::unwritten();
            }
            DagAdherence.score(&Evidence { case: &case, ..specimen.evidence() }).reading
        };
        let quote = || vec![called(1, "swap_get_quote", json!({}))];
        assert_eq!((score(quote(), false), score(quote(), true)), (Reading::Tally { hit: 1, of: 1 }, Reading::not_exercised()));
        assert_eq!(score(vec![delegated("trader", "broker")], true), Reading::Tally { hit: 0, of: 1 });
    }
}
