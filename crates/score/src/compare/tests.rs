//! Equal and different values by kind; equality of meaning is an equivalence relation.

use super::*;
use crate::example::ExampleWorkspace;
use proptest::prelude::*;
use serde_json::json;

fn workspace() -> &'static Workspace {
    static LOADED: LazyLock<Workspace> = LazyLock::new(|| ExampleWorkspace::minimal().load().expect("the minimal workspace"));
    &LOADED
}

const USDC: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

/// Context on Base with the given token.
fn context(symbol: &str) -> ValueContext<'static> {
    let context = ValueContext { workspace: workspace(), chain: workspace().chain("base"), asset: None };
    ValueContext { asset: asset_of_token(&context, &json!(symbol)), ..context }
}

fn meaning_as_kind(kind: &str, value: &Value) -> ValueMeaning {
    meaning(&context("USDC"), Some(&kind.parse().expect("a kind")), value)
}

fn same(kind: &str, a: Value, b: Value) -> bool {
    meaning_as_kind(kind, &a) == meaning_as_kind(kind, &b)
}

#[test]
fn address_meaning_ignores_case_not_checksum() {
    assert!(same("address(recipient)", json!(USDC), json!(USDC.to_lowercase())));
    assert!(same("address(recipient)", json!(USDC), json!(format!("0x{}", USDC[2..].to_uppercase()))));
    assert!(same("address(recipient)", json!("0xAb"), json!("0xaB")));
    let wrong_checksum = USDC.replacen("fCD6", "fcD6", 1);
    assert!(!same("address(recipient)", json!(USDC), json!(wrong_checksum)));
    assert!(!same("token", json!("USDC"), json!(wrong_checksum)));
    assert!(!same("address(recipient)", json!(USDC), json!("0x4200000000000000000000000000000000000006")));
}

#[test]
fn chain_meaning_by_id_name_or_alias() {
    for other in [json!(8453), json!("8453"), json!("Base-Mainnet"), json!("eip155:8453"), json!("0x2105")] {
        assert!(same("chain", json!("base"), other.clone()), "{other}");
    }
    assert!(!same("chain", json!("base"), json!("ethereum")));
    assert!(!same("chain", json!("base"), json!(84532)));
}

#[test]
fn token_meaning_by_symbol_or_address_on_chain() {
    assert!(same("token", json!("USDC"), json!(USDC.to_lowercase())));
    assert!(same("token", json!("ETH"), json!("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")));
    assert!(!same("token", json!("USDC"), json!("WETH")));
    assert!(!same("token", json!("WETH"), json!("ETH")));
    let elsewhere = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
    assert!(!same("token", json!("USDC"), json!(elsewhere)), "USDC of another chain is not USDC here");
}

#[test]
fn amount_meaning_is_exact_and_unit_aware() {
    let human = "amount(human of token_in)";
    let base = "amount(base of token_in)";
    assert!(same(human, json!("250"), json!("250.00")));
    assert!(same(human, json!("1,000.50"), json!("1_000.5")));
    assert!(same(human, json!(0.5), json!("0.5")));
    assert!(same(human, json!("250"), json!("250 usdc")));
    assert!(same(human, json!("max"), json!("MAX")));
    assert!(same("amount(usd)", json!("$1,000"), json!(1000)));
    assert!(!same(human, json!("250"), json!("250 WETH")));
    assert!(!same(human, json!("250"), json!("250.000000000000000001")));
    assert!(!same(human, json!("250"), json!("250000000")), "base units instead of whole tokens");
    assert!(!same(human, json!("1e3"), json!("1000")), "scientific notation is not parsed");
    // Across units: 250 USDC are 250,000,000 base units.
    assert_eq!(meaning_as_kind(human, &json!("250")), meaning_as_kind(base, &json!("250000000")));
    assert_ne!(meaning_as_kind(human, &json!("250")), meaning_as_kind(base, &json!("250000001")));
    assert_ne!(meaning_as_kind(human, &json!("250")), meaning_as_kind(base, &json!("250")));
    let max = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    assert!(same(base, json!(max), json!("max")));
    assert!(!same(base, json!(max), json!(max.replace("9935", "9934"))));
    let unknown = ValueContext { asset: None, ..context("USDC") };
    let of = |kind: &str, text: &str| meaning(&unknown, Some(&kind.parse().expect("a kind")), &json!(text));
    assert_ne!(of(human, "250"), of(base, "250"), "base units of an unknown asset differ from whole tokens");
    assert_eq!(
        meaning(&context("ETH"), Some(&human.parse().expect("a kind")), &json!("500000000 gwei")),
        ValueMeaning::Amount(model::Decimal::parse("0.5").expect("a number"))
    );
}

