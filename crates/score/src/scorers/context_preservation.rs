//! Context preservation (spec 2.4): a delegation passes on what the next agent needs.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::compare::{TypedArgs, ValueContext, ValueMeaning, meaning};
use crate::facts::delegations::{ObservedDelegation, delegations};
use crate::facts::intent_terms::{IntentTerms, delegation_params, terms_of_args, terms_of_intent, terms_of_params};
use crate::facts::stated_figures::{figures_in_text, figures_in_value};
use crate::facts::stated_shares::stated_shares;
use crate::facts::told_terms::told_terms;
use crate::facts::turns::carry_stated_at;
use lexical::{FoldMode, contains_phrase};
use model::suite::{ArgMatcher, CarriedValue, Case, ExpectedCalls, SuiteKind, ValueOrigin};
use model::transcript::ToolAnswer;
use model::{AmountUnit, Event, EventKind, ParamKind, Reading, ScoreReason, ScorerId, Workspace};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct ContextPreservation;

impl Scorer for ContextPreservation {
    fn id(&self) -> ScorerId {
        ScorerId::ContextPreservation
    }

    fn manual(&self) -> &'static str {
        "Checks that a delegation passes on what the receiving agent needs, as listed in its agent file. One tally per needed key of the \
         intent, per needed carried slot, per slot carried until that agent, and per further figure or address that a call \
         of the receiving agent uses, that the user said, the case expects or another agent returned, and that it did not read itself. A hit requires that the value arrives with the same \
         meaning in the delegation, or in the first call of the receiving agent that states it; a missing or changed value misses. \
         Delegation parameters are read like parameters of the same name in the receiving agent's tools: token_in and amount are a spend, \
         chain: base is chains: [8453], and a slippage of 0.5 % in any key or text that names it is 50 bps. A hand-over in words counts by what it \
         orders: sell 100 USDC for WETH on Base states spend, receive and chain, buy 100 USDC with WETH does not. If the intent has several spends, chains or payees, each delegation needs the part of its step: no asset to receive where nothing is bought, and no slippage where the agent writes \
         with tools that have no such parameter."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.kind == SuiteKind::Composition
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let wanted = terms_of_intent(evidence);
        let (mut hit, mut of, mut because) = (0, 0, vec![]);
        for delegation in delegations(evidence) {
            let arrived = DelegatedContext::of(evidence, &delegation);
            let required = required_keys(evidence, &delegation, &wanted, &arrived).into_iter();
            for (key, good) in required.chain(used_figures(evidence, &delegation)) {
                of += 1;
                hit += u64::from(good);
                if !good {
                    let what = format!("{key} did not reach {} unchanged", delegation.to);
                    because.push(ScoreReason { event: Some(delegation.event), what });
                }
            }
        }
        ScorerFinding { reading: Reading::Tally { hit, of }, because }
    }

    fn accepts(&self) -> EvidenceFixture {
        delegation_fixture(json!({"token_in": "USDC", "token_out": "WETH", "amount": "100.0", "chain": 8453}), None)
    }

    fn rejects(&self) -> EvidenceFixture {
        delegation_fixture(json!({"token_in": "USDC", "token_out": "WETH", "amount": "1000", "chain": "base"}), None)
    }
}

/// Terms that reached an agent: those of the delegation, and those of each call it made afterwards.
struct DelegatedContext<'a> {
    /// The intent has several spends, chains or payees.
    of_compound: bool,
    named: IntentTerms,
    typed: IntentTerms,
    /// Terms that the delegation gives in words.
    told: IntentTerms,
    calls: Vec<ReceivedCall<'a>>,
}

/// Call of the receiving agent.
struct ReceivedCall<'a> {
    terms: IntentTerms,
    given: TypedArgs<'a>,
    writes: bool,
}

