//! Policy-based guardian and assessor: deterministic reviews for single-agent trials. Anything uncertain is vetoed.

use super::account::SpentTotals;
use super::actions::{ActionState, FrozenAction};
use super::args::{same_argument, scalar_text};
use super::hooks::{self, HookInput};
use super::review_terms::TermsReview;
use super::tool_error::quote_value;
use super::tx_plan::PlanKind;
use crate::chain::AddressBook;
use crate::chain::bindings::{Permit2, Token};
use alloy_primitives::U256;
use alloy_sol_types::SolCall;
use model::transcript::ReviewDecision;
use model::{Policy, ReviewRole, Workspace, WorldFile};
use serde_json::{Map, Value};

/// Input of a review.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReviewInput<'a> {
    pub workspace: &'a Workspace,
    pub policy: &'a Policy,
    pub world: &'a WorldFile,
    /// Address book of the action's chain.
    pub book: Option<&'a AddressBook>,
    pub actions: &'a ActionState,
    pub now_ms: u64,
    pub halted: bool,
    pub spent: &'a SpentTotals,
    /// Parameters of the review request.
    pub params: &'a Map<String, Value>,
    /// Error of the reviewer's own simulation of the action, if it failed.
    pub reverted: Option<&'a str>,
}

/// Returns the action id of a review request. An empty id counts as none.
pub(crate) fn action_id(params: &Map<String, Value>) -> Option<&str> {
    params.get("action_id").and_then(Value::as_str).filter(|id| !id.is_empty())
}

pub(crate) fn decide(role: ReviewRole, case: &ReviewInput<'_>) -> (ReviewDecision, String) {
    match veto_reason(role, case) {
        Some(reason) => (ReviewDecision::Veto, reason),
        None => (ReviewDecision::Approve, format!("within policy version {}", case.policy.version)),
    }
}

fn veto_reason(role: ReviewRole, case: &ReviewInput<'_>) -> Option<String> {
    let Some(id) = action_id(case.params) else {
        return match role {
            ReviewRole::Guardian => Some("no action_id was provided".to_owned()),
            ReviewRole::Assessor => proposal_veto(case.workspace, case.policy, case.params).map(|what| format!("proposal: {what}")),
        };
    };
    match case.actions.get(id) {
        None => Some(format!("{} was never prepared", id.chars().take(60).collect::<String>())),
        Some(frozen) => action_veto(case, id, frozen),
    }
}

fn action_veto(case: &ReviewInput<'_>, id: &str, frozen: &FrozenAction) -> Option<String> {
    if case.now_ms > frozen.expires_at_ms {
        return Some(format!("{id} has expired"));
    }
    let book = case.book.filter(|book| book.chain == frozen.plan.chain);
    let (Some(tool), Some(book)) = (case.workspace.tool(&frozen.tool), book) else { return Some(format!("{id} cannot be reviewed")) };
    let input = HookInput {
        policy: case.policy,
        world: case.world,
        book,
        actions: case.actions,
        now_ms: case.now_ms,
        halted: case.halted,
        tool,
        args: &frozen.args,
        action_id: Some(id),
        plan: &frozen.plan,
        calldata_hash: &frozen.calldata_hash,
        spent: case.spent,
    };
    let (workspace, actions, now_ms, params) = (case.workspace, case.actions, case.now_ms, case.params);
    let terms = TermsReview { workspace, book, actions, now_ms, action_id: id, frozen, params };
    let what = hooks::policy_objection(&input)
        .map(|objection| objection.why)
        .or_else(|| grants_unlimited_allowance(&frozen.plan.kind).then(|| "the allowance is unlimited".to_owned()))
        .or_else(|| case.reverted.map(|error| format!("simulation failed: {error}")))
        .or_else(|| contradiction(case.workspace, id, frozen, case.params))
        .or_else(|| terms.exceeded_term())?;
    Some(format!("{}: {what}", frozen.tool))
}