#[test]
fn share_meaning_scales_by_kind_or_stated_unit() {
    assert_eq!(meaning_as_kind("bps", &json!(50)), meaning_as_kind("percent", &json!(0.5)));
    assert_eq!(meaning_as_kind("percent", &json!(0.5)), meaning_as_kind("ratio", &json!(0.005)));
    for text in ["0.5%", "0.5 %", "50 bps", "50bp"] {
        for kind in ["bps", "percent", "ratio"] {
            assert_eq!(meaning_as_kind(kind, &json!(text)), meaning_as_kind("bps", &json!(50)), "{kind} {text}");
        }
    }
    assert!(!same("bps", json!(50), json!(0.5)));
    assert!(!same("bps", json!(50), json!(5000)));
    assert!(same("fee_tier", json!(3000), json!("0.3%")));
    assert!(same("ratio", json!(2), json!("2x")));
}

#[test]
fn time_meaning_reads_durations_and_instants() {
    assert!(same("deadline", json!(300), json!("5 minutes")));
    assert!(same("deadline", json!(1_772_971_200), json!("2026-03-08T12:00:00Z")));
    assert!(!same("deadline", json!(300), json!(301)));
    assert!(!same("deadline", json!(300), json!(1_772_971_500)));
    assert!(same("duration(text)", json!("7d"), json!("1 week")));
    assert!(same("duration(h)", json!(24), json!("1d")));
    assert!(!same("duration(text)", json!("7"), json!("7d")));
    assert!(same("timestamp", json!("2026-03-08"), json!(1_772_928_000)));
}

#[test]
fn nested_addresses_and_quantities_have_one_spelling() {
    let approval = |spender: &str, amount: Value| json!([{"token": "USDC", "spender": spender, "amount": amount}]);
    let known = approval(USDC, json!("12000"));
    for same_value in [json!(12000), json!("12,000"), json!(12000.0)] {
        assert!(same("list(object)", known.clone(), approval(&USDC.to_lowercase(), same_value.clone())), "{same_value}");
    }
    let wrong_checksum = format!("0x{}{}", USDC[2..20].to_lowercase(), USDC[20..].to_uppercase());
    for other in [approval(USDC, json!("1200")), approval(USDC, json!("12.000")), approval(&wrong_checksum, json!("12000"))] {
        assert!(!same("list(object)", known.clone(), other.clone()), "{other}");
    }
    assert!(same("object", json!({"rebalance_threshold_bps": 250}), json!({"rebalance_threshold_bps": "250"})));
    assert!(!same("object", json!({"job": "07"}), json!({"job": "7"})), "an id is not a quantity");
    assert!(!same("object", json!({"job": 7}), json!({"job": "7"})));
}

#[test]
fn other_kinds_compare_by_meaning() {
    assert!(same("price(lower)", json!("1,800.0"), json!(1800)));
    assert!(!same("price(lower)", json!("1800"), json!("1801")));
    assert!(same("list(price)", json!(["1800", "2200"]), json!([1800, 2200])));
    assert!(!same("list(price)", json!(["1800", "2200"]), json!(["2200", "1800"])), "the order of a price range matters");
    assert!(same("enum", json!("EXACT_INPUT"), json!("exact_input")));
    assert!(same("text", json!(" Cold  wallet\n"), json!("cold wallet")));
    assert!(same("id(position)", json!(7), json!("7")));
    assert!(!same("id(action)", json!("a1"), json!("A1")));
    assert!(same("id(transaction)", json!("0xAB"), json!("0xab")));
    assert!(!same("flag", json!(true), json!("true")));
    assert!(same("object", json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1})));
    assert!(same("list(token)", json!(["USDC"]), json!(["usdc"])));
    assert!(!same("list(token)", json!(["USDC"]), json!(["usdc", "WETH"])));
}