impl<'a> DelegatedContext<'a> {
    fn of(evidence: &Evidence<'a>, delegation: &ObservedDelegation<'a>) -> Self {
        let params = delegation_params(evidence.workspace, delegation.to, delegation.params);
        let typed = terms_of_args(evidence, &TypedArgs::new(evidence.workspace, &params, delegation.params));
        let calls = delegation.during.iter().filter(|event| event.by == delegation.to).filter_map(|event| call_args(evidence, event));
        let intent = &evidence.case.intent;
        Self {
            of_compound: intent.spend.len() > 1 || intent.chains.len() > 1 || intent.payees.len() > 1,
            named: terms_of_params(evidence, delegation.params),
            typed,
            told: told_terms(evidence, delegation.params),
            calls: calls.map(|(given, writes)| ReceivedCall { terms: terms_of_args(evidence, &given), given, writes }).collect(),
        }
    }

    /// Returns whether this is a step of a compound order for which nothing is bought: neither the delegation nor a call names an asset.
    fn buys_nothing(&self) -> bool {
        let named = |terms: &IntentTerms| !terms.receive.is_empty();
        self.of_compound
            && !named(&self.named)
            && !named(&self.typed)
            && !named(&self.told)
            && !self.calls.iter().any(|call| named(&call.terms))
    }

    /// Returns whether this is a step of a compound order in which slippage has no place: the agent wrote, and none of its calls has a
    /// parameter for it.
    fn has_no_slippage(&self) -> bool {
        let takes = |call: &ReceivedCall<'_>| call.given.kinds().any(|(name, _)| name.contains("slippage"));
        self.of_compound && self.calls.iter().any(|call| call.writes) && !self.calls.iter().any(takes)
    }

    /// Returns whether the delegation, or the first call that states the term, has the expected values.
    fn contains<T: PartialEq>(&self, wanted: &[T], part: fn(&IntentTerms) -> &Vec<T>) -> bool {
        let all_there = |found: &Vec<T>| wanted.iter().all(|one| found.contains(one));
        let nothing_else = |found: &Vec<T>| found.iter().all(|one| wanted.contains(one));
        // One step of a compound order needs only its part of the intent.
        let is_part = |found: &Vec<T>| self.of_compound && !found.is_empty();
        let same = |found: &Vec<T>| (all_there(found) || is_part(found)) && nothing_else(found);
        let first = self.calls.iter().map(|call| part(&call.terms)).find(|found| !found.is_empty());
        // A call cannot mend a hand-over that states another value: the agent knew nothing else.
        let other = |found: &Vec<T>| !found.is_empty() && !wanted.iter().any(|one| found.contains(one));
        let is_changed = [&self.named, &self.typed, &self.told].into_iter().any(|terms| other(part(terms)));
        // A call may use one of several chains or payees, but no other.
        same(part(&self.named)) || same(part(&self.typed)) || same(part(&self.told)) || (!is_changed && first.is_some_and(nothing_else))
    }
}

/// Returns the arguments of a call, and whether it is a write.
fn call_args<'a>(evidence: &Evidence<'a>, event: &'a Event) -> Option<(TypedArgs<'a>, bool)> {
    let EventKind::Called { tool, args, .. } = &event.happened else { return None };
    let tool = evidence.workspace.tool(tool)?;
    Some((TypedArgs::for_call(evidence.workspace, tool, args), tool.writes()))
}

