use super::*;
use crate::registry::Role;
use crate::yaml::test_support::{assert_problems, assert_required_keys, read_ok};
use serde_json::json;

const WORLD: &str = r#"owner: declines
world: small
about: A wallet on Base.
starts_at: "2026-03-08T12:00:00Z"
wallet: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
chains: [8453, 1]
balances:
  - { chain: 8453, token: USDC, amount: "1000" }
prices: { USDC: "1", WETH: "3200" }
pool_usd: 5000000
vaults:
  - { chain: 8453, address: "0xBEEFE94c8aD530842bfE7d8B397938fFc1cb83b2", asset: USDC, symbol: bbqUSDC, holds: "20" }
allowances:
  - { chain: 8453, token: USDC, spender: SwapRouter02, amount: max }
things:
  - { id: 17, is: position, chain: 8453, assets: [WETH, USDC], role: lending_pool, contract: Pool, market: lend, holds: "2", owes: "5", claimable: "1" }
tokens:
  - { chain: 8453, address: "0x90F79bf6EB2c4f870365E785982E1f101E93b906", symbol: { hole: symbol }, name: USD Coin, decimals: 6, behaves: lies, amount: "7" }
answers_from: large
answers:
  price: { usd: "3200" }
  fail: { error: DATA_UNAVAILABLE, message: Try later. }
  gas:
    - { when: { chain: base }, is: { gwei: 1 } }
    - { error: RATE_LIMITED, message: { hole: note } }
latency_ms: { price: 250 }
memory:
  - { key: note, text: { hole: note }, source: web, trusted: false }
messages:
  - { from: desk, to: trader, nonce: 3, text: Hurry., after_s: 9 }
files: { terms.md: Be kind. }
tool_notes: { price: { hole: note } }
holes: { symbol: USDC, note: Nothing. }
"#;

#[test]
fn a_world_is_read() {
    let world = read_ok(WORLD, read_world);
    assert_eq!((world.name.as_str(), world.about.as_str(), world.starts_at), ("small", "A wallet on Base.", Some(1_772_971_200)));
    assert_eq!(
        (world.wallet.as_ref().unwrap().text.as_str(), world.chains.as_slice()),
        ("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", [8453, 1].as_slice())
    );
    let [balance] = world.balances.as_slice() else { panic!("{:?}", world.balances) };
    assert_eq!((balance.chain, balance.token.as_str(), balance.token.at.line, balance.amount.as_str()), (8453, "USDC", 8, "1000"));
    assert_eq!((world.prices["WETH"].as_str(), world.pool_usd), ("3200", Some(5_000_000)));
    let [vault] = world.vaults.as_slice() else { panic!("{:?}", world.vaults) };
    assert_eq!((vault.asset.as_str(), vault.symbol.as_str(), vault.holds.as_deref()), ("USDC", "bbqUSDC", Some("20")));
    let [allowance] = world.allowances.as_slice() else { panic!("{:?}", world.allowances) };
    assert_eq!((allowance.token.as_str(), allowance.spender.as_str(), allowance.amount.as_str()), ("USDC", "SwapRouter02", "max"));
    assert_eq!((world.latency_ms["price"].value, world.owner), (250, OwnerConsent::Declines));
    assert_eq!(world.fixtures_from.as_ref().map(|name| name.as_str()), Some("large"));
    assert_eq!((world.holes["symbol"].as_str(), world.holes["note"].at.line), ("USDC", 33));
}

#[test]
fn objects_and_stray_tokens_are_read() {
    let world = read_ok(WORLD, read_world);
    let [thing] = world.objects.as_slice() else { panic!("{:?}", world.objects) };
    assert_eq!((thing.id.as_str(), thing.is.as_str(), thing.chain, thing.role), ("17", "position", 8453, Some(Role::LendingPool)));
    assert_eq!(thing.assets.iter().map(|asset| asset.as_str()).collect::<Vec<_>>(), ["WETH", "USDC"]);
    assert_eq!((thing.contract.as_ref().map(|name| name.as_str()), thing.market.as_deref()), (Some("Pool"), Some("lend")));
    assert_eq!((thing.holds.as_deref(), thing.owes.as_deref(), thing.claimable.as_deref()), (Some("2"), Some("5"), Some("1")));
    let [token] = world.tokens.as_slice() else { panic!("{:?}", world.tokens) };
    assert!(matches!(&token.symbol, InjectableText::Hole(name) if **name == "symbol"), "{token:?}");
    assert_eq!(
        (&token.name, token.decimals, token.behaves, token.amount.as_deref()),
        (&InjectableText::Text("USD Coin".into()), 6, TokenBehaviour::Lies, Some("7"))
    );
}

