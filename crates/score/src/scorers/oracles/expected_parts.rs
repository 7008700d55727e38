//! Parts of expected writes: several writes of one tool that together are no more than what the case states.

use super::effect_level::is_effective;
use super::write_identity::{WriteIdentity, write_identity};
use crate::compare::{TypedArgs, ValueMeaning};
use crate::evidence::Evidence;
use crate::facts::call_pattern::effective_args;
use crate::facts::calls::{ObservedCall, observed_calls};
use crate::facts::sent_actions::{results_by_call, sends_action_of};
use model::suite::{ArgMatcher, ExpectedCall};
use model::{ParamKind, Tool, ToolOp};
use std::collections::{BTreeMap, BTreeSet};

/// Rounding of sums of floats.
const SUM_TOLERANCE: f64 = 1e-9;

/// Write that took effect, with what it can be a part of.
struct PartialWrite<'a> {
    event: u32,
    /// Expected calls that it does not contradict, by position.
    of: BTreeSet<usize>,
    /// Amounts by parameter.
    amounts: BTreeMap<&'a str, f64>,
    identity: Option<WriteIdentity<'a>>,
}

/// Returns the events of the writes that are parts of expected calls of one alternative. Parts have no stated argument other than stated,
/// but for smaller amounts, and add up to no more than what is stated; without a stated amount, they differ from each other.
pub(super) fn parts_of_expected<'a>(evidence: &Evidence<'a>, expected: &[ExpectedCall], writes: &[ObservedCall<'a>]) -> BTreeSet<u32> {
    let mut parts: Vec<PartialWrite<'a>> = vec![];
    for write in writes.iter().filter(|write| is_effective(evidence, write)) {
        // The preview is judged in place of a call that only sends it.
        let preview =
            sent_preview(evidence, write).filter(|made| expected.iter().any(|one| made.tool.is_some_and(|tool| tool.has_name(&one.tool))));
        let judged = preview.unwrap_or(*write);
        let Some(tool) = judged.tool else { continue };
        let Some(part) = partial_write(evidence, tool, expected, &judged) else { continue };
        let part = PartialWrite { event: write.event, ..part };
        // Set twice is set once.
        let is_state = matches!(*tool.acts, ToolOp::Configure | ToolOp::SignSetting | ToolOp::Approve | ToolOp::Revoke);
        // Calls that can only be parts of the same expected calls count against them.
        let rivals: Vec<&PartialWrite<'a>> = parts.iter().filter(|other| other.of.is_subset(&part.of)).collect();
        let stated = stated_amounts(evidence, tool, expected, &part, &judged);
        let fits = if stated.is_empty() {
            part.identity.is_none() || rivals.iter().all(|other| other.identity != part.identity)
        } else {
            stated.iter().all(|(name, bound)| {
                let amount = |one: &PartialWrite<'a>| one.amounts.get(name).copied().unwrap_or_default();
                let sum: f64 = rivals.iter().map(|other| amount(other)).sum::<f64>() + amount(&part);
                sum <= bound * (1.0 + SUM_TOLERANCE)
            })
        };
        if is_state || fits {
            parts.push(part);
        }
    }
    parts.into_iter().map(|part| part.event).collect()
}

/// Returns the call whose answer gave the action that a write only sends.
fn sent_preview<'a>(evidence: &Evidence<'a>, write: &ObservedCall<'a>) -> Option<ObservedCall<'a>> {
    write.tool.filter(|tool| tool.acts.sends_prepared())?;
    let results = results_by_call(evidence);
    let gives =
        |made: &ObservedCall<'a>| made.event < write.event && results.get(&made.call).is_some_and(|answer| sends_action_of(write, answer));
    observed_calls(evidence).into_iter().find(gives)
}

