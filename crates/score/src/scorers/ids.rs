//! Information diversity score (spec 2.4): share of calls that do not repeat earlier ones.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::call_keys::keyed_calls;
use crate::facts::delegations::delegations;
use model::suite::{Case, SuiteKind};
use model::{EventKind, Reading, ScoreReason, ScorerId, Workspace};
use serde_json::{Map, Value, json};

pub(super) struct IdsScorer;

impl Scorer for IdsScorer {
    fn id(&self) -> ScorerId {
        ScorerId::Ids
    }

    fn manual(&self) -> &'static str {
        "Information diversity score: distinct calls over all calls of a composition. Two calls are the same if tool, typed arguments and \
         epoch are equal. The epoch advances with every mined transaction and, for a tool with ttl_s, when that time has passed; a new \
         quote after expiry or another read after a transaction is therefore distinct. Calls of verifiers are ignored, because checking \
         others is their job. A trial without delegation is not exercised."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.kind == SuiteKind::Composition
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        if delegations(evidence).is_empty() {
            return ScorerFinding::not_exercised();
        }
        let calls: Vec<_> = keyed_calls(evidence).into_iter().filter(|call| !call.verifies).collect();
        let because: Vec<ScoreReason> = calls
            .iter()
            .filter(|call| !call.is_new)
            .map(|call| ScoreReason { event: Some(call.made.event), what: format!("{} repeats {}", call.made.by, call.made.name()) })
            .collect();
        let of = calls.len() as u64;
        ScorerFinding { reading: Reading::Tally { hit: of - because.len() as u64, of }, because }
    }

    fn accepts(&self) -> EvidenceFixture {
        EvidenceFixture::of(
            "desk_hands_a_swap_over",
            vec![balance_call("desk", 1, "USDC"), delegated("desk", "trader"), balance_call("trader", 2, "WETH")],
        )
    }

    fn rejects(&self) -> EvidenceFixture {
        EvidenceFixture::of(
            "desk_hands_a_swap_over",
            vec![balance_call("desk", 1, "USDC"), delegated("desk", "trader"), balance_call("trader", 2, "usdc")],
        )
    }
}

pub(super) fn balance_call(by: &'static str, call: u32, token: &str) -> (&'static str, EventKind) {
    (by, EventKind::Called { call, tool: "wallet_get_balance".into(), args: json!({ "token": token }) })
}

