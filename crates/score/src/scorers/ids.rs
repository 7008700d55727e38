//! Do agents find out new things, or repeat each other? Spec 2.4, information diversity score.

use super::{Evidence, Finding, Scorer, Specimen};
use crate::facts::delegations::delegations;
use crate::facts::keys::keyed;
use model::suite::{Case, SuiteKind};
use model::{Because, Happened, Reading, ScorerId, Workspace};
use serde_json::{Map, Value, json};

pub(super) struct Ids;

impl Scorer for Ids {
    fn id(&self) -> ScorerId {
        ScorerId::Ids
    }

    fn manual(&self) -> &'static str {
        "Distinct calls over all calls of a composition. Two calls are the same when tool, typed arguments and epoch are: the epoch advances \
         with every transaction that stands in a block, and for an answer that ages when the tool's ttl_s has passed, so that quoting again \
         after expiry and looking again after a commit are new. Calls of verifiers are left out: checking others is their job. A trial \
         without delegation is not exercised."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.kind == SuiteKind::Composition
    }

    fn score(&self, evidence: &Evidence<'_>) -> Finding {
        if delegations(evidence).is_empty() {
            return Finding::not_exercised();
        }
        let calls: Vec<_> = keyed(evidence).into_iter().filter(|call| !call.verifies).collect();
        let because: Vec<Because> = calls
            .iter()
            .filter(|call| !call.is_new)
            .map(|call| Because { event: Some(call.made.event), what: format!("{} repeats {}", call.made.by, call.made.name()) })
            .collect();
        let of = calls.len() as u64;
        Finding { reading: Reading::Tally { hit: of - because.len() as u64, of }, because }
    }

    fn accepts(&self) -> Specimen {
        Specimen::of("desk_hands_a_swap_over", vec![looked("desk", 1, "USDC"), delegated("desk", "trader"), looked("trader", 2, "WETH")])
    }

    fn rejects(&self) -> Specimen {
        Specimen::of("desk_hands_a_swap_over", vec![looked("desk", 1, "USDC"), delegated("desk", "trader"), looked("trader", 2, "usdc")])
    }
}

pub(super) fn looked(by: &'static str, call: u32, token: &str) -> (&'static str, Happened) {
    (by, Happened::Called { call, tool: "wallet_get_balance".into(), args: json!({ "token": token }) })
}