/// Returns the keys that the agent needs, and whether each arrived.
fn required_keys(
    evidence: &Evidence<'_>,
    delegation: &ObservedDelegation<'_>,
    wanted: &IntentTerms,
    arrived: &DelegatedContext<'_>,
) -> Vec<(String, bool)> {
    let Some(agent) = evidence.workspace.agent(delegation.to) else { return vec![] };
    let needs = |key: &str| agent.needs.iter().any(|need| need == key);
    let intent = [
        ("spend", !wanted.spend.is_empty(), arrived.contains(&wanted.spend, |terms| &terms.spend)),
        ("receive", !wanted.receive.is_empty(), arrived.buys_nothing() || arrived.contains(&wanted.receive, |terms| &terms.receive)),
        ("chains", !wanted.chains.is_empty(), arrived.contains(&wanted.chains, |terms| &terms.chains)),
        ("payees", !wanted.payees.is_empty(), arrived.contains(&wanted.payees, |terms| &terms.payees)),
        (
            "slippage_bps",
            !wanted.slippage.is_empty() && !arrived.has_no_slippage(),
            arrived.contains(&wanted.slippage, |terms| &terms.slippage),
        ),
        ("deadline", !wanted.deadline.is_empty(), arrived.contains(&wanted.deadline, |terms| &terms.deadline)),
    ];
    let of_intent = intent.into_iter().filter(|(key, stated, _)| *stated && needs(key)).map(|(key, _, good)| (key.to_owned(), good));
    // Slots already covered by an intent key are not counted twice.
    let stated: Vec<&str> = intent.iter().filter(|(key, stated, _)| *stated && needs(key)).map(|(key, _, _)| *key).collect();
    let carried = carried_at(evidence, delegation.event)
        .into_iter()
        .filter(|carry| !stated.contains(&carry.slot.as_str()))
        .filter(|carry| needs(&carry.slot) || carry.until.as_deref() == Some(delegation.to))
        .map(|carry| (carry.slot.clone(), carry_arrived(evidence, delegation, arrived, carry)));
    of_intent.chain(carried).collect()
}

/// Returns the figures and addresses that the delegating side knew and that the receiving agent's calls use, and whether the delegation
/// states each: those that the user said, that the case expects in a call, or that another agent returned. Those of the intent are counted
/// by their key, and those that a tool told the agent itself need not be handed over.
fn used_figures(evidence: &Evidence<'_>, delegation: &ObservedDelegation<'_>) -> Vec<(String, bool)> {
    let events = &evidence.transcript.events;
    let said = |event: &Event| {
        let told = if let EventKind::UserSaid { text } | EventKind::Returned { text } = &event.happened { text.as_str() } else { "" };
        if event.by == delegation.to { BTreeSet::new() } else { figures_in_text(told) }
    };
    let mut said: BTreeSet<String> = events.iter().take_while(|event| event.n < delegation.event).flat_map(said).collect();
    said.extend(expected_figures(evidence));
    let intent = &evidence.case.intent;
    let by_key = intent.spend.iter().map(|spend| spend.at_most.to_string()).chain(intent.payees.iter().map(|payee| payee.value.clone()));
    let mut known: BTreeSet<String> = by_key.flat_map(|text| figures_in_text(&text)).collect();
    let params = delegation_params(evidence.workspace, delegation.to, delegation.params);
    let typed = TypedArgs::new(evidence.workspace, &params, delegation.params);
    let handed: BTreeSet<String> =
        delegation.params.iter().flat_map(|(name, value)| spelled_figures(&typed, name, value)).flatten().collect();
    let shares = stated_shares(delegation.params);
    let mut used = BTreeMap::new();
    for event in delegation.during.iter().filter(|event| event.by == delegation.to) {
        if let EventKind::Called { tool, args, .. } = &event.happened {
            for (name, value) in args.as_object().into_iter().flatten().filter(|(name, _)| is_stated(evidence.workspace, tool, name)) {
                let given = typed_args(evidence.workspace, tool, args);
                for spellings in spelled_figures(&given, name, value).into_iter().filter(|one| one.is_disjoint(&known)) {
                    let Some(figure) = spellings.intersection(&said).next() else { continue };
                    let is_share = || given.meaning(name).is_some_and(|found| shares.contains(&found));
                    let arrived = !spellings.is_disjoint(&handed) || is_share();
                    used.entry(figure.clone()).or_insert_with(|| (format!("{name} {figure}"), arrived));
                }
            }
        } else if let EventKind::Answered { answer: ToolAnswer::Result(result), .. } = &event.happened {
            known.extend(figures_in_value(result));
        }
    }
    used.into_values().collect()
}

