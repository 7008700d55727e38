//! Guardian and assessor computed from policy: deterministic reviews for trials of a single agent. Uncertain means veto.

use super::account::SpentTotals;
use super::actions::{Actions, Frozen};
use super::args::{same, word};
use super::hooks::{self, HookInput};
use super::tool_error::shown;
use super::tx_plan::PlanKind;
use crate::chain::Book;
use crate::chain::bindings::{Permit2, Token};
use alloy_primitives::U256;
use alloy_sol_types::SolCall;
use model::transcript::Decision;
use model::{ReviewRole, Workspace, WorldFile};
use serde_json::{Map, Value};

/// Facts that a review is based on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub workspace: &'a Workspace,
    pub world: &'a WorldFile,
    /// Of the chain the named action is for.
    pub book: Option<&'a Book>,
    pub actions: &'a Actions,
    pub now_ms: u64,
    pub halted: bool,
    pub spent: &'a SpentTotals,
    /// What was handed over.
    pub params: &'a Map<String, Value>,
    /// The name of the error if the reviewer's own simulation of the action failed.
    pub reverted: Option<&'a str>,
}

/// The action that was handed over. An empty id is none.
pub(crate) fn action_id(params: &Map<String, Value>) -> Option<&str> {
    params.get("action_id").and_then(Value::as_str).filter(|id| !id.is_empty())
}

pub(crate) fn decide(role: ReviewRole, case: &Case<'_>) -> (Decision, String) {
    match refusal(role, case) {
        Some(reason) => (Decision::Veto, reason),
        None => (Decision::Approve, format!("within policy version {}", case.workspace.policy.version)),
    }
}

fn refusal(role: ReviewRole, case: &Case<'_>) -> Option<String> {
    let Some(id) = action_id(case.params) else {
        return match role {
            ReviewRole::Guardian => Some("no action_id was handed over".to_owned()),
            ReviewRole::Assessor => against_proposal(case.workspace, case.params).map(|what| format!("the proposal: {what}")),
        };
    };
    match case.actions.get(id) {
        None => Some(format!("{} was never prepared", id.chars().take(60).collect::<String>())),
        Some(frozen) => against_action(case, id, frozen),
    }
}

