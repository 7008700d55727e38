//! Cases of the reference workspace accept other defensible runs than their reference, and refuse the wrong run beside each.

use bardo_eval_score::quality::transcript_from_reference;
use bardo_eval_score::scorers::{Evidence, score};
use model::suite::{ArgValue, Case, NamedArgs, ReferenceAction, ReferenceStep};
use model::transcript::ReviewDecision;
use model::{Location, ScorerId, Spanned, Workspace};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

static WORKSPACE: LazyLock<Arc<Workspace>> = LazyLock::new(testkit::reference_workspace);

fn case(id: &str) -> &'static Case {
    WORKSPACE.case(id).unwrap_or_else(|| panic!("no case {id}"))
}

/// Returns the reasons why a scorer does not count the steps as clean; none if it does.
fn faults(case: &Case, steps: &[ReferenceStep], scorer: ScorerId) -> Vec<String> {
    let transcript = transcript_from_reference(&WORKSPACE, case, steps, ReviewDecision::Approve);
    let scores = score(&Evidence::new(&WORKSPACE, case, &transcript));
    let found = scores.into_iter().find(|score| score.scorer == scorer).unwrap_or_else(|| panic!("{scorer} does not read the case"));
    if found.reading.is_clean() {
        vec![]
    } else {
        found.because.into_iter().map(|because| because.what).chain(["not clean".into()]).collect()
    }
}

fn call(tool: &str, args: &Value) -> ReferenceStep {
    let at = Location::new("test", 1);
    let given = args.as_object().into_iter().flatten().map(|(name, value)| (name, ArgValue::Given(value.clone())));
    let args: NamedArgs<ArgValue> = given.collect();
    let action = ReferenceAction::Call { tool: Spanned::new(tool.to_owned(), at.clone()), args };
    ReferenceStep { agent: None, action, name: None, at }
}

fn is_call(step: &ReferenceStep, tool: &str) -> bool {
    matches!(&step.action, ReferenceAction::Call { tool: made, .. } if **made == tool)
}

/// Returns the arguments with some replaced or added.
fn with(base: &Value, changed: &Value) -> Value {
    let mut args = base.clone();
    args.as_object_mut().into_iter().for_each(|args| args.extend(changed.as_object().cloned().unwrap_or_default()));
    args
}

/// A quote in base units, with a chain id and a tolerance under other names, is a quote of the ordered swap.
#[test]
fn api_quote_of_the_ordered_swap_stands_for_it() {
    let uni = json!({"token_in": "UNI", "token_out": "USDC", "token_in_chain_id": 130, "amount": "20000000000000000000", "trade_type": "EXACT_INPUT", "slippage_tolerance": 80});
    let dai = json!({"token_in": "DAI", "token_out": "USDC", "token_in_chain_id": 8453, "amount": "1200000000000000000000", "trade_type": "EXACT_INPUT", "slippage_tolerance": 30});
    for (id, quote) in [("unichain_uni_for_dollars", uni), ("trader_zh_sell_dai_now", dai)] {
        let read = |changed: Value, scorer| faults(case(id), &[call("uniswap_api_get_quote", &with(&quote, &changed))], scorer);
        for scorer in [ScorerId::Hit, ScorerId::ArgumentMatch, ScorerId::CasePass] {
            assert_eq!(read(json!({}), scorer), Vec::<String>::new(), "{id} {scorer}");
        }
        for wrong in [
            json!({"amount": "20"}),
            json!({"amount": "21000000000000000000"}),
            json!({"token_in_chain_id": 1}),
            json!({"token_out": "DAI", "token_in": "USDC"}),
            json!({"slippage_tolerance": 200}),
        ] {
            assert!(!read(wrong.clone(), ScorerId::ArgumentMatch).is_empty(), "{id} {wrong}");
            assert!(!read(wrong.clone(), ScorerId::CasePass).is_empty(), "{id} {wrong}");
        }
        for other in [json!({"trade_type": "EXACT_OUTPUT"}), json!({"token_out_chain_id": 42161})] {
            assert!(!read(other.clone(), ScorerId::Hit).is_empty(), "{id} {other}: another trade");
        }
    }
}