/// Returns the figures of the arguments that the case expects.
fn expected_figures(evidence: &Evidence<'_>) -> BTreeSet<String> {
    let mut figures = BTreeSet::new();
    for call in evidence.case.expect.calls.iter().flat_map(ExpectedCalls::expected_calls) {
        let example = |wanted: &ArgMatcher| wanted.examples().first().map(|value| (*value).clone());
        let args = call.args.iter().filter_map(|(name, wanted)| Some((name.to_owned(), example(wanted)?)));
        let args = Value::Object(args.collect());
        let given = typed_args(evidence.workspace, &call.tool, &args);
        for (name, wanted) in &call.args {
            figures.extend(wanted.examples().into_iter().flat_map(|value| spelled_figures(&given, name, value)).flatten());
        }
    }
    figures
}

/// Returns the figures of an argument, each in all its spellings: an amount as written and in whole tokens.
fn spelled_figures(given: &TypedArgs<'_>, name: &str, value: &Value) -> Vec<BTreeSet<String>> {
    let written = figures_in_value(value);
    match given.meaning_as(name, value) {
        ValueMeaning::Amount(whole) => vec![written.into_iter().chain(figures_in_text(&whole.to_string())).collect()],
        ValueMeaning::Address(_)
        | ValueMeaning::Token(_)
        | ValueMeaning::Chain(_)
        | ValueMeaning::Units(_)
        | ValueMeaning::Max
        | ValueMeaning::Share(_)
        | ValueMeaning::Number(_)
        | ValueMeaning::Time(_)
        | ValueMeaning::Word(_)
        | ValueMeaning::List(_)
        | ValueMeaning::Json(_) => written.into_iter().map(|figure| BTreeSet::from([figure])).collect(),
    }
}

fn typed_args<'a>(workspace: &'a Workspace, tool: &str, args: &'a Value) -> TypedArgs<'a> {
    workspace.tool(tool).map_or_else(|| TypedArgs::untyped(workspace, args), |tool| TypedArgs::for_call(workspace, tool, args))
}

/// Reports whether users state values of this parameter, unlike ids of our own and names of chains, which are short numbers too.
fn is_stated(workspace: &Workspace, tool: &str, name: &str) -> bool {
    let kind = workspace.tool(tool).and_then(|tool| tool.params.get(name)).and_then(|param| param.kind.as_ref());
    kind.is_some_and(|kind| {
        matches!(
            kind,
            ParamKind::Amount { .. }
                | ParamKind::Price(_)
                | ParamKind::Bps
                | ParamKind::Percent
                | ParamKind::Ratio
                | ParamKind::Address(_)
                | ParamKind::Duration(_)
        )
    })
}

/// Returns the latest carried value of each slot before an event.
fn carried_at<'a>(evidence: &Evidence<'a>, event: u32) -> Vec<&'a CarriedValue> {
    // Handwritten transcripts may omit the first user message.
    let opening = |carry: &CarriedValue| (carry.from == ValueOrigin::Turn(1)).then_some(1);
    let carried = evidence.case.expect.carry.iter().filter_map(|carry| Some((carry_stated_at(evidence, carry).or(opening(carry))?, carry)));
    let said: Vec<(u32, &CarriedValue)> = carried.filter(|(at, _)| *at <= event).collect();
    let is_latest = |at: u32, carry: &CarriedValue| !said.iter().any(|(later, other)| other.slot == carry.slot && *later > at);
    said.iter().copied().filter(|(at, carry)| is_latest(*at, carry)).map(|(_, carry)| carry).collect()
}

fn carry_arrived(
    evidence: &Evidence<'_>,
    delegation: &ObservedDelegation<'_>,
    arrived: &DelegatedContext<'_>,
    carry: &CarriedValue,
) -> bool {
    let params = delegation_params(evidence.workspace, delegation.to, delegation.params);
    let handed = TypedArgs::new(evidence.workspace, &params, delegation.params).matches(&carry.slot, &carry.value);
    let first = arrived.calls.iter().map(|call| &call.given).find(|given| given.value(&carry.slot).is_some());
    handed || is_told(evidence, delegation, arrived, carry) || first.is_some_and(|given| given.keeps(&carry.slot, &carry.value))
}

