//! Was every delegation worth it? Spec 2.4, unnecessary path ratio.

use super::ids::{delegated, looked};
use super::{Evidence, Finding, Scorer, Specimen};
use crate::facts::delegations::{Delegation, delegations};
use crate::facts::keys::{Keyed, keyed};
use model::suite::{Case, SuiteKind};
use model::{Because, Happened, Reading, ScorerId, Workspace};

pub(super) struct Upr;

impl Scorer for Upr {
    fn id(&self) -> ScorerId {
        ScorerId::Upr
    }

    fn manual(&self) -> &'static str {
        "Each delegation of a composition is one tally; the first agent is not one. It is good when, until the turn came back, it brought a \
         call nobody had made, an answer nobody had got, or a decision; what it delegated further counts for it. A verifier contributes by \
         deciding or by looking itself. An agent that only talks, or only repeats, does not. The gate bounds the share of the others. A trial \
         without delegation is not exercised."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.kind == SuiteKind::Composition
    }

    fn score(&self, evidence: &Evidence<'_>) -> Finding {
        let calls = keyed(evidence);
        let all = delegations(evidence);
        let because: Vec<Because> = all
            .iter()
            .filter(|delegation| !contributes(evidence, delegation, &calls))
            .map(|delegation| {
                let what = format!("the delegation to {} brought no new call, result or decision", delegation.to);
                Because { event: Some(delegation.event), what }
            })
            .collect();
        let of = all.len() as u64;
        Finding { reading: Reading::Tally { hit: of - because.len() as u64, of }, because }
    }

    fn accepts(&self) -> Specimen {
        Specimen::of("desk_hands_a_swap_over", vec![delegated("desk", "trader"), looked("trader", 1, "USDC")])
    }

    fn rejects(&self) -> Specimen {
        let returned = ("trader", Happened::Returned { text: "Nothing to add.".into() });
        Specimen::of("desk_hands_a_swap_over", vec![looked("desk", 1, "USDC"), delegated("desk", "trader"), returned])
    }
}

fn contributes(evidence: &Evidence<'_>, delegation: &Delegation<'_>, calls: &[Keyed<'_>]) -> bool {
    let verifier = evidence.workspace.agent(delegation.to).is_some_and(|agent| agent.verifier);
    let decided = delegation.during.iter().any(|event| matches!(event.happened, Happened::Decided { .. }));
    let mut own = calls.iter().filter(|call| delegation.covers(call.made.event));
    decided
        || own.any(
            |call| if call.verifies { verifier && call.answered && call.made.by == delegation.to } else { call.is_new || call.brought },
        )
}