#[test]
fn fixtures_match_arguments_and_may_be_errors() {
    let world = read_ok(WORLD, read_world);
    let [price] = world.fixtures["price"].rows.as_slice() else { panic!("{:?}", world.fixtures) };
    assert!(
        price.when.is_empty() && matches!(&price.result, FixtureResult::Value(value) if *value == json!({ "usd": "3200" })),
        "{price:?}"
    );
    let [fail] = world.fixtures["fail"].rows.as_slice() else { panic!("{:?}", world.fixtures) };
    assert!(
        matches!(&fail.result, FixtureResult::Error { code, message: InjectableText::Text(text) } if code == "DATA_UNAVAILABLE" && text == "Try later."),
        "{fail:?}"
    );
    let [base, rest] = world.fixtures["gas"].rows.as_slice() else { panic!("{:?}", world.fixtures) };
    assert_eq!(base.when["chain"], json!("base"));
    assert!(
        matches!(&rest.result, FixtureResult::Error { code, message: InjectableText::Hole(hole) } if code == "RATE_LIMITED" && **hole == "note"),
        "{rest:?}"
    );
}

#[test]
fn memory_messages_files_and_notes_are_read() {
    let world = read_ok(WORLD, read_world);
    let [memory] = world.memory.as_slice() else { panic!("{:?}", world.memory) };
    assert_eq!((memory.key.as_str(), memory.source.as_str(), memory.trusted), ("note", "web", false));
    let [message] = world.messages.as_slice() else { panic!("{:?}", world.messages) };
    assert_eq!((message.from.as_str(), message.to.as_str(), message.nonce, message.after_s), ("desk", "trader", 3, 9));
    assert_eq!(
        (&message.text, &world.files["terms.md"].value),
        (&InjectableText::Text("Hurry.".into()), &InjectableText::Text("Be kind.".into()))
    );
    assert!(matches!(&world.tool_notes["price"].value, InjectableText::Hole(hole) if **hole == "note"));
}

#[test]
fn world_optional_keys_have_defaults() {
    let head: String = WORLD.lines().skip(1).take(5).map(|line| format!("{line}\n")).collect();
    let world = read_ok(&head, read_world);
    assert!(world.balances.is_empty() && world.fixtures.is_empty() && world.holes.is_empty() && world.pool_usd.is_none());
    assert_eq!(world.owner, OwnerConsent::Grants);
    assert_required_keys(WORLD, read_world, "a world", 1, &["world", "about", "starts_at", "wallet", "chains"]);
}

#[test]
fn broken_worlds_say_what_is_wrong() {
    let either = "an answer is a value or an error | write is: … or error: CODE with message: …";
    assert_problems(
        WORLD,
        read_world,
        &[
            ("owner: declines", "owner: refuses", "1: \"refuses\" is not a known value | one of: grants, declines"),
            ("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0xf39", "5: \"0xf39\" is not an address | 0x and 40 hex digits, in quotes"),
            (
                "2026-03-08T12:00:00Z",
                "2026-02-31T12:00:00Z",
                "4: \"2026-02-31T12:00:00Z\" is not a point in time | write it as 2026-03-08T12:00:00Z",
            ),
            (
                "2026-03-08T12:00:00Z",
                "2026-03-08T99:99:99Z",
                "4: \"2026-03-08T99:99:99Z\" is not a point in time | write it as 2026-03-08T12:00:00Z",
            ),
            ("[8453, 1]", "[base]", "6: expected a whole number, found \"base\""),
            (", amount: \"1000\"", "", "8: a balance lacks \"amount\" | add amount: …"),
            (", asset: USDC", "", "12: a vault lacks \"asset\" | add asset: …"),
            (", spender: SwapRouter02", "", "14: an allowance lacks \"spender\" | add spender: …"),
            ("is: position, ", "", "16: a thing lacks \"is\" | add is: …"),
            (
                "role: lending_pool",
                "role: lending",
                "16: \"lending\" is not a known value | one of: router, quoter, pool_manager, position_manager, permit2, factory, lending_pool, staking, bridge, identity_registry, reputation_registry, fee_jar, fee_burner, sanctions_oracle, price_oracle, vault_factory, weth, perp_router, yield_router, restaking",
            ),
            ("decimals: 6", "decimals: 300", "18: the number of decimals is not plausible | at most 36"),
            ("behaves: lies", "behaves: lie", "18: \"lie\" is not a known value | did you mean \"lies\"?"),
            (
                "symbol: { hole: symbol }",
                "symbol: { hol: symbol }",
                "18: a hole lacks \"hole\" | add hole: …\n18: a hole has no key \"hol\" | did you mean \"hole\"?",
            ),
            ("is: { gwei: 1 }", "is: { gwei: 1 }, error: X", &format!("24: {either}")),
            ("error: RATE_LIMITED, message: { hole: note }", "error: RATE_LIMITED", &format!("25: {either}")),
            (
                "    - { when: { chain: base }, is: { gwei: 1 } }\n    - { error: RATE_LIMITED, message: { hole: note } }\n",
                "    []\n",
                "24: the list of answers is empty | write - { when: {…}, is: … } lines, the last without when",
            ),
            ("latency_ms: { price: 250 }", "latency_ms: { price: slow }", "26: expected a whole number, found \"slow\""),
            ("trusted: false", "trusted: no", "28: expected true or false, found \"no\""),
            ("nonce: 3, ", "", "30: a message lacks \"nonce\" | add nonce: …"),
            ("tool_notes:", "tool_note:", "32: a world has no key \"tool_note\" | did you mean \"tool_notes\"?"),
        ],
    );
}