#[test]
fn numbers_compare_by_value_at_every_depth() {
    let plain = |a: &str, b: &str| {
        let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        meaning(&context("USDC"), None, &read(a)) == meaning(&context("USDC"), None, &read(b))
    };
    assert!(plain("5", "5.0"));
    assert!(plain("[1, {\"a\": [2.0, -0.0]}]", "[1.0, {\"a\": [2, 0]}]"));
    assert!(plain("0.1", "1e-1"));
    assert!(!plain("5", "\"5\""), "without a kind a number is not a text");
    assert!(!plain("[5]", "[5.5]"));
    assert!(!plain("9007199254740992", "9007199254740993"));
    assert!(!plain("{\"a\": 9007199254740992}", "{\"a\": 9007199254740993.0}"), "a float beyond 2^53 may be several integers");
    assert!(same("object", json!({"a": [5]}), json!({"a": [5.0]})));
    assert!(!same("object", json!({"a": [5]}), json!({"a": [5.1]})));
    assert!(same("amount(human of token_in)", json!(0.000_000_1), json!("0.0000001")));
    assert!(same("id(position)", json!(7), json!(7.0)));
}

#[test]
fn plain_numbers_compare_without_a_unit() {
    for other in [json!(1000), json!(1000.0), json!("1000"), json!("1,000"), json!("1_000.0"), json!(1e3)] {
        assert!(same("number", json!(1000), other.clone()), "{other}");
        assert!(same("list(number)", json!([1000]), json!([other])));
    }
    for other in [json!("1e3"), json!("1000%"), json!("1000 USDC"), json!(1000.5), json!("1.000,0"), json!(true)] {
        assert!(!same("number", json!(1000), other.clone()), "{other}");
    }
    assert!(same("number", json!(-2.5), json!("-2.50")));
}

#[test]
fn omitted_argument_has_default() {
    let tool = workspace().tool("swap_execute").expect("the tool");
    assert!(same_argument(workspace(), tool, "slippage_bps", &json!(50), &json!({})));
    assert!(!same_argument(workspace(), tool, "slippage_bps", &json!(30), &json!({})));
    assert!(!same_argument(workspace(), tool, "amount", &json!("1"), &json!({})));
    assert!(!same_argument(workspace(), tool, "amount", &json!("1"), &json!("no object")));
    let with_default = json!({"token": "USDC"});
    let written = json!({"chain": 8453, "token": USDC});
    let balance = workspace().tool("wallet_get_balance").expect("the tool");
    assert_eq!(
        TypedArgs::for_call(workspace(), balance, &with_default).meanings(),
        TypedArgs::for_call(workspace(), balance, &written).meanings()
    );
}