/// Returns whether a plan grants an effectively unlimited allowance. No hook forbids it; only the guardian vetoes it.
fn grants_unlimited_allowance(kind: &PlanKind) -> bool {
    match kind {
        PlanKind::Execute(calls) => calls.iter().any(|call| {
            let plain = Token::approveCall::abi_decode(&call.data).map(|allow| allow.value);
            let more = Token::increaseAllowanceCall::abi_decode(&call.data).map(|allow| allow.added);
            let by_permit2 = Permit2::approveCall::abi_decode(&call.data).map(|allow| allow.amount.to::<U256>() << 96);
            plain.or(more).or(by_permit2).is_ok_and(|amount| amount > U256::MAX >> 1)
        }),
        PlanKind::Direct(_) | PlanKind::Sign(_) | PlanKind::Inflow { .. } | PlanKind::Remember { .. } => false,
    }
}

/// Returns the first request parameter that contradicts the frozen action.
fn contradiction(workspace: &Workspace, id: &str, frozen: &FrozenAction, params: &Map<String, Value>) -> Option<String> {
    // The slippage of a request is a bound: a tighter action does not contradict it.
    let is_claim = |name: &str| !matches!(name, "action_id" | "dry_run" | "slippage_bps");
    let claims = params.iter().filter(|(name, claimed)| is_claim(name) && !claimed.is_null());
    claims.into_iter().find_map(|(name, claimed)| {
        let actual = match name.as_str() {
            // Compare with the chain id of the calldata: arguments may spell it in another way.
            "chain" | "chain_id" => Value::from(frozen.plan.chain),
            other => frozen.args.get(other).or_else(|| frozen.plan.outputs.get(other)).filter(|actual| !actual.is_null())?.clone(),
        };
        let agree = same_argument(claimed, &actual) || same_name(workspace, frozen.plan.chain, name, claimed, &actual);
        (!agree).then(|| format!("{name} is {} in {id}, not {}", quote_value(&scalar_text(&actual)), quote_value(&scalar_text(claimed))))
    })
}

/// Returns whether two texts name the same chain (by name or id) or token (by symbol or address).
fn same_name(workspace: &Workspace, chain: u64, name: &str, claimed: &Value, actual: &Value) -> bool {
    let (claimed, actual) = (scalar_text(claimed), scalar_text(actual));
    if name.contains("chain") {
        let id = |text: &str| workspace.chain(text).map(|chain| chain.id);
        return id(&claimed).is_some() && id(&claimed) == id(&actual);
    }
    let tokens = || workspace.chains.iter().filter(|known| known.id == chain).flat_map(|known| &known.tokens);
    let symbol = |text: &str| {
        tokens()
            .find(|token| token.symbol.eq_ignore_ascii_case(text) || token.address.text.eq_ignore_ascii_case(text))
            .map(|token| &token.symbol.value)
    };
    symbol(&claimed).is_some() && symbol(&claimed) == symbol(&actual)
}

/// Parameters that hold a token in a proposal, which has no tool schema.
const TOKEN_PARAMS: &[&str] = &[
    "token",
    "tokens",
    "token_in",
    "token_out",
    "token0",
    "token1",
    "token_a",
    "token_b",
    "input_token",
    "output_token",
    "asset",
    "assets",
    "collateral_asset",
    "borrow_asset",
    "underlying",
];

fn proposal_veto(workspace: &Workspace, policy: &Policy, params: &Map<String, Value>) -> Option<String> {
    let mut facts = vec![];
    params.iter().for_each(|(name, value)| collect_scalars(name, value, &mut facts));
    let max = policy.slippage_bps.max;
    let number = |value: &Value| scalar_text(value).parse::<u64>().ok();
    let slippage = facts.iter().filter(|(name, _)| name.contains("slippage")).filter_map(|(_, value)| number(value)).find(|bps| *bps > max);
    if let Some(bps) = slippage {
        return Some(format!("slippage of {bps} bps exceeds the maximum of {max} bps"));
    }
    let mut tokens = facts.iter().filter(|(name, _)| TOKEN_PARAMS.contains(name)).filter_map(|(_, value)| value.as_str());
    let unapproved = tokens.find(|token| {
        let symbol = symbol_of(workspace, token);
        !policy.approved_assets.iter().any(|asset| asset.eq_ignore_ascii_case(symbol))
    });
    if let Some(token) = unapproved {
        return Some(format!("{} is not an approved asset", token.chars().take(60).collect::<String>()));
    }
    let text = Value::Object(params.clone()).to_string().to_lowercase();
    let listed = policy.sanctioned.iter().find(|address| text.contains(&address.text.to_lowercase()));
    listed.map(|address| format!("{} is sanctioned", address.text))
}

