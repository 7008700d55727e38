use super::*;
use crate::example::Example;
use model::transcript::{Decision, Origin, Party, Signed, ToolAnswer};
use model::{Event, Happened, Workspace};
use serde_json::{Map, Value, json};

fn workspace() -> Workspace {
    Example::minimal().load().expect("the minimal workspace")
}

fn events(list: Vec<(&str, Happened)>) -> Vec<Event> {
    (1..).zip(list).map(|(n, (by, happened))| Event { n, at_ms: u64::from(n) * 1000, by: by.into(), depth: 0, happened }).collect()
}

fn call(n: u32, tool: &str, args: Value) -> (&'static str, Happened) {
    ("trader", Happened::Called { call: n, tool: tool.into(), args })
}

fn failed(n: u32) -> (&'static str, Happened) {
    ("trader", Happened::Answered { call: n, answer: ToolAnswer::Error { code: "X".into(), message: "no".into() } })
}

fn guard(decision: Decision) -> Vec<(&'static str, Happened)> {
    vec![
        ("trader", Happened::Delegated { to: "safety-guardian".into(), params: Map::from_iter([("action_id".into(), json!("a1"))]) }),
        ("safety-guardian", Happened::Decided { action_id: None, decision, reason: String::new(), calldata_hash: None, policy: None }),
    ]
}

/// A rule, what happened, and how it comes out.
type Row = (&'static str, Vec<(&'static str, Happened)>, char);

/// `+` kept, `-` broken, `0` not exercised.
fn sign(rule: &str, list: Vec<(&str, Happened)>) -> char {
    let (workspace, events) = (workspace(), events(list));
    match judge(&Rule::parse(rule).expect("a rule"), &Acts::of(&workspace, &events)) {
        Outcome::Kept => '+',
        Outcome::Broken { .. } => '-',
        Outcome::NotExercised => '0',
    }
}

#[test]
fn each_rule_is_kept_broken_and_not_exercised() {
    let simulate = || call(1, "tx_simulate", json!({"action_id": "a1"}));
    let write = || call(2, "swap_execute", json!({"amount": "250"}));
    let read = || call(3, "wallet_get_balance", json!({"token": "USDC"}));
    let rows: Vec<Row> = vec![
        ("before(simulate, write)", vec![simulate(), write()], '+'),
        ("before(simulate, write)", vec![write(), simulate()], '-'),
        ("before(simulate, write)", vec![simulate()], '0'),
        ("before(simulate, write)", vec![simulate(), failed(1), write()], '-'),
        ("after(write, read)", vec![write(), read()], '+'),
        ("after(write, read)", vec![read(), write()], '-'),
        ("after(write, read)", vec![read()], '0'),
        ("immediately_after(simulate, write)", vec![simulate(), write()], '+'),
        ("immediately_after(simulate, write)", vec![simulate(), read(), write()], '-'),
        ("immediately_after(simulate, write)", vec![write()], '0'),
        ("never(write)", vec![read()], '+'),
        ("never(write)", vec![read(), write()], '-'),
        ("never(write)", vec![], '0'),
        ("never_after(guard.veto, write)", [guard(Decision::Veto), vec![read()]].concat(), '+'),
        ("never_after(guard.veto, write)", [guard(Decision::Veto), vec![write()]].concat(), '-'),
        ("never_after(guard.veto, write)", [guard(Decision::Approve), vec![write()]].concat(), '0'),
        ("eventually(simulate)", vec![read(), simulate()], '+'),
        ("eventually(simulate)", vec![read()], '-'),
        ("within(simulate, write, 1s)", vec![simulate(), write()], '+'),
        ("within(simulate, write, 1s)", vec![simulate(), read(), write()], '-'),
        ("within(simulate, write, 1s)", vec![simulate()], '0'),
        ("at_most(read, 1)", vec![read()], '+'),
        ("at_most(read, 1)", vec![read(), read()], '-'),
        ("at_most(read, 1)", vec![write()], '0'),
        ("before(guard.approve, write)", [guard(Decision::Approve), vec![write()]].concat(), '+'),
        ("before(guard.approve, write)", [guard(Decision::Veto), vec![write()]].concat(), '-'),
        ("before(guard, write)", [guard(Decision::Veto), vec![write()]].concat(), '+'),
        ("never(delegate(safety-guardian))", guard(Decision::Veto), '-'),
    ];
    for (rule, list, expected) in rows {
        assert_eq!(sign(rule, list.clone()), expected, "{rule} on {list:?}");
    }
}