pub(super) fn delegated(by: &'static str, to: &str) -> (&'static str, Happened) {
    (by, Happened::Delegated { to: to.into(), params: Map::<String, Value>::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorers::upr::Upr;
    use model::transcript::{Decision, Mined, Origin, Party, ToolAnswer, TxOutcome};

    type Acts = Vec<(&'static str, Happened)>;

    fn answered(by: &'static str, call: u32, value: Value) -> (&'static str, Happened) {
        (by, Happened::Answered { call, answer: ToolAnswer::Result(value) })
    }

    fn returned(by: &'static str) -> (&'static str, Happened) {
        (by, Happened::Returned { text: "done".into() })
    }

    fn quoted(call: u32) -> Acts {
        let args = json!({"token_in": "USDC", "token_out": "WETH", "amount": "100", "chain": "base"});
        let asked = ("trader", Happened::Called { call, tool: "swap_get_quote".into(), args });
        vec![asked, answered("trader", call, json!({ "action_id": format!("a{call}") }))]
    }

    fn mined() -> (&'static str, Happened) {
        let own = Party { address: "0x00".into(), name: None, role: None, own: true };
        let what = Mined {
            chain: 8453,
            from: own,
            to: None,
            value: "0".into(),
            call: None,
            inner: vec![],
            nonce: 0,
            outcome: TxOutcome::Success,
            gas_used: 21_000,
            logs: vec![],
            effects: vec![],
        };
        ("trader", Happened::Mined { origin: Origin::default(), what: Box::new(what) })
    }

    /// IDS and UPR of some acts; `late` puts that many seconds before every event from this one on.
    fn read(acts: Vec<Acts>, late: Option<(u32, u64)>) -> (Reading, Reading) {
        let mut specimen = Specimen::of("desk_hands_a_swap_over", acts.concat());
        for event in &mut specimen.transcript.events {
            event.at_ms += late.filter(|(from, _)| event.n >= *from).map_or(0, |(_, seconds)| seconds * 1000);
        }
        (Ids.score(&specimen.evidence()).reading, Upr.score(&specimen.evidence()).reading)
    }

    fn tally(hit: u64, of: u64) -> Reading {
        Reading::Tally { hit, of }
    }

    #[test]
    fn a_quote_taken_again_after_it_expired_is_new() {
        let again = || vec![vec![delegated("desk", "trader")], quoted(1), quoted(2)];
        assert_eq!(read(again(), Some((4, 60))), (tally(2, 2), tally(1, 1)));
        assert_eq!(read(again(), None).0, tally(1, 2), "before it expired it is a repetition");
    }

    #[test]
    fn a_state_query_after_a_commit_is_new() {
        let hand_over = vec![delegated("desk", "trader"), looked("trader", 1, "USDC"), answered("trader", 1, json!("1000"))];
        let look = vec![looked("trader", 2, "USDC"), answered("trader", 2, json!("1000"))];
        let with = vec![hand_over.clone(), vec![mined()], look.clone()];
        assert_eq!(read(with, None), (tally(2, 2), tally(1, 1)));
        assert_eq!(read(vec![hand_over, look], None).0, tally(1, 2));
    }

    #[test]
    fn verification_by_a_second_agent_is_no_repetition() {
        let simulate = |by, call| (by, Happened::Called { call, tool: "tx_simulate".into(), args: json!({"action_id": "a1"}) });
        let ok = json!({"ok": true});
        let decided = Happened::Decided {
            action_id: Some("a1".into()),
            decision: Decision::Approve,
            reason: "fine".into(),
            calldata_hash: None,
            policy: None,
        };
        let own = [vec![delegated("desk", "trader")], quoted(1), vec![simulate("trader", 2), answered("trader", 2, ok.clone())]].concat();
        let check = vec![delegated("trader", "safety-guardian"), simulate("safety-guardian", 3), answered("safety-guardian", 3, ok)];
        let verdict = vec![("safety-guardian", decided)];
        let (ids, upr) = read(vec![own.clone(), check.clone(), verdict], None);
        assert_eq!((ids, upr), (tally(2, 2), tally(2, 2)));
        // A verifier that looked itself and answered in words has verified too.
        assert_eq!(read(vec![own.clone(), check, vec![returned("safety-guardian")]], None).1, tally(2, 2));
        let idle = vec![delegated("trader", "safety-guardian"), returned("safety-guardian")];
        assert_eq!(read(vec![own, idle], None).1, tally(1, 2), "one that neither looked nor decided has not");
    }

    #[test]
    fn a_repeated_call_lowers_ids_and_an_idle_agent_raises_upr() {
        let look = vec![looked("desk", 1, "USDC"), answered("desk", 1, json!("1000"))];
        let repeated = vec![
            delegated("desk", "trader"),
            looked("trader", 2, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
            answered("trader", 2, json!("1000")),
            returned("trader"),
        ];
        assert_eq!(read(vec![look.clone(), repeated], None), (tally(1, 2), tally(0, 1)));
        let idle = vec![delegated("desk", "trader"), returned("trader")];
        assert_eq!(read(vec![look, idle], None), (tally(1, 1), tally(0, 1)));
    }

    #[test]
    fn the_same_call_with_another_answer_is_a_new_result() {
        let look = vec![looked("desk", 1, "USDC"), answered("desk", 1, json!("1000"))];
        let changed = vec![delegated("desk", "trader"), looked("trader", 2, "USDC"), answered("trader", 2, json!("900"))];
        assert_eq!(read(vec![look, changed], None), (tally(1, 2), tally(1, 1)));
    }
}
