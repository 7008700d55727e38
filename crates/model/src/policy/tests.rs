use super::*;
use crate::yaml::test_support::{assert_problems, assert_required_keys, read_ok};

const POLICY: &str = r#"version: 3
limits_usd: { per_transaction: 10_000, per_session: 50000, per_day: 100000 }
slippage_bps: { default: 50, max: 100 }
price_impact_bps: 300
quote_max_age_s: 30
permit_ttl_s: 60
writes_per_hour: 20
max_asset_count: 8
max_position_bps: 2500
max_concentration_bps: 5000
min_collateral_ratio_bps: 15000
max_drawdown_bps: 2000
min_rebalance_interval_s: 3600
max_rebalances_per_day: 4
allow_arbitrary_calldata: false
approved_assets: [USDC, WETH]
approved_protocols: [router, lending_pool]
sanctioned: ["0x098B716B8Aaf21512996dC57EB0615e2383E2f96"]
delegation_depth: 5
"#;

#[test]
fn a_policy_is_read() {
    let policy = read_ok(POLICY, read_policy);
    assert_eq!((policy.version, policy.at.line), (3, 1));
    let LimitsUsd { per_transaction, per_session, per_day } = policy.limits_usd;
    assert_eq!((per_transaction, per_session, per_day), (10_000, 50_000, 100_000));
    assert_eq!((policy.slippage_bps.default, policy.slippage_bps.max), (50, 100));
    assert_eq!((policy.price_impact_bps, policy.quote_max_age_s, policy.permit_ttl_s, policy.writes_per_hour), (300, 30, 60, 20));
    assert_eq!((policy.max_asset_count, policy.max_position_bps, policy.max_concentration_bps), (8, 2500, 5000));
    assert_eq!((policy.min_collateral_ratio_bps, policy.max_drawdown_bps), (15_000, 2000));
    assert_eq!((policy.min_rebalance_interval_s, policy.max_rebalances_per_day), (3600, 4));
    assert!(!policy.allow_arbitrary_calldata);
    assert_eq!(policy.approved_assets.iter().map(|asset| asset.as_str()).collect::<Vec<_>>(), ["USDC", "WETH"]);
    assert_eq!(policy.approved_protocols, [Role::Router, Role::LendingPool]);
    assert_eq!((policy.sanctioned[0].text.as_str(), policy.sanctioned[0].at.line), ("0x098B716B8Aaf21512996dC57EB0615e2383E2f96", 18));
    assert_eq!(policy.delegation_depth, 5);
}

#[test]
fn a_policy_needs_all_its_keys() {
    let keys: Vec<&str> = POLICY.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(keys.len(), 19);
    assert_required_keys(POLICY, read_policy, "the policy", 1, &keys);
}

#[test]
fn broken_policies_say_what_is_wrong() {
    assert_problems(
        POLICY,
        read_policy,
        &[
            (
                "per_session: 50000",
                "per_session: 5000",
                "2: limits_usd must not decrease from transaction to session to day | a longer period needs at least the same limit",
            ),
            ("per_session: 50000, ", "", "2: limits_usd lacks \"per_session\" | add per_session: …"),
            ("default: 50,", "default: 500,", "3: the default slippage is above the maximum"),
            ("{ default: 50, max: 100 }", "50", "3: slippage_bps must be a mapping, found \"50\" | write key: value lines"),
            ("writes_per_hour: 20", "writes_per_hour: -1", "7: expected a whole number, found \"-1\""),
            ("allow_arbitrary_calldata: false", "allow_arbitrary_calldata: no", "15: expected true or false, found \"no\""),
            ("[router, lending_pool]", "[ruter]", "17: \"ruter\" is not a known value | did you mean \"router\"?"),
            ("0x098B716B8Aaf21512996dC57EB0615e2383E2f96", "0x098B", "18: \"0x098B\" is not an address | 0x and 40 hex digits, in quotes"),
            (
                "delegation_depth: 5",
                "delegation_depth: 5\ndepth: 5",
                "20: the policy has no key \"depth\" | known keys: version, limits_usd, slippage_bps, price_impact_bps, quote_max_age_s, permit_ttl_s, writes_per_hour, max_asset_count, max_position_bps, max_concentration_bps, min_collateral_ratio_bps, max_drawdown_bps, min_rebalance_interval_s, max_rebalances_per_day, allow_arbitrary_calldata, approved_assets, approved_protocols, sanctioned, delegation_depth, contract, deviates",
            ),
        ],
    );
}