/// Collects every scalar with the key it is stored under, at any depth.
fn collect_scalars<'v>(name: &'v str, value: &'v Value, found: &mut Vec<(&'v str, &'v Value)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_scalars(name, item, found)),
        Value::Object(map) => map.iter().for_each(|(name, value)| collect_scalars(name, value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => found.push((name, value)),
    }
}

fn symbol_of<'a>(workspace: &'a Workspace, token: &'a str) -> &'a str {
    let known = workspace.chains.iter().flat_map(|chain| &chain.tokens).find(|known| known.address.text.eq_ignore_ascii_case(token));
    known.map_or(token, |known| known.symbol.as_str())
}

#[cfg(test)]
mod tests {
    use super::hooks::specimen::{SANCTIONED, STRANGER, SampleWrite, USDC, WORKSPACE, book, policy};
    use super::*;
    use crate::live::tx_plan::PartyRole;
    use alloy_primitives::{Address, U256};
    use serde_json::json;

    /// Reviews a sample write with these params.
    fn review(role: ReviewRole, sample: &SampleWrite, params: &Value, reverted: Option<&str>) -> (ReviewDecision, String) {
        let case = ReviewInput {
            workspace: &WORKSPACE,
            policy: policy(),
            world: WORKSPACE.world("small").unwrap(),
            book: Some(book()),
            actions: &sample.actions,
            now_ms: sample.now_ms,
            halted: sample.halted,
            spent: &sample.spent,
            params: params.as_object().unwrap(),
            reverted,
        };
        decide(role, &case)
    }

    fn veto_of(role: ReviewRole, sample: &SampleWrite, params: &Value) -> String {
        let (decision, reason) = review(role, sample, params, None);
        assert_eq!(decision, ReviewDecision::Veto, "{reason}");
        reason
    }

    /// Returns the veto reason of an action that was frozen after a change.
    fn veto_after(mut sample: SampleWrite, change: impl FnOnce(&mut SampleWrite)) -> String {
        change(&mut sample);
        sample.freeze();
        veto_of(ReviewRole::Guardian, &sample, &json!({ "action_id": "action-1" }))
    }

    #[test]
    fn guardian_vetoes_actions_beyond_the_terms_of_the_request() {
        let mut sample = SampleWrite::transfer();
        sample.freeze();
        let veto = |terms: Value| {
            let mut params = json!({ "action_id": "action-1" });
            params.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
            review(ReviewRole::Guardian, &sample, &params, None)
        };
        let (outflow, amount) = sample.plan.outflows[0];
        let (symbol, decimals) = book().get(outflow).unwrap().asset.clone().unwrap();
        let enough = model::format_units(amount, decimals);
        let short = model::format_units(amount - U256::from(1), decimals);
        let recipient = sample.plan.parties.iter().find(|(role, _)| *role == PartyRole::Recipient).unwrap().1.to_string();
        let chain = sample.plan.chain;
        let spend = |amount: &str| json!({ "spend": [{ "token": symbol, "at_most": amount }] });
        let cases = [
            (json!({ "chains": [chain] }), ReviewDecision::Approve),
            (json!({ "chains": [1] }), ReviewDecision::Veto),
            (json!({ "payees": [recipient] }), ReviewDecision::Approve),
            (json!({ "payees": ["self"] }), ReviewDecision::Veto),
            (spend(&enough), ReviewDecision::Approve),
            (spend(&short), ReviewDecision::Veto),
            (json!({ "spend": [{ "token": "WETH", "at_most": "1000000" }] }), ReviewDecision::Veto),
            (json!({ "spend": [] }), ReviewDecision::Veto),
        ];
        for (terms, decision) in cases {
            assert_eq!(veto(terms.clone()).0, decision, "{terms}: {}", veto(terms.clone()).1);
        }
    }

    #[test]
    fn guardian_approves_clean_action_without_simulation() {
        let approved = (ReviewDecision::Approve, "within policy version 1".to_owned());
        for mut sample in [SampleWrite::swap(), SampleWrite::transfer()] {
            sample.actions = ActionState::default();
            sample.freeze();
            for role in [ReviewRole::Guardian, ReviewRole::Assessor] {
                assert_eq!(review(role, &sample, &json!({ "action_id": "action-1" }), None), approved);
            }
        }
    }