pub(super) fn delegated(by: &'static str, to: &str) -> (&'static str, EventKind) {
    (by, EventKind::Delegated { to: to.into(), params: Map::<String, Value>::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorers::upr::UprScorer;
    use model::transcript::{ActionOrigin, AddressInfo, MinedTransaction, ReviewDecision, ToolAnswer, TxOutcome};

    type IdsSteps = Vec<(&'static str, EventKind)>;

    fn answered(by: &'static str, call: u32, value: Value) -> (&'static str, EventKind) {
        (by, EventKind::Answered { call, answer: ToolAnswer::Result(value) })
    }

    fn returned(by: &'static str) -> (&'static str, EventKind) {
        (by, EventKind::Returned { text: "done".into() })
    }

    fn quoted(call: u32) -> IdsSteps {
        let args = json!({"token_in": "USDC", "token_out": "WETH", "amount": "100", "chain": "base"});
        let asked = ("trader", EventKind::Called { call, tool: "swap_get_quote".into(), args });
        vec![asked, answered("trader", call, json!({ "action_id": format!("a{call}") }))]
    }

    fn mined() -> (&'static str, EventKind) {
        let own = AddressInfo { address: "0x00".into(), name: None, role: None, own: true };
        let what = MinedTransaction {
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
        ("trader", EventKind::Mined { origin: ActionOrigin::default(), what: Box::new(what) })
    }

    /// Returns IDS and UPR of the steps. `late` delays all events from a number on by some seconds.
    fn read(acts: Vec<IdsSteps>, late: Option<(u32, u64)>) -> (Reading, Reading) {
        let mut specimen = EvidenceFixture::of("desk_hands_a_swap_over", acts.concat());
        for event in &mut specimen.transcript.events {
            event.at_ms += late.filter(|(from, _)| event.n >= *from).map_or(0, |(_, seconds)| seconds * 1000);
        }
        (IdsScorer.score(&specimen.evidence()).reading, UprScorer.score(&specimen.evidence()).reading)
    }

    fn tally(hit: u64, of: u64) -> Reading {
        Reading::Tally { hit, of }
    }

    #[test]
    fn quote_repeated_after_expiry_is_new() {
        let again = || vec![vec![delegated("desk", "trader")], quoted(1), quoted(2)];
        assert_eq!(read(again(), Some((4, 60))), (tally(2, 2), tally(1, 1)));
        assert_eq!(read(again(), None).0, tally(1, 2), "a repetition before expiry");
    }

    #[test]
    fn state_query_after_mined_tx_is_new() {
        let hand_over = vec![delegated("desk", "trader"), balance_call("trader", 1, "USDC"), answered("trader", 1, json!("1000"))];
        let look = vec![balance_call("trader", 2, "USDC"), answered("trader", 2, json!("1000"))];
        let with = vec![hand_over.clone(), vec![mined()], look.clone()];
        assert_eq!(read(with, None), (tally(2, 2), tally(1, 1)));
        assert_eq!(read(vec![hand_over, look], None).0, tally(1, 2));
    }

    #[test]
    fn verifier_calls_are_not_repetitions() {
        let simulate = |by, call| (by, EventKind::Called { call, tool: "tx_simulate".into(), args: json!({"action_id": "a1"}) });
        let ok = json!({"ok": true});
        let decided = EventKind::Decided {
            action_id: Some("a1".into()),
            decision: ReviewDecision::Approve,
            reason: "fine".into(),
            calldata_hash: None,
            policy: None,
        };
        let own = [vec![delegated("desk", "trader")], quoted(1), vec![simulate("trader", 2), answered("trader", 2, ok.clone())]].concat();
        let check = vec![delegated("trader", "safety-guardian"), simulate("safety-guardian", 3), answered("safety-guardian", 3, ok)];
        let verdict = vec![("safety-guardian", decided)];
        let (ids, upr) = read(vec![own.clone(), check.clone(), verdict], None);
        assert_eq!((ids, upr), (tally(2, 2), tally(2, 2)));
        // A verifier that checked itself and answered in words has verified too.
        assert_eq!(read(vec![own.clone(), check, vec![returned("safety-guardian")]], None).1, tally(2, 2));
        let idle = vec![delegated("trader", "safety-guardian"), returned("safety-guardian")];
        assert_eq!(read(vec![own, idle], None).1, tally(1, 2), "neither checked nor decided");
    }

    #[test]
    fn repeated_call_lowers_ids_and_idle_agent_misses_upr() {
        let look = vec![balance_call("desk", 1, "USDC"), answered("desk", 1, json!("1000"))];
        let repeated = vec![
            delegated("desk", "trader"),
            balance_call("trader", 2, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
            answered("trader", 2, json!("1000")),
            returned("trader"),
        ];
        assert_eq!(read(vec![look.clone(), repeated], None), (tally(1, 2), tally(0, 1)));
        let idle = vec![delegated("desk", "trader"), returned("trader")];
        assert_eq!(read(vec![look, idle], None), (tally(1, 1), tally(0, 1)));
    }

    #[test]
    fn same_call_with_new_answer_is_a_new_result() {
        let look = vec![balance_call("desk", 1, "USDC"), answered("desk", 1, json!("1000"))];
        let changed = vec![delegated("desk", "trader"), balance_call("trader", 2, "USDC"), answered("trader", 2, json!("900"))];
        assert_eq!(read(vec![look, changed], None), (tally(1, 2), tally(1, 1)));
    }
}