/// Returns whether the delegation gives a carried value in words: an amount and a chain as terms of the order, any other value as it is.
fn is_told(evidence: &Evidence<'_>, delegation: &ObservedDelegation<'_>, arrived: &DelegatedContext<'_>, carry: &CarriedValue) -> bool {
    let read =
        |kind: ParamKind| meaning(&ValueContext { workspace: evidence.workspace, chain: None, asset: None }, Some(&kind), &carry.value);
    if carry.slot.contains("amount") {
        let amount = read(ParamKind::Amount { unit: AmountUnit::Human, of: None });
        let spent = &arrived.told.spend;
        return !spent.is_empty() && spent.iter().all(|(_, told)| *told == amount);
    }
    if carry.slot.contains("slippage") {
        return arrived.named.slippage == [read(ParamKind::Bps)];
    }
    if carry.slot.starts_with("chain") {
        return arrived.told.chains == [read(ParamKind::Chain(None))];
    }
    let value = carry.value.as_str().map_or_else(|| carry.value.to_string(), str::to_owned);
    let has_words = |text: &&Value| text.as_str().is_some_and(|text| text.split_whitespace().count() >= 3);
    let mut texts = delegation.params.values().filter(has_words).filter_map(Value::as_str);
    texts.any(|text| contains_phrase(text, &value, FoldMode::Spacing))
}