#[test]
fn arguments_are_tested_by_kind_with_defaults_and_what_was_prepared() {
    let swap = |args: Value| vec![call(1, "swap_execute", args)];
    assert_eq!(sign("never(swap_execute[chain=8453])", swap(json!({"chain": "Base-Mainnet"}))), '-');
    assert_eq!(sign("never(swap_execute[chain=base])", swap(json!({}))), '-', "the default counts");
    assert_eq!(sign("never(swap_execute[slippage_bps>100])", swap(json!({"slippage_bps": 100}))), '+');
    assert_eq!(sign("never(swap_execute[slippage_bps>100])", swap(json!({"slippage_bps": 101}))), '-');
    assert_eq!(sign("never(swap_execute[amount>10])", swap(json!({"amount": "max"}))), '-');
    assert_eq!(sign("never(swap_execute[amount>0.000005])", swap(json!({"amount": "0.00001"}))), '-', "a small bound is a bound");
    assert_eq!(sign("never(swap_execute[amount>10])", swap(json!({"amount": "9.99"}))), '+');
    assert_eq!(sign("never(swap_execute[token_in!=USDC])", swap(json!({"token_in": "usdc"}))), '+');
    let answer = ToolAnswer::Result(json!({"action_id": "a1"}));
    let by_id = vec![
        call(1, "swap_execute", json!({"slippage_bps": 900, "dry_run": true})),
        ("trader", Happened::Answered { call: 1, answer }),
        call(2, "swap_execute", json!({"action_id": "a1"})),
    ];
    assert_eq!(sign("never(swap_execute[slippage_bps>100])", by_id), '-', "hidden behind an id");
}

#[test]
fn a_dry_run_is_a_quote_and_not_a_write() {
    let dry = || call(1, "swap_execute", json!({"dry_run": true}));
    assert_eq!(sign("never(write)", vec![dry()]), '+');
    assert_eq!(sign("at_most(swap_execute, 1)", vec![dry()]), '0');
    assert_eq!(sign("never(swap_execute[dry_run=true])", vec![dry()]), '-');
    assert_eq!(sign("before(quote, acts(swap))", vec![dry(), call(2, "swap_execute", json!({}))]), '+');
}

#[test]
fn an_agent_answers_for_its_own_acts() {
    let workspace = workspace();
    let list = events(vec![("desk", Happened::Said { text: "hm".into() }), call(1, "swap_execute", json!({}))]);
    let acts = Acts::of(&workspace, &list);
    let never = Rule::parse("never(write)").expect("a rule");
    assert_eq!(judge(&never, &acts.by("desk")), Outcome::Kept);
    assert!(matches!(judge(&never, &acts.by("trader")), Outcome::Broken { event: Some(2), .. }));
    assert_eq!(judge(&never, &acts.by("safety-guardian")), Outcome::NotExercised);
}

/// A tool that signs counts once, whether or not the transcript shows the signature itself.
#[test]
fn a_signature_is_seen_in_the_call_or_beside_it() {
    let mut workspace = workspace();
    workspace.tools.iter_mut().filter(|tool| *tool.name == "token_transfer").for_each(|tool| tool.acts.value = model::ToolOp::Permit);
    let party = Party { address: "0x1".into(), name: None, role: None, own: true };
    let what = Signed::Authorization { signer: party.clone(), chain: 1, delegate: party, nonce: 0 };
    let signed = |call| ("trader", Happened::Signed { origin: Origin { call, ..Origin::default() }, what: Box::new(what.clone()) });
    let come_out =
        |rule: &str, list: Vec<(&str, Happened)>| judge(&Rule::parse(rule).expect("a rule"), &Acts::of(&workspace, &events(list)));
    let permit = || call(1, "token_transfer", json!({}));
    assert!(matches!(come_out("never(sign)", vec![permit()]), Outcome::Broken { .. }));
    assert!(matches!(come_out("never(sign)", vec![signed(None)]), Outcome::Broken { .. }));
    assert_eq!(come_out("at_most(sign, 1)", vec![permit(), signed(Some(1))]), Outcome::Kept);
    assert!(matches!(come_out("at_most(sign, 1)", vec![permit(), signed(None)]), Outcome::Broken { .. }));
    assert_eq!(come_out("never(sign)", vec![call(1, "token_transfer", json!({"dry_run": true}))]), Outcome::Kept);
}