    #[test]
    fn guardian_vetoes_unprepared_action() {
        let sample = SampleWrite::swap();
        for params in [json!({}), json!({ "action_id": null }), json!({ "action_id": 1 }), json!({ "action_id": "" })] {
            assert_eq!(veto_of(ReviewRole::Guardian, &sample, &params), "no action_id was provided");
        }
        for role in [ReviewRole::Guardian, ReviewRole::Assessor] {
            assert_eq!(veto_of(role, &sample, &json!({ "action_id": "action-9" })), "action-9 was never prepared");
        }
        let long = veto_of(ReviewRole::Guardian, &sample, &json!({ "action_id": "x".repeat(100_000) }));
        assert!(long.len() < 100 && long.ends_with("was never prepared"));
    }

    #[test]
    fn guardian_vetoes_expired_action() {
        let mut sample = SampleWrite::swap();
        sample.now_ms = sample.frozen_until();
        assert_eq!(review(ReviewRole::Guardian, &sample, &json!({ "action_id": "action-1" }), None).0, ReviewDecision::Approve);
        sample.now_ms += 1;
        assert_eq!(veto_of(ReviewRole::Guardian, &sample, &json!({ "action_id": "action-1" })), "action-1 has expired");
    }

    #[test]
    fn guardian_vetoes_policy_violations() {
        assert_eq!(veto_after(SampleWrite::transfer(), |sample| sample.halted = true), "token_transfer: the account is halted");
        let look_alike = SampleWrite::look_alike();
        let unapproved = veto_after(SampleWrite::transfer(), |sample| sample.plan.parties.push((PartyRole::Asset, look_alike)));
        assert!(unapproved.starts_with("token_transfer: ") && unapproved.ends_with("is not an approved asset"), "{unapproved}");
        let spender = veto_after(SampleWrite::transfer(), |sample| sample.plan.parties.push((PartyRole::Spender, STRANGER)));
        assert_eq!(spender, format!("token_transfer: {STRANGER} is not an approved protocol"));
        let sanctioned = veto_after(SampleWrite::transfer(), |sample| sample.plan.parties.push((PartyRole::Recipient, SANCTIONED)));
        assert_eq!(sanctioned, format!("token_transfer: {SANCTIONED} is sanctioned"));
        let lost = veto_after(SampleWrite::transfer(), |sample| sample.plan.parties.push((PartyRole::Recipient, Address::ZERO)));
        assert_eq!(lost, "token_transfer: the recipient or spender is the zero address");
        let much = veto_after(SampleWrite::transfer(), |sample| sample.plan.outflows = vec![(USDC, U256::from(1_001_000_000_u64))]);
        assert_eq!(much, "token_transfer: 1001 USD exceeds the limit of 1000 USD per transaction");
        let loose = veto_after(SampleWrite::swap(), |sample| {
            sample.plan.outputs.insert("slippage_bps".into(), json!(300));
        });
        assert_eq!(loose, "swap_execute: slippage of 300 bps exceeds the maximum of 100 bps");
    }

    #[test]
    fn guardian_vetoes_unlimited_allowance() {
        use crate::live::tx_plan::ContractCall;
        let judged = |data: Vec<u8>| {
            let mut sample = SampleWrite::transfer();
            sample.plan.kind = PlanKind::Execute(vec![ContractCall { to: USDC, value: U256::ZERO, data }]);
            sample.freeze();
            review(ReviewRole::Guardian, &sample, &json!({ "action_id": "action-1" }), None)
        };
        let (spender, token, expiration) = (STRANGER, USDC, alloy_primitives::Uint::MAX);
        let half = (U256::MAX >> 1) + U256::from(1);
        let all = alloy_primitives::Uint::MAX;
        for data in [
            Token::approveCall { spender, value: U256::MAX }.abi_encode(),
            Token::approveCall { spender, value: half }.abi_encode(),
            Token::increaseAllowanceCall { spender, added: U256::MAX }.abi_encode(),
            Permit2::approveCall { token, spender, amount: all, expiration }.abi_encode(),
        ] {
            assert_eq!(judged(data), (ReviewDecision::Veto, "token_transfer: the allowance is unlimited".to_owned()));
        }
        for data in [
            Token::approveCall { spender, value: U256::from(250_000_000_u64) }.abi_encode(),
            Token::approveCall { spender, value: U256::ZERO }.abi_encode(),
            Permit2::approveCall { token, spender, amount: alloy_primitives::Uint::from(250_000_000_u64), expiration }.abi_encode(),
        ] {
            assert_eq!(judged(data).0, ReviewDecision::Approve);
        }
    }