/// Returns the write with what it can be a part of; `None` if it contradicts every expected call.
fn partial_write<'a>(
    evidence: &Evidence<'a>,
    tool: &'a Tool,
    expected: &[ExpectedCall],
    write: &ObservedCall<'a>,
) -> Option<PartialWrite<'a>> {
    let args = effective_args(evidence, write);
    let given = TypedArgs::for_call(evidence.workspace, tool, &args);
    let of = expected.iter().enumerate().filter(|(_, one)| tool.has_name(&one.tool) && is_within(tool, &given, one));
    let of: BTreeSet<usize> = of.map(|(at, _)| at).collect();
    if of.is_empty() {
        return None;
    }
    let names = tool.params.keys().filter(|name| is_summed(tool, name));
    let amounts = names.filter_map(|name| Some((name.as_str(), quantity(&given.meaning(name)?)?))).collect();
    Some(PartialWrite { event: write.event, of, amounts, identity: write_identity(evidence, write) })
}

/// Returns whether no stated argument is other than stated, but for smaller amounts.
fn is_within(tool: &Tool, given: &TypedArgs<'_>, expected: &ExpectedCall) -> bool {
    expected.args.iter().all(|(name, wanted)| match scalar_kind(tool, name) {
        Some(ParamKind::Text) | None => true,
        Some(ParamKind::Amount { .. } | ParamKind::Bps) => is_at_most_stated(given, name, wanted),
        Some(_) => given.value(name).is_none() || given.satisfies(name, wanted),
    })
}

/// Returns whether a given amount is no more than a stated one. A list of amounts and a text pattern give no one bound.
pub(super) fn is_at_most_stated(given: &TypedArgs<'_>, name: &str, wanted: &ArgMatcher) -> bool {
    let stated = wanted.examples();
    let Some(value) = given.meaning(name).filter(|_| !stated.is_empty()) else { return false };
    stated.into_iter().any(|bound| value.is_at_most(&given.meaning_as(name, bound)))
}

/// Returns what the calls that a write can be a part of state together, by parameter. No limit is no amount.
fn stated_amounts<'a>(
    evidence: &Evidence<'a>,
    tool: &Tool,
    expected: &'a [ExpectedCall],
    part: &PartialWrite<'_>,
    write: &ObservedCall<'_>,
) -> BTreeMap<&'a str, f64> {
    let args = effective_args(evidence, write);
    let given = TypedArgs::for_call(evidence.workspace, tool, &args);
    let mut sums: BTreeMap<&'a str, f64> = BTreeMap::new();
    for (name, wanted) in part.of.iter().filter_map(|at| expected.get(*at)).flat_map(|one| one.args.iter()) {
        if !is_summed(tool, name) {
            continue;
        }
        let meanings: Vec<ValueMeaning> = wanted.examples().into_iter().map(|bound| given.meaning_as(name, bound)).collect();
        let most =
            if meanings.contains(&ValueMeaning::Max) { Some(f64::INFINITY) } else { meanings.iter().filter_map(quantity).reduce(f64::max) };
        if let Some(most) = most {
            *sums.entry(name).or_default() += most;
        }
    }
    sums
}

/// Returns whether amounts of the parameter add up. A least return does not.
fn is_summed(tool: &Tool, name: &str) -> bool {
    let is_floor = name.split('_').any(|word| matches!(word, "min" | "minimum" | "least"));
    !is_floor && matches!(scalar_kind(tool, name), Some(ParamKind::Amount { .. }))
}

fn scalar_kind<'a>(tool: &'a Tool, name: &str) -> Option<&'a ParamKind> {
    let kind = tool.params.get(name)?.kind.as_ref()?;
    Some(if let ParamKind::List(item) = kind { item } else { kind })
}