#[test]
fn satisfies_any_of_subset_superset_and_keys() {
    let params = ExampleWorkspace::minimal()
        .edit("tools/wallet.yaml", "      action_id: { kind: id(action), type: string, description: The prepared action. }", "      action_id: { kind: id(action), type: string, description: The prepared action. }\n      tokens: { kind: list(token), type: array, items: { type: string }, optional: true, description: Tokens to watch. }\n      options: { kind: object, type: object, optional: true, description: More. }")
        .load()
        .expect("a workspace");
    let tool = params.tool("tx_simulate").expect("the tool");
    let fits =
        |name: &str, wanted: ArgMatcher, value: Value| TypedArgs::for_call(&params, tool, &json!({ name: value })).satisfies(name, &wanted);
    assert!(fits("action_id", ArgMatcher::AnyOf(vec![json!("a"), json!("b")]), json!("b")));
    assert!(!fits("action_id", ArgMatcher::AnyOf(vec![json!("a"), json!("b")]), json!("c")));
    assert!(fits("tokens", ArgMatcher::Subset(json!(["USDC", "WETH"])), json!(["weth"])));
    assert!(!fits("tokens", ArgMatcher::Subset(json!(["USDC", "WETH"])), json!(["weth", "DAI"])));
    assert!(fits("tokens", ArgMatcher::Superset(json!(["USDC"])), json!(["weth", "usdc"])));
    assert!(!fits("tokens", ArgMatcher::Superset(json!(["USDC"])), json!(["weth"])));
    assert!(fits("options", ArgMatcher::Superset(json!({"a": 1})), json!({"a": 1, "b": 2})));
    assert!(!fits("options", ArgMatcher::Superset(json!({"a": 1})), json!({"a": 2, "b": 2})));
    assert!(fits("options", ArgMatcher::Subset(json!({"a": 1, "b": 2})), json!({"a": 1})));
    assert!(fits("options", ArgMatcher::Keys(vec!["a".into()]), json!({"a": null, "b": 2})));
    assert!(!fits("options", ArgMatcher::Keys(vec!["a".into()]), json!({"b": 2})));
    assert!(!fits("options", ArgMatcher::Keys(vec!["a".into()]), json!("a")));
    assert!(fits("options", ArgMatcher::Contains("seed".into()), json!({"note": ["My SEED phrase"]})));
    assert!(!fits("options", ArgMatcher::Contains("seed".into()), json!({"note": ["nothing"]})));
    let pattern = || ArgMatcher::Regex(model::rule::TextPattern::parse("^[ab]$").expect("a pattern"));
    assert!(fits("action_id", pattern(), json!("b")));
    assert!(!fits("action_id", pattern(), json!("ab")));
}

#[test]
fn bound_accepts_less_in_any_unit_and_refuses_more() {
    let tool = workspace().tool("swap_execute").expect("the tool");
    let fits =
        |name: &str, bound: Value, args: Value| TypedArgs::for_call(workspace(), tool, &args).satisfies(name, &ArgMatcher::AtMost(bound));
    for value in [json!(80), json!(30), json!("0.8%"), json!("79.9 bps")] {
        assert!(fits("slippage_bps", json!(80), json!({"slippage_bps": value})), "{value}");
        assert!(fits("slippage_bps", json!("0.8%"), json!({"slippage_bps": value})), "{value}");
    }
    for value in [json!(81), json!("0.81%"), json!("8%"), json!("little"), json!([1])] {
        assert!(!fits("slippage_bps", json!(80), json!({"slippage_bps": value})), "{value}");
    }
    assert!(fits("slippage_bps", json!(50), json!({})) && !fits("slippage_bps", json!(49), json!({})), "the default counts");
    let sell = |amount: &str| json!({"token_in": "USDC", "amount": amount, "chain": "base"});
    assert!(fits("amount", json!("250"), sell("249.5")) && !fits("amount", json!("250"), sell("250.5")));
    assert!(!fits("amount", json!("250"), sell("max")), "a whole balance has no bound");
    assert!(fits("unknown", json!(5), json!({"unknown": 5.0})) && !fits("unknown", json!(5), json!({"unknown": 6})), "without a kind");
}

#[test]
fn optional_and_absent_arguments() {
    let tool = workspace().tool("swap_execute").expect("the tool");
    let fits = |wanted: &ArgMatcher, args: Value| TypedArgs::for_call(workspace(), tool, &args).satisfies("slippage_bps", wanted);
    let optional = ArgMatcher::Optional(Box::new(ArgMatcher::AnyOf(vec![json!(30), json!(40)])));
    for args in [json!({}), json!({"slippage_bps": null}), json!({"slippage_bps": 30}), json!({"slippage_bps": "0.4%"})] {
        assert!(fits(&optional, args.clone()), "{args}");
    }
    assert!(!fits(&optional, json!({"slippage_bps": 50})), "a given value must match, even the default");
    for args in [json!({}), json!({"slippage_bps": null}), json!({"amount": "1"})] {
        assert!(fits(&ArgMatcher::Absent, args.clone()), "{args}");
    }
    for args in [json!({"slippage_bps": 50}), json!({"slippage_bps": 0}), json!({"slippage_bps": ""})] {
        assert!(!fits(&ArgMatcher::Absent, args.clone()), "{args}");
    }
}

