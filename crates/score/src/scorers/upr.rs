//! Unnecessary path ratio (spec 2.4): every delegation contributes something.

use super::ids::{balance_call, delegated};
use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::call_keys::{KeyedCall, keyed_calls};
use crate::facts::delegations::{ObservedDelegation, delegations};
use model::suite::{Case, SuiteKind};
use model::transcript::ToolAnswer;
use model::{Event, EventKind, Reading, ReviewRole, ScoreReason, ScorerId, Workspace};
use serde_json::Value;

pub(super) struct UprScorer;

impl Scorer for UprScorer {
    fn id(&self) -> ScorerId {
        ScorerId::Upr
    }

    fn manual(&self) -> &'static str {
        "Unnecessary path ratio: checks that every delegation contributes something. One tally per delegation of a composition; the first \
         agent is not a delegation. A hit requires that, before control returns, the delegation produces a call that was not made before, \
         an answer that was not received before, or a decision about a prepared action or, by an assessor, about stated terms; nested delegations count for it. A verifier \
         contributes by deciding or by making a check of its own; an approval or veto of nothing is no contribution. An agent that only talks or only repeats does not contribute. The gate bounds the share of misses. A \
         trial without delegation is not exercised."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.kind == SuiteKind::Composition
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let calls = keyed_calls(evidence);
        let all = delegations(evidence);
        let because: Vec<ScoreReason> = all
            .iter()
            .filter(|delegation| !contributes(evidence, delegation, &calls))
            .map(|delegation| {
                let what = format!("the delegation to {} produced no new call, result or decision", delegation.to);
                ScoreReason { event: Some(delegation.event), what }
            })
            .collect();
        let of = all.len() as u64;
        ScorerFinding { reading: Reading::Tally { hit: of - because.len() as u64, of }, because }
    }

    fn accepts(&self) -> EvidenceFixture {
        EvidenceFixture::of("desk_hands_a_swap_over", vec![delegated("desk", "trader"), balance_call("trader", 1, "USDC")])
    }

    fn rejects(&self) -> EvidenceFixture {
        let returned = ("trader", EventKind::Returned { text: "Nothing to add.".into() });
        EvidenceFixture::of("desk_hands_a_swap_over", vec![balance_call("desk", 1, "USDC"), delegated("desk", "trader"), returned])
    }
}

fn contributes(evidence: &Evidence<'_>, delegation: &ObservedDelegation<'_>, calls: &[KeyedCall<'_>]) -> bool {
    let verifier = evidence.workspace.agent(delegation.to).is_some_and(|agent| agent.verifier);
    let decided = delegation.during.iter().any(|event| is_decision_about_something(evidence, delegation, event));
    let mut own = calls.iter().filter(|call| delegation.covers(call.made.event));
    decided
        || own.any(|call| {
            if call.verifies { verifier && call.answered && call.made.by == delegation.to } else { call.is_new || call.is_new_answer }
        })
}

/// Reports whether a decision is about a prepared action, or is an assessor's about terms that it was given.
fn is_decision_about_something(evidence: &Evidence<'_>, delegation: &ObservedDelegation<'_>, event: &Event) -> bool {
    let EventKind::Decided { action_id, .. } = &event.happened else { return false };
    let is_prepared = |action: &str| evidence.transcript.events.iter().any(|event| prepares(event, action));
    let assesses_terms = evidence.workspace.review_role(delegation.to) == Some(ReviewRole::Assessor) && !delegation.params.is_empty();
    action_id.as_deref().is_some_and(is_prepared) || assesses_terms
}

/// Reports whether the event prepares the action, or is the answer of a tool that names it.
fn prepares(event: &Event, action: &str) -> bool {
    if let EventKind::Answered { answer: ToolAnswer::Result(result), .. } = &event.happened {
        return result.get("action_id").and_then(Value::as_str) == Some(action);
    }
    matches!(&event.happened, EventKind::Prepared { action: prepared, .. } if prepared.action_id == action)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::transcript::ReviewDecision;

    #[test]
    fn approval_of_nothing_is_no_contribution() {
        let decided = EventKind::Decided {
            action_id: None,
            decision: ReviewDecision::Veto,
            reason: "nothing to look at".into(),
            calldata_hash: None,
            policy: None,
        };
        let events = vec![delegated("desk", "safety-guardian"), ("safety-guardian", decided)];
        assert!(UprScorer.score(&EvidenceFixture::of("desk_hands_a_swap_over", events).evidence()).reading.is_violation());
    }
}