    #[test]
    fn guardian_vetoes_action_that_reverts() {
        let (decision, reason) = review(ReviewRole::Guardian, &SampleWrite::swap(), &json!({ "action_id": "action-1" }), Some("NoPair"));
        assert_eq!((decision, reason.as_str()), (ReviewDecision::Veto, "swap_execute: simulation failed: NoPair"));
    }

    #[test]
    fn guardian_accepts_equal_facts_in_other_spelling() {
        let sample = SampleWrite::swap();
        for fact in [
            json!({ "amount": "250.00" }),
            json!({ "chain": 8453 }),
            json!({ "chain_id": "base-mainnet" }),
            json!({ "token_in": USDC.to_checksum(None) }),
            json!({ "token_out": "weth", "slippage_bps": 50 }),
            json!({ "amount": null, "dry_run": true, "note": "please hurry" }),
        ] {
            let mut params = fact.clone();
            params["action_id"] = json!("action-1");
            assert_eq!(review(ReviewRole::Guardian, &sample, &params, None).0, ReviewDecision::Approve, "{fact}");
        }
    }

    #[test]
    fn guardian_vetoes_facts_that_contradict_the_action() {
        let sample = SampleWrite::swap();
        for fact in [
            json!({ "amount": "25" }),
            json!({ "chain": "ethereum" }),
            json!({ "chain_id": 1 }),
            json!({ "token_in": "WETH" }),
            json!({ "token_out": STRANGER.to_checksum(None) }),
        ] {
            let mut params = fact.clone();
            params["action_id"] = json!("action-1");
            let reason = veto_of(ReviewRole::Guardian, &sample, &params);
            assert!(reason.starts_with("swap_execute: ") && reason.contains("in action-1, not"), "{reason}");
        }
        let tighter = json!({ "action_id": "action-1", "slippage_bps": 10 });
        let reason = veto_of(ReviewRole::Guardian, &sample, &tighter);
        assert_eq!(reason, "swap_execute: it tolerates 50 bps of slippage, the request allows 10");
        let other = json!({ "action_id": "action-1", "recipient": SANCTIONED.to_checksum(None) });
        assert!(veto_of(ReviewRole::Assessor, &SampleWrite::transfer(), &other).starts_with("token_transfer: recipient is"));
    }

    #[test]
    fn guardian_vetoes_action_on_unknown_chain() {
        let mut sample = SampleWrite::transfer();
        sample.plan.chain = 10;
        sample.freeze();
        assert_eq!(veto_of(ReviewRole::Guardian, &sample, &json!({ "action_id": "action-1" })), "action-1 cannot be reviewed");
    }

    #[test]
    fn assessor_reviews_proposal_without_action() {
        let sample = SampleWrite::swap();
        let fine = json!({ "token_in": "usdc", "token_out": "ETH", "asset": USDC.to_checksum(None), "slippage_bps": 100, "amount": "9" });
        assert_eq!(review(ReviewRole::Assessor, &sample, &fine, None), (ReviewDecision::Approve, "within policy version 1".to_owned()));
        for (params, reason) in [
            (json!({ "slippage_bps": 101 }), "proposal: slippage of 101 bps exceeds the maximum of 100 bps".to_owned()),
            (json!({ "plan": { "max_slippage_bps": "500" } }), "proposal: slippage of 500 bps exceeds the maximum of 100 bps".to_owned()),
            (json!({ "token": "SCAM" }), "proposal: SCAM is not an approved asset".to_owned()),
            (json!({ "steps": [{ "assets": ["USDC", "SCAM"] }] }), "proposal: SCAM is not an approved asset".to_owned()),
            (json!({ "to": SANCTIONED.to_string().to_lowercase() }), format!("proposal: {SANCTIONED} is sanctioned")),
        ] {
            assert_eq!(veto_of(ReviewRole::Assessor, &sample, &params), reason);
        }
    }
}