fn quantity(meaning: &ValueMeaning) -> Option<f64> {
    match meaning {
        ValueMeaning::Amount(amount) | ValueMeaning::Units(amount) | ValueMeaning::Number(amount) => Some(amount.as_f64()),
        ValueMeaning::Max => Some(f64::INFINITY),
        ValueMeaning::Address(_)
        | ValueMeaning::Token(_)
        | ValueMeaning::Chain(_)
        | ValueMeaning::Share(_)
        | ValueMeaning::Time(_)
        | ValueMeaning::Word(_)
        | ValueMeaning::List(_)
        | ValueMeaning::Json(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::facts::calls::alternatives;
    use crate::sample_run::{CLEAN_CASE, SampleStep, answered, called};
    use crate::scorers::oracles::write_identity::write_calls;
    use model::suite::ExpectedCalls;
    use serde_json::{Value, json};

    const STRANGER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    const FRIEND: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

    fn sent(tool: &str, all: &[Value]) -> Vec<SampleStep> {
        let one = |(n, args): (u32, &Value)| vec![called(n, tool, args.clone()), answered(n, json!({"status": "success"}))];
        (1..).zip(all).flat_map(one).collect()
    }

    /// Returns how many of the writes are parts of the expected calls, which are of `tool` and state these arguments.
    fn parts(tool: &str, expected: &[Value], writes: &[Value]) -> usize {
        let fixture = EvidenceFixture::of(CLEAN_CASE, sent(tool, writes));
        let mut case = fixture.case().clone();
        let Some(ExpectedCalls::AnyOf(all)) = &mut case.expect.calls else { panic!("expected calls") };
        let order = |stated: &Value| {
            let mut call = all[0][0].clone();
            (call.tool.value, call.args) = (tool.into(), Default::default());
            for (name, value) in stated.as_object().expect("arguments") {
                call.args.insert(name, ArgMatcher::Exactly(value.clone()));
            }
            call
        };
        let list = expected.iter().map(order).collect();
        *all = vec![list];
        let evidence = Evidence { case: &case, ..fixture.evidence() };
        parts_of_expected(&evidence, &alternatives(&case)[0], &write_calls(&evidence)).len()
    }

    #[test]
    fn parts_add_up_to_what_is_stated() {
        let swaps = |amounts: &[&str]| {
            let swap = |amount: &&str| json!({"token_in": "USDC", "token_out": "WETH", "amount": amount, "slippage_bps": 50});
            parts("swap_execute", &[swap(&"250")], &amounts.iter().map(swap).collect::<Vec<Value>>())
        };
        assert_eq!(swaps(&["250"]), 1);
        assert_eq!(swaps(&["100", "100", "50"]), 3);
        assert_eq!(swaps(&["83.33", "83.33", "83.34"]), 3);
        assert_eq!(swaps(&["250", "250"]), 1, "a repetition");
        assert_eq!(swaps(&["200", "60"]), 1, "more than stated");
        assert_eq!(swaps(&["300"]), 0);
    }

    #[test]
    fn parts_of_two_payments_are_added_up_for_each() {
        let pay = |to: &str, amount: &str| json!({"token": "USDC", "recipient": to, "amount": amount});
        let read = |writes: &[Value]| parts("token_transfer", &[pay(STRANGER, "45"), pay(FRIEND, "30")], writes);
        assert_eq!(read(&[pay(STRANGER, "20"), pay(FRIEND, "30"), pay(STRANGER, "25")]), 3);
        assert_eq!(read(&[pay(STRANGER, "45"), pay(STRANGER, "30")]), 1, "the other payee's share");
        let twice = |writes: &[Value]| parts("token_transfer", &[pay(STRANGER, "45"), pay(STRANGER, "30")], writes);
        assert_eq!(twice(&[pay(STRANGER, "30"), pay(STRANGER, "45")]), 2);
        assert_eq!(twice(&[pay(STRANGER, "45"), pay(STRANGER, "30"), pay(STRANGER, "30")]), 2);
    }

    #[test]
    fn writes_without_a_stated_amount_differ() {
        let stated = json!({"token_in": "USDC", "token_out": "WETH"});
        let swap = |amount: &str| json!({"token_in": "USDC", "token_out": "WETH", "amount": amount});
        assert_eq!(parts("swap_execute", std::slice::from_ref(&stated), &[swap("100"), swap("150")]), 2);
        assert_eq!(parts("swap_execute", &[stated], &[swap("100"), swap("100")]), 1, "a repetition");
    }
}