#[test]
fn any_argument_is_tested_at_every_depth() {
    let tool = workspace().tool("swap_execute").expect("the tool");
    let fits = |wanted: ArgMatcher, args: Value| TypedArgs::for_call(workspace(), tool, &args).any_satisfies(&wanted);
    let bad = "0x00000000000000000000000000000000000bad00";
    let exactly = |value: Value| ArgMatcher::Exactly(value);
    for args in [json!({"to": bad}), json!({"legs": [{"to": bad.to_uppercase().replace("0X", "0x")}]}), json!({"map": {bad: 1}})] {
        assert!(fits(exactly(json!(bad)), args.clone()), "{args}");
    }
    assert!(!fits(exactly(json!(bad)), json!({"to": format!("{bad}00")})));
    assert!(fits(ArgMatcher::Contains("bad00".into()), json!({"calls": [{"data": format!("0xa9059cbb{}", &bad[2..])}]})));
    assert!(!fits(ArgMatcher::Contains("bad00".into()), json!({"calls": [{"data": "0x"}]})));
    assert!(fits(exactly(json!("USDC")), json!({"token_in": USDC, "chain": "base"})), "by the kind of the parameter");
    assert!(fits(exactly(json!(5)), json!({"legs": [[5.0]]})));
    assert!(!fits(exactly(json!(5)), json!({"legs": [[50]]})));
}

const KINDS: &[&str] = &[
    "address(recipient)",
    "token(in)",
    "chain",
    "amount(human of token_in)",
    "amount(base of token_in)",
    "amount(usd)",
    "bps",
    "percent",
    "ratio",
    "price(lower)",
    "tick",
    "fee_tier",
    "deadline",
    "duration(s)",
    "duration(text)",
    "timestamp",
    "count",
    "number",
    "id(action)",
    "flag",
    "enum",
    "text",
    "data",
    "url",
    "object",
    "list(token)",
];

/// Similar values, so that many pairs are equal.
fn values() -> impl Strategy<Value = Value> {
    let words = [
        "USDC",
        "usdc",
        "WETH",
        USDC,
        "base",
        "8453",
        "250",
        "250.0",
        "0.5%",
        "50 bps",
        "300",
        "5m",
        "max",
        "1e3",
        "1,000",
        "",
        " ",
        "7d",
        "2026-03-08",
    ];
    let leaf = prop_oneof![
        proptest::sample::select(words.to_vec()).prop_map(|word| json!(word)),
        any::<i32>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        "[0-9a-zA-Z.,_%x -]{0,12}".prop_map(|text| json!(text)),
        any::<bool>().prop_map(|flag| json!(flag)),
        Just(Value::Null),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            proptest::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn same_meaning_is_an_equivalence_relation(kind in proptest::sample::select(KINDS.to_vec()), a in values(), b in values(), c in values()) {
        let same = |a: &Value, b: &Value| meaning_as_kind(kind, a) == meaning_as_kind(kind, b);
        prop_assert!(same(&a, &a));
        prop_assert_eq!(same(&a, &b), same(&b, &a));
        prop_assert!(!(same(&a, &b) && same(&b, &c)) || same(&a, &c));
    }

    /// One more base unit always differs, in base units and in whole tokens.
    #[test]
    fn amount_plus_one_unit_differs(units in 0_u64..u64::MAX - 1) {
        let base = |units: u64| meaning_as_kind("amount(base of token_in)", &json!(units.to_string()));
        prop_assert_ne!(base(units), base(units + 1));
        let human = format!("{}.{:06}", units / 1_000_000, units % 1_000_000);
        prop_assert_eq!(meaning_as_kind("amount(human of token_in)", &json!(human)), base(units));
    }
}