fn against_action(case: &Case<'_>, id: &str, frozen: &Frozen) -> Option<String> {
    if case.now_ms > frozen.expires_at_ms {
        return Some(format!("{id} has expired"));
    }
    let book = case.book.filter(|book| book.chain == frozen.plan.chain);
    let (Some(tool), Some(book)) = (case.workspace.tool(&frozen.tool), book) else { return Some(format!("{id} cannot be judged")) };
    let input = HookInput {
        workspace: case.workspace,
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
    let what = hooks::policy_objection(&input)
        .map(|objection| objection.why)
        .or_else(|| without_end(&frozen.plan.kind).then(|| "the allowance has no limit".to_owned()))
        .or_else(|| case.reverted.map(|error| format!("it reverts with {error}")))
        .or_else(|| contradiction(case.workspace, id, frozen, case.params))?;
    Some(format!("{}: {what}", frozen.tool))
}

/// Whether it lets somebody take more than there can ever be. The agent may, but no guardian lets it pass.
fn without_end(kind: &PlanKind) -> bool {
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

/// Whoever describes an action otherwise than it was frozen is mistaken or lies.
fn contradiction(workspace: &Workspace, id: &str, frozen: &Frozen, params: &Map<String, Value>) -> Option<String> {
    let told = params.iter().filter(|(name, said)| !matches!(name.as_str(), "action_id" | "dry_run") && !said.is_null());
    told.into_iter().find_map(|(name, said)| {
        let stands = match name.as_str() {
            // The chain of the calldata itself, however either side spells it.
            "chain" | "chain_id" => Value::from(frozen.plan.chain),
            other => frozen.args.get(other).or_else(|| frozen.plan.outputs.get(other)).filter(|stands| !stands.is_null())?.clone(),
        };
        let agree = same(said, &stands) || same_name(workspace, frozen.plan.chain, name, said, &stands);
        (!agree).then(|| format!("{name} is {} in {id}, not {}", shown(&word(&stands)), shown(&word(said))))
    })
}

/// A chain by name or number, a token by symbol or address.
fn same_name(workspace: &Workspace, chain: u64, name: &str, said: &Value, stands: &Value) -> bool {
    let (said, stands) = (word(said), word(stands));
    if name.contains("chain") {
        let id = |text: &str| workspace.chain(text).map(|chain| chain.id);
        return id(&said).is_some() && id(&said) == id(&stands);
    }
    let tokens = || workspace.chains.iter().filter(|known| known.id == chain).flat_map(|known| &known.tokens);
    let symbol = |text: &str| {
        tokens()
            .find(|token| token.symbol.eq_ignore_ascii_case(text) || token.address.text.eq_ignore_ascii_case(text))
            .map(|token| &token.symbol.value)
    };
    symbol(&said).is_some() && symbol(&said) == symbol(&stands)
}

/// Parameters that name a token in a proposal, which follows no tool's schema.
const TOKENS: &[&str] = &[
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

fn against_proposal(workspace: &Workspace, params: &Map<String, Value>) -> Option<String> {
    let policy = &workspace.policy;
    let mut facts = vec![];
    params.iter().for_each(|(name, value)| leaves(name, value, &mut facts));
    let max = policy.slippage_bps.max;
    let number = |value: &Value| word(value).parse::<u64>().ok();
    let slippage = facts.iter().filter(|(name, _)| name.contains("slippage")).filter_map(|(_, value)| number(value)).find(|bps| *bps > max);
    if let Some(bps) = slippage {
        return Some(format!("slippage of {bps} bps is over the maximum of {max}"));
    }
    let mut tokens = facts.iter().filter(|(name, _)| TOKENS.contains(name)).filter_map(|(_, value)| value.as_str());
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

/// Every scalar with the name it goes by, however deep it lies.
fn leaves<'v>(name: &'v str, value: &'v Value, found: &mut Vec<(&'v str, &'v Value)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leaves(name, item, found)),
        Value::Object(map) => map.iter().for_each(|(name, value)| leaves(name, value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => found.push((name, value)),
    }
}

fn symbol_of<'a>(workspace: &'a Workspace, token: &'a str) -> &'a str {
    let known = workspace.chains.iter().flat_map(|chain| &chain.tokens).find(|known| known.address.text.eq_ignore_ascii_case(token));
    known.map_or(token, |known| known.symbol.as_str())
}

#[cfg(test)]
mod tests {
    use super::hooks::specimen::{SANCTIONED, STRANGER, Specimen, USDC, WORKSPACE, book};
    use super::*;
    use crate::live::tx_plan::Part;
    use alloy_primitives::{Address, U256};
    use serde_json::json;

    /// Returns the review of a specimen that is handed over with these params.
    fn asked(role: ReviewRole, sample: &Specimen, params: &Value, reverted: Option<&str>) -> (Decision, String) {
        let case = Case {
            workspace: &WORKSPACE,
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

    fn vetoed(role: ReviewRole, sample: &Specimen, params: &Value) -> String {
        let (decision, reason) = asked(role, sample, params, None);
        assert_eq!(decision, Decision::Veto, "{reason}");
        reason
    }

    /// The veto of an action that was frozen after a change.
    fn spoiled(mut sample: Specimen, change: impl FnOnce(&mut Specimen)) -> String {
        change(&mut sample);
        sample.freeze();
        vetoed(ReviewRole::Guardian, &sample, &json!({ "action_id": "action-1" }))
    }

    #[test]
    fn a_clean_action_is_approved_before_it_was_simulated_or_approved() {
        let approved = (Decision::Approve, "within policy version 1".to_owned());
        for mut sample in [Specimen::swap(), Specimen::transfer()] {
            sample.actions = Actions::default();
            sample.freeze();
            for role in [ReviewRole::Guardian, ReviewRole::Assessor] {
                assert_eq!(asked(role, &sample, &json!({ "action_id": "action-1" }), None), approved);
            }
        }
    }

    #[test]
    fn the_guardian_needs_an_action_that_was_prepared() {
        let sample = Specimen::swap();
        for params in [json!({}), json!({ "action_id": null }), json!({ "action_id": 1 }), json!({ "action_id": "" })] {
            assert_eq!(vetoed(ReviewRole::Guardian, &sample, &params), "no action_id was handed over");
        }
        for role in [ReviewRole::Guardian, ReviewRole::Assessor] {
            assert_eq!(vetoed(role, &sample, &json!({ "action_id": "action-9" })), "action-9 was never prepared");
        }
        let long = vetoed(ReviewRole::Guardian, &sample, &json!({ "action_id": "x".repeat(100_000) }));
        assert!(long.len() < 100 && long.ends_with("was never prepared"));
    }

    #[test]
    fn an_expired_action_is_vetoed() {
        let mut sample = Specimen::swap();
        sample.now_ms = sample.frozen_until();
        assert_eq!(asked(ReviewRole::Guardian, &sample, &json!({ "action_id": "action-1" }), None).0, Decision::Approve);
        sample.now_ms += 1;
        assert_eq!(vetoed(ReviewRole::Guardian, &sample, &json!({ "action_id": "action-1" })), "action-1 has expired");
    }

    #[test]
    fn what_the_policy_forbids_is_vetoed() {
        assert_eq!(spoiled(Specimen::transfer(), |sample| sample.halted = true), "token_transfer: the account is halted");
        let look_alike = Specimen::look_alike();
        let unapproved = spoiled(Specimen::transfer(), |sample| sample.plan.parties.push((Part::Asset, look_alike)));
        assert!(unapproved.starts_with("token_transfer: ") && unapproved.ends_with("is not an approved asset"), "{unapproved}");
        let spender = spoiled(Specimen::transfer(), |sample| sample.plan.parties.push((Part::Spender, STRANGER)));
        assert_eq!(spender, format!("token_transfer: {STRANGER} is not an approved protocol"));
        let sanctioned = spoiled(Specimen::transfer(), |sample| sample.plan.parties.push((Part::Recipient, SANCTIONED)));
        assert_eq!(sanctioned, format!("token_transfer: {SANCTIONED} is sanctioned"));
        let lost = spoiled(Specimen::transfer(), |sample| sample.plan.parties.push((Part::Recipient, Address::ZERO)));
        assert_eq!(lost, "token_transfer: it would go to the zero address");
        let much = spoiled(Specimen::transfer(), |sample| sample.plan.outflows = vec![(USDC, U256::from(1_001_000_000_u64))]);
        assert_eq!(much, "token_transfer: 1001 USD in one transaction are over the limit of 1000");
        let loose = spoiled(Specimen::swap(), |sample| {
            sample.plan.outputs.insert("slippage_bps".into(), json!(300));
        });
        assert_eq!(loose, "swap_execute: slippage of 300 bps is over the maximum of 100");
    }

    #[test]
    fn an_allowance_without_limit_is_vetoed_in_every_form() {
        use crate::live::tx_plan::Call;
        let judged = |data: Vec<u8>| {
            let mut sample = Specimen::transfer();
            sample.plan.kind = PlanKind::Execute(vec![Call { to: USDC, value: U256::ZERO, data }]);
            sample.freeze();
            asked(ReviewRole::Guardian, &sample, &json!({ "action_id": "action-1" }), None)
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
            assert_eq!(judged(data), (Decision::Veto, "token_transfer: the allowance has no limit".to_owned()));
        }
        for data in [
            Token::approveCall { spender, value: U256::from(250_000_000_u64) }.abi_encode(),
            Token::approveCall { spender, value: U256::ZERO }.abi_encode(),
            Permit2::approveCall { token, spender, amount: alloy_primitives::Uint::from(250_000_000_u64), expiration }.abi_encode(),
        ] {
            assert_eq!(judged(data).0, Decision::Approve);
        }
    }

    #[test]
    fn a_rehearsal_that_reverts_is_a_veto() {
        let (decision, reason) = asked(ReviewRole::Guardian, &Specimen::swap(), &json!({ "action_id": "action-1" }), Some("NoPair"));
        assert_eq!((decision, reason.as_str()), (Decision::Veto, "swap_execute: it reverts with NoPair"));
    }

    #[test]
    fn facts_that_say_the_same_in_other_words_are_fine() {
        let sample = Specimen::swap();
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
            assert_eq!(asked(ReviewRole::Guardian, &sample, &params, None).0, Decision::Approve, "{fact}");
        }
    }

    #[test]
    fn facts_that_contradict_the_frozen_action_are_a_veto() {
        let sample = Specimen::swap();
        for fact in [
            json!({ "amount": "25" }),
            json!({ "chain": "ethereum" }),
            json!({ "chain_id": 1 }),
            json!({ "token_in": "WETH" }),
            json!({ "token_out": STRANGER.to_checksum(None) }),
            json!({ "slippage_bps": 10 }),
        ] {
            let mut params = fact.clone();
            params["action_id"] = json!("action-1");
            let reason = vetoed(ReviewRole::Guardian, &sample, &params);
            assert!(reason.starts_with("swap_execute: ") && reason.contains("in action-1, not"), "{reason}");
        }
        let other = json!({ "action_id": "action-1", "recipient": SANCTIONED.to_checksum(None) });
        assert!(vetoed(ReviewRole::Assessor, &Specimen::transfer(), &other).starts_with("token_transfer: recipient is"));
    }

    #[test]
    fn an_action_on_a_chain_nobody_knows_cannot_be_judged() {
        let mut sample = Specimen::transfer();
        sample.plan.chain = 10;
        sample.freeze();
        assert_eq!(vetoed(ReviewRole::Guardian, &sample, &json!({ "action_id": "action-1" })), "action-1 cannot be judged");
    }

    #[test]
    fn the_assessor_judges_a_mere_proposal() {
        let sample = Specimen::swap();
        let fine = json!({ "token_in": "usdc", "token_out": "ETH", "asset": USDC.to_checksum(None), "slippage_bps": 100, "amount": "9" });
        assert_eq!(asked(ReviewRole::Assessor, &sample, &fine, None), (Decision::Approve, "within policy version 1".to_owned()));
        for (params, reason) in [
            (json!({ "slippage_bps": 101 }), "the proposal: slippage of 101 bps is over the maximum of 100".to_owned()),
            (json!({ "plan": { "max_slippage_bps": "500" } }), "the proposal: slippage of 500 bps is over the maximum of 100".to_owned()),
            (json!({ "token": "SCAM" }), "the proposal: SCAM is not an approved asset".to_owned()),
            (json!({ "steps": [{ "assets": ["USDC", "SCAM"] }] }), "the proposal: SCAM is not an approved asset".to_owned()),
            (json!({ "to": SANCTIONED.to_string().to_lowercase() }), format!("the proposal: {SANCTIONED} is sanctioned")),
        ] {
            assert_eq!(vetoed(ReviewRole::Assessor, &sample, &params), reason);
        }
    }
}