fn delegation_fixture(params: Value, then: Option<Value>) -> EvidenceFixture {
    let params = params.as_object().cloned().unwrap_or_default();
    let mut events = vec![("desk", EventKind::Delegated { to: "trader".into(), params })];
    events.extend(then.map(|args| ("trader", EventKind::Called { call: 1, tool: "swap_get_quote".into(), args })));
    EvidenceFixture::of("desk_hands_a_swap_over", events)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The user names a figure that no need lists, and the trader uses it.
    #[test]
    fn figure_that_a_call_uses_must_be_handed_over() {
        let user = || ("user", EventKind::UserSaid { text: "Sell 100 USDC for ether on Base, 37 bps at most.".into() });
        let deal = json!({"token_in": "USDC", "token_out": "WETH", "amount": "100", "chain": "base"});
        let run = |handed: Value| {
            let mut params = deal.as_object().cloned().unwrap_or_default();
            params.extend(handed.as_object().cloned().unwrap_or_default());
            let mut args = deal.clone();
            args["slippage_bps"] = json!(37);
            let call = EventKind::Called { call: 1, tool: "swap_execute".into(), args };
            let events = vec![user(), ("desk", EventKind::Delegated { to: "trader".into(), params }), ("trader", call)];
            ContextPreservation.score(&EvidenceFixture::of("desk_hands_a_swap_over", events).evidence())
        };
        assert!(run(json!({"slippage_bps": 37})).reading.is_clean());
        assert!(run(json!({"task": "at most 37 bps"})).reading.is_clean(), "in words");
        assert!(run(json!({"task": "slippage at most 0.37%"})).reading.is_clean(), "in percent");
        assert!(run(json!({"max_slippage_percent": 0.37})).reading.is_clean(), "in percent, by key");
        assert!(!run(json!({"task": "slippage at most 3.7%"})).reading.is_clean(), "another share");
        let lost = run(json!({}));
        assert!(lost.because.iter().any(|why| why.what.contains("slippage_bps 37 did not reach trader")), "{lost:?}");
    }

    /// The trader asks for a price in base units; users and delegations state whole tokens.
    #[test]
    fn amounts_are_handed_over_by_meaning() {
        let path = "suites/composition/desk_to_trader.yaml";
        let quote = "{ tool: swap_get_quote, args: { token_in: USDC, token_out: WETH, amount: \"250000000\", chain: base } }";
        let (human, base) = (
            "amount: { kind: amount(human of token_in), type: string, description: Amount to sell in whole tokens. }\n      chain: { kind: chain, type: string, default: base, description: Chain name or id. }\n  - name: tx_simulate",
            "amount: { kind: amount(base of token_in), type: string, description: Amount to sell in base units. }\n      chain: { kind: chain, type: string, default: base, description: Chain name or id. }\n  - name: tx_simulate",
        );
        let example = crate::example::ExampleWorkspace::minimal()
            .edit("tools/wallet.yaml", human, base)
            .edit(path, "    intent:\n      spend: [{ token: USDC, at_most: \"100\" }]\n", "    intent:\n")
            .edit(path, "{ tool: swap_execute, args: { token_in: USDC, token_out: WETH, amount: \"100\", chain: base } }", quote)
            .edit(path, "      carry:\n        - { slot: amount, value: \"100\", from_turn: 1, until: trader }\n", "");
        let missed = |handed: Value, amount: &str| {
            let mut params = json!({"token_in": "USDC", "token_out": "WETH", "chain": "base"});
            params.as_object_mut().into_iter().for_each(|all| all.extend(handed.as_object().cloned().unwrap_or_default()));
            let args = json!({"token_in": "USDC", "token_out": "WETH", "amount": amount, "chain": "base"});
            let events = vec![
                ("user", EventKind::UserSaid { text: "Price 250 USDC in WETH on Base, please.".into() }),
                ("desk", EventKind::Delegated { to: "trader".into(), params: params.as_object().cloned().unwrap_or_default() }),
                ("trader", EventKind::Called { call: 1, tool: "swap_get_quote".into(), args }),
            ];
            let finding = ContextPreservation.score(&EvidenceFixture::within(&example, "desk_hands_a_swap_over", events).evidence());
            finding.because.into_iter().map(|why| why.what).filter(|what| what.starts_with("amount")).collect::<Vec<_>>()
        };
        assert!(missed(json!({"sold": "250"}), "250000000").is_empty(), "whole tokens");
        assert!(missed(json!({"amount": "250000000"}), "250000000").is_empty(), "base units");
        assert!(missed(json!({"task": "quote 250.00 USDC"}), "250000000").is_empty(), "in words");
        assert_eq!(missed(json!({"sold": "2500"}), "250000000"), ["amount 250 did not reach trader unchanged"]);
        assert_eq!(missed(json!({}), "250000000").len(), 1, "nothing was handed over");
    }

    fn read(params: Value, then: Option<Value>) -> (u64, u64) {
        let finding = ContextPreservation.score(&delegation_fixture(params, then).evidence());
        let Reading::Tally { hit, of } = finding.reading else { panic!("a tally") };
        assert_eq!(finding.because.len() as u64, of - hit);
        (hit, of)
    }

    #[test]
    fn delegation_params_accept_intent_key_names() {
        let spend = |amount: &str| json!([{"token": "usdc", "at_most": amount}]);
        let used = || Some(json!({"token_in": "USDC", "token_out": "WETH", "amount": "100", "chain": "base"}));
        assert_eq!(read(json!({"spend": spend("100"), "receive": ["WETH"], "chains": [8453]}), used()), (4, 4));
        assert_eq!(
            read(json!({"spend": spend("100"), "receive": ["WETH"], "chains": ["base"]}), None),
            (3, 4),
            "the carried slot amount is missing"
        );
    }

    #[test]
    fn first_call_may_supply_what_delegation_omits() {
        let used = |amount: &str, chain: &str| Some(json!({"token_in": "USDC", "token_out": "WETH", "amount": amount, "chain": chain}));
        assert_eq!(read(json!({"task": "sell"}), used("100", "base")), (4, 4));
        assert_eq!(read(json!({"task": "sell"}), used("101", "base")), (2, 4), "spend and amount are wrong");
        assert_eq!(read(json!({"task": "sell"}), used("100", "ethereum")), (3, 4));
        assert_eq!(read(json!({"task": "sell"}), None), (0, 4), "absent misses");
        assert_eq!(
            read(json!({"task": "Sell 1000 USDC for WETH on Base."}), used("100", "base")),
            (3, 4),
            "another amount was handed over"
        );
        assert_eq!(read(json!({"task": "Buy 100 USDC with WETH on Base."}), used("100", "base")), (3, 4), "the other direction");
    }

    /// Runs a delegation to the trader in an order over two chains that allows 50 bps.
    fn read_step(params: Value, tool: &str, args: Value) -> Vec<String> {
        let path = "suites/composition/desk_to_trader.yaml";
        let example = crate::example::ExampleWorkspace::minimal()
            .edit(path, "      chains: [8453]\n", "      chains: [8453, 1]\n      slippage_bps: 50\n")
            .edit("agents/trader.md", "needs: [", "needs: [slippage_bps, ");
        let params = params.as_object().cloned().unwrap_or_default();
        let call = EventKind::Called { call: 1, tool: tool.into(), args };
        let events = vec![("desk", EventKind::Delegated { to: "trader".into(), params }), ("trader", call)];
        let finding = ContextPreservation.score(&EvidenceFixture::within(&example, "desk_hands_a_swap_over", events).evidence());
        finding.because.into_iter().filter_map(|why| why.what.split_whitespace().next().map(str::to_owned)).collect()
    }

    #[test]
    fn step_of_compound_order_needs_only_its_part() {
        let step = json!({"token": "USDC", "amount": "100", "chain": "base"});
        let to = json!({"token": "USDC", "recipient": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "amount": "100", "chain": "base"});
        let mut elsewhere = to.clone();
        elsewhere["chain"] = json!(10);
        let missed = read_step(step.clone(), "token_transfer", to);
        assert!(!missed.iter().any(|key| ["chains", "receive", "slippage_bps"].contains(&key.as_str())), "{missed:?}");
        assert!(read_step(json!({"chain": 10}), "token_transfer", elsewhere).contains(&"chains".to_owned()), "a chain of no part");
        let read_only = read_step(step.clone(), "wallet_get_balance", json!({"token": "USDC", "chain": "base"}));
        assert!(read_only.contains(&"slippage_bps".to_owned()), "nothing was written: {read_only:?}");
        let swap = json!({"token_in": "USDC", "token_out": "WETH", "amount": "100", "chain": "base", "slippage_bps": 80});
        let other = read_step(json!({"token_in": "USDC", "amount": "100", "chain": "base"}), "swap_execute", swap);
        assert!(other.contains(&"slippage_bps".to_owned()), "the swap takes one: {other:?}");
        let dai = json!({"token_in": "USDC", "token_out": "DAI", "amount": "100", "chain": "base", "slippage_bps": 50});
        assert!(read_step(step, "swap_execute", dai).contains(&"receive".to_owned()), "another asset is bought");
    }

    #[test]
    fn order_in_words_is_a_hand_over() {
        assert_eq!(read(json!({"task": "Sell 100 USDC for WETH on Base."}), None), (4, 4));
        assert_eq!(read(json!({"request": {"text": "Please buy WETH with 100 USDC on base"}}), None), (4, 4));
        for other in [
            "Buy 100 USDC with WETH on Base.",
            "Do not sell 100 USDC for WETH on Base, only watch the price.",
            "The user said 100, USDC, WETH and Base. Bridge 1000 DAI to Ethereum.",
        ] {
            let (hit, of) = read(json!({"task": other}), None);
            assert!(hit < of, "{other}");
        }
    }

    #[test]
    fn delegation_with_extra_value_misses() {
        let two = json!({"token_in": "USDC", "token_out": "WETH", "amount": "100", "chains": [8453, 1]});
        assert_eq!(read(two, None), (3, 4));
    }

    #[test]
    fn agent_without_needs_is_not_exercised() {
        let delegated = |to: &str| ("trader", EventKind::Delegated { to: to.into(), params: serde_json::Map::new() });
        let read = |to| ContextPreservation.score(&EvidenceFixture::of("desk_hands_a_swap_over", vec![delegated(to)]).evidence()).reading;
        assert_eq!(read("safety-guardian"), Reading::not_exercised());
        assert_eq!(read("unknown-agent"), Reading::not_exercised());
    }
}