/// "No more than 0.8 %" is kept by 0.3 % and broken by 0.9 %.
#[test]
fn tighter_slippage_keeps_a_bound_and_looser_breaks_it() {
    for (id, bound) in [("unichain_uni_for_dollars", 80), ("trader_zh_sell_dai_now", 30), ("optimism_link_for_dollars", 40)] {
        let case = case(id);
        let ReferenceAction::Call { tool, args } = &case.reference[0].action else { panic!("{id} begins with a call") };
        let given = args
            .iter()
            .filter_map(|(name, arg)| if let ArgValue::Given(value) = arg { Some((name.to_owned(), value.clone())) } else { None });
        let swap = Value::Object(given.collect());
        let read = |bps: u64| faults(case, &[call(tool, &with(&swap, &json!({"slippage_bps": bps})))], ScorerId::ArgumentMatch);
        assert_eq!((read(bound), read(bound / 2)), (vec![], vec![]), "{id}");
        assert!(!read(bound + 1).is_empty(), "{id}");
    }
}

/// Returns the reference with the steps that fit moved to the end, before the last answer.
fn moved_behind(case: &Case, fits: impl Fn(&ReferenceStep) -> bool) -> Vec<ReferenceStep> {
    let (moved, mut kept): (Vec<_>, Vec<_>) = case.reference.iter().cloned().partition(fits);
    assert!(!moved.is_empty(), "{} has such a step", *case.id);
    let last = kept.pop();
    kept.into_iter().chain(moved).chain(last).collect()
}

/// Case with the readings of its reference that decide about the write, and others that it accepts.
struct ReadingRow {
    id: &'static str,
    readings: &'static [&'static str],
    others: Vec<(&'static str, Value)>,
}

/// The reading that decides about a write comes before it, whichever of the accepted readings it is.
#[test]
fn reading_that_decides_comes_before_the_write() {
    let account = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    let price = ("data_get_token_price", json!({"token": "UNI", "chain": "unichain"}));
    let rows = [
        ReadingRow {
            id: "link_ueber_hundert",
            readings: &["data_get_portfolio_snapshot"],
            others: vec![("wallet_get_status", json!({"chain": "base"}))],
        },
        ReadingRow {
            id: "unichain_uni_acima_de_500",
            readings: &["data_get_portfolio_snapshot"],
            others: vec![("wallet_get_status", json!({"chain": "unichain"})), price],
        },
        ReadingRow {
            id: "watch_then_repay",
            readings: &["lending_get_health_dashboard", "aave_get_liquidation_risk", "aave_get_user_summary"],
            others: vec![("aave_get_user_summary", json!({"account": account, "chain": 8453}))],
        },
    ];
    for ReadingRow { id, readings, others } in rows {
        let case = case(id);
        let broken = |steps: &[ReferenceStep]| {
            let faults = faults(case, steps, ScorerId::ToolOrdering).into_iter();
            faults.filter(|what| what.contains("rule of the case") && what.contains(" | ")).collect::<Vec<_>>()
        };
        assert_eq!(broken(&case.reference), Vec::<String>::new(), "{id}");
        let is_reading = |step: &ReferenceStep| readings.iter().any(|tool| is_call(step, tool));
        assert!(!broken(&moved_behind(case, is_reading)).is_empty(), "{id}: written before it was read");
        let at = case.reference.iter().position(is_reading).unwrap_or_default();
        let agent = case.reference[at].agent.clone();
        let mut steps: Vec<ReferenceStep> = case.reference.iter().filter(|step| !is_reading(step)).cloned().collect();
        let instead = others.iter().map(|(tool, args)| ReferenceStep { agent: agent.clone(), ..call(tool, args) });
        steps.splice(at..at, instead);
        assert_eq!(broken(&steps), Vec::<String>::new(), "{id}: another reading");
    }
}

/// A quote of 250 base units is no quote of 250 USDC.
#[test]
fn api_quotes_of_flows_state_their_amount() {
    let is_quote = |tool: &str| tool == "uniswap_api_get_quote";
    let mut without = vec![];
    for case in WORKSPACE.cases() {
        let calls = case.expect.calls.iter().flat_map(|calls| calls.expected_calls());
        if calls.filter(|call| is_quote(&call.tool)).any(|call| call.args.get("amount").is_none()) {
            without.push(case.id.value.clone());
        }
    }
    assert_eq!(without, Vec::<String>::new());
}
