//! ERC-4626 vault: all four directions, reverts, and the invariant that no account gets more than its share.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use proptest::prelude::*;

use crate::contracts::harness::*;

const PEOPLE: [&str; 3] = ["alice", "bob", "carol"];

struct VaultFixture {
    chain: TestChain,
    usdc: Address,
    vault: Address,
}

fn setup_with(contract: &str) -> VaultFixture {
    let mut chain = TestChain::new();
    let usdc = chain.token_of(contract, "USDC", 6);
    let vault = address_named("vault");
    chain.etch("Vault", vault);
    chain.send(OWNER, vault, Vault::initCall { asset_: usdc, name_: "Vault USDC".into(), symbol_: "vUSDC".into(), owner_: OWNER });
    for who in PEOPLE.iter().map(|name| address_named(name)).chain([OWNER]) {
        chain.mint(usdc, who, units(1_000_000, 6));
        chain.allow(who, usdc, vault);
    }
    VaultFixture { chain, usdc, vault }
}

fn setup() -> VaultFixture {
    setup_with("Token")
}

fn deposit(assets: U256, receiver: Address) -> Vault::depositCall {
    Vault::depositCall { assets, receiver }
}

#[test]
fn deposit_mint_withdraw_redeem_round_trip() {
    let VaultFixture { mut chain, usdc, vault } = setup();
    let (alice, bob) = (address_named("alice"), address_named("bob"));
    assert_eq!(chain.view(vault, Vault::decimalsCall {}), 9);
    let done = chain.send(alice, vault, deposit(units(100, 6), bob));
    let event = done.event::<Vault::Deposit>();
    assert_eq!((event.sender, event.owner, event.assets, event.shares), (alice, bob, units(100, 6), units(100, 9)));
    assert_eq!(chain.send(alice, vault, Vault::mintCall { shares: units(50, 9), receiver: alice }).value, units(50, 6));
    chain.send(OWNER, vault, Vault::addYieldCall { assets: units(15, 6) });
    // 10 % yield, minus the part of the virtual shares.
    let worth = chain.view(vault, Vault::convertToAssetsCall { shares: units(100, 9) });
    assert!(worth > units(109, 6) && worth < units(110, 6), "{worth}");
    assert_eq!(chain.view(vault, Vault::maxWithdrawCall { owner_: bob }), worth);
    assert_eq!(chain.view(vault, Vault::maxRedeemCall { owner_: bob }), units(100, 9));

    let expected = chain.view(vault, Vault::previewWithdrawCall { assets: units(11, 6) });
    let done = chain.send(bob, vault, Vault::withdrawCall { assets: units(11, 6), receiver: alice, owner_: bob });
    assert_eq!(done.value, expected);
    let event = done.event::<Vault::Withdraw>();
    assert_eq!((event.sender, event.receiver, event.owner, event.assets, event.shares), (bob, alice, bob, units(11, 6), expected));
    let rest = chain.balance(vault, bob);
    let expected = chain.view(vault, Vault::previewRedeemCall { shares: rest });
    let had = chain.balance(usdc, bob);
    assert_eq!(chain.send(bob, vault, Vault::redeemCall { shares: rest, receiver: bob, owner_: bob }).value, expected);
    assert_eq!(chain.balance(usdc, bob) - had, expected);
    assert!(expected >= units(98, 6) && expected < units(99, 6));
}

#[test]
fn redeem_for_others_needs_allowance() {
    let VaultFixture { mut chain, vault, .. } = setup();
    let (alice, bob) = (address_named("alice"), address_named("bob"));
    chain.send(alice, vault, deposit(units(100, 6), alice));
    let redeem = |shares| Vault::redeemCall { shares, receiver: bob, owner_: alice };
    let refusal = |needed| revert_data(Vault::InsufficientAllowance { spender: bob, allowance: U256::ZERO, needed });
    assert_eq!(chain.expect_revert(bob, vault, redeem(units(1, 9))), refusal(units(1, 9)));
    chain.send(alice, vault, Token::approveCall { spender: bob, value: units(1, 9) });
    chain.send(bob, vault, redeem(units(1, 9)));
    assert_eq!(chain.expect_revert(bob, vault, redeem(units(1, 9))), refusal(units(1, 9)));
}

#[test]
fn vault_reverts() {
    let VaultFixture { mut chain, usdc, vault } = setup();
    let alice = address_named("alice");
    let again = Vault::initCall { asset_: usdc, name_: String::new(), symbol_: String::new(), owner_: alice };
    assert_eq!(chain.expect_revert(alice, vault, again), revert_data(Vault::AlreadyInitialised {}));
    assert_eq!(chain.expect_revert(alice, vault, deposit(U256::ZERO, alice)), revert_data(Vault::NothingMoved {}));
    assert_eq!(
        chain.expect_revert(alice, vault, deposit(units(1, 6), Address::ZERO)),
        revert_data(Vault::InvalidRecipient { to: Address::ZERO })
    );
    chain.send(alice, vault, deposit(units(10, 6), alice));
    let limit = |amount, maximum| revert_data(Vault::ExceedsMax { account: alice, amount, maximum });
    let withdraw = |assets| Vault::withdrawCall { assets, receiver: alice, owner_: alice };
    let redeem = |shares| Vault::redeemCall { shares, receiver: alice, owner_: alice };
    assert_eq!(chain.expect_revert(alice, vault, withdraw(units(11, 6))), limit(units(11, 6), units(10, 6)));
    assert_eq!(chain.expect_revert(alice, vault, redeem(units(11, 9))), limit(units(11, 9), units(10, 9)));
    assert_eq!(chain.expect_revert(alice, vault, redeem(U256::from(1))), revert_data(Vault::NothingMoved {}));

    chain.send(OWNER, vault, Vault::setDepositCapCall { cap: units(15, 6) });
    assert_eq!(chain.expect_revert(alice, vault, deposit(units(6, 6), alice)), limit(units(6, 6), units(5, 6)));
    assert_eq!(
        chain.expect_revert(alice, vault, Vault::mintCall { shares: units(6, 9), receiver: alice }),
        limit(units(6, 9), units(5, 9))
    );
    chain.send(OWNER, vault, Vault::setPausedCall { paused_: true });
    assert_eq!(chain.view(vault, Vault::maxDepositCall(alice)), U256::ZERO);
    assert_eq!(chain.view(vault, Vault::maxRedeemCall { owner_: alice }), U256::ZERO);
    assert_eq!(chain.expect_revert(alice, vault, deposit(units(1, 6), alice)), revert_data(Vault::Paused {}));
    assert_eq!(chain.expect_revert(alice, vault, Vault::mintCall { shares: units(1, 9), receiver: alice }), revert_data(Vault::Paused {}));
    assert_eq!(chain.expect_revert(alice, vault, withdraw(units(1, 6))), revert_data(Vault::Paused {}));
    assert_eq!(chain.expect_revert(alice, vault, redeem(units(1, 9))), revert_data(Vault::Paused {}));
    chain.send(OWNER, vault, Vault::setPausedCall { paused_: false });
    chain.send(alice, vault, withdraw(units(1, 6)));

    let stranger = revert_data(Vault::NotOwner { caller: alice });
    assert_eq!(chain.expect_revert(alice, vault, Vault::setPausedCall { paused_: true }), stranger);
    assert_eq!(chain.expect_revert(alice, vault, Vault::setDepositCapCall { cap: U256::ZERO }), stranger);
    assert_eq!(chain.expect_revert(alice, vault, Vault::addYieldCall { assets: units(1, 6) }), stranger);
    assert_eq!(chain.expect_revert(alice, vault, Vault::takeLossCall { assets: units(1, 6), to: alice }), stranger);
}

#[test]
fn vault_loss_is_shared_by_all_holders() {
    let VaultFixture { mut chain, vault, .. } = setup();
    let alice = address_named("alice");
    chain.send(alice, vault, deposit(units(100, 6), alice));
    let done = chain.send(OWNER, vault, Vault::takeLossCall { assets: units(40, 6), to: OWNER });
    assert_eq!(done.event::<Vault::LossTaken>().assets, units(40, 6));
    assert_eq!(chain.view(vault, Vault::maxWithdrawCall { owner_: alice }), units(60, 6));
}

#[test]
fn undelivered_tokens_mint_no_shares() {
    let VaultFixture { mut chain, vault, .. } = setup_with("FeeToken");
    let alice = address_named("alice");
    assert_eq!(
        chain.expect_revert(alice, vault, deposit(units(100, 6), alice)),
        revert_data(Vault::Shortfall { arrived: units(99, 6), expected: units(100, 6) })
    );
    let VaultFixture { mut chain, usdc, vault } = setup_with("LyingToken");
    for (mode, expected) in [
        (1, revert_data(Vault::Shortfall { arrived: U256::ZERO, expected: units(1, 6) })),
        (2, revert_data(Vault::TransferFailed { token: usdc })),
        (3, revert_data(Vault::Shortfall { arrived: U256::ZERO, expected: units(1, 6) })),
    ] {
        chain.send(OWNER, usdc, LyingToken::setModeCall { mode_: mode });
        assert_eq!(chain.expect_revert(alice, vault, deposit(units(1, 6), alice)), expected);
    }
}

#[test]
fn vault_blocks_reentrancy() {
    let VaultFixture { mut chain, usdc, vault } = setup_with("HookToken");
    let alice = address_named("alice");
    let data = deposit(U256::from(1), alice).abi_encode().into();
    chain.send(OWNER, usdc, HookToken::setHookCall { target: vault, data });
    let ran = chain.send(alice, vault, deposit(units(1, 6), alice)).event::<HookToken::HookRan>();
    assert_eq!((ran.ok, ran.answer), (false, revert_data(Vault::Reentered {})));
}

// First-depositor attack: a tiny deposit and a large gift, so that the victim's shares round to zero.
#[test]
fn donation_attack_does_not_pay() {
    let VaultFixture { mut chain, usdc, vault } = setup();
    let (attacker, victim) = (address_named("alice"), address_named("bob"));
    let had = chain.balance(usdc, attacker);
    chain.send(attacker, vault, deposit(U256::from(1), attacker));
    chain.send(attacker, usdc, Token::transferCall { to: vault, value: units(10_000, 6) });
    chain.send(victim, vault, deposit(units(10_000, 6), victim));
    let shares = chain.balance(vault, attacker);
    chain.send(attacker, vault, Vault::redeemCall { shares, receiver: attacker, owner_: attacker });
    let lost = had - chain.balance(usdc, attacker);
    let worth = chain.view(vault, Vault::maxWithdrawCall { owner_: victim });
    assert!(worth > units(9_990, 6), "the victim keeps {worth}");
    assert!(lost > units(4_900, 6), "the attacker lost {lost}");
}

#[derive(Debug, Clone)]
enum VaultStep {
    Deposit(u64),
    Mint(u64),
    Withdraw(u16),
    Redeem(u16),
    Give(u64),
}

fn step() -> impl Strategy<Value = (usize, VaultStep)> {
    let amount = || (0..38_u32, any::<u8>()).prop_map(|(bits, odd)| (1_u64 << bits) + u64::from(odd));
    let part = || 1..=10_000_u16;
    let step = prop_oneof![
        amount().prop_map(VaultStep::Deposit),
        amount().prop_map(|shares| VaultStep::Mint(shares.saturating_mul(1_000))),
        part().prop_map(VaultStep::Withdraw),
        part().prop_map(VaultStep::Redeem),
        amount().prop_map(VaultStep::Give),
    ];
    (0..PEOPLE.len(), step)
}

fn part(of: U256, bps: u16) -> U256 {
    of * U256::from(bps) / U256::from(10_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    // Total withdrawals never exceed deposits and gifts, a deposit and withdrawal at once is never profitable,
    // and a share never loses value through other accounts.
    #[test]
    fn no_sequence_withdraws_more_than_a_fair_share(steps in prop::collection::vec(step(), 1..16)) {
        let VaultFixture { mut chain, usdc, vault } = setup();
        let had: Vec<U256> = PEOPLE.iter().map(|name| chain.balance(usdc, address_named(name))).collect();
        let mut given = U256::ZERO;
        let crumbs = U256::from(steps.len());
        for (who, step) in steps {
            let who = address_named(PEOPLE[who]);
            let price = (chain.view(vault, Vault::totalAssetsCall {}) + U256::from(1), chain.view(vault, Vault::totalSupplyCall {}) + U256::from(1_000));
            match step {
                VaultStep::Deposit(assets) => {
                    let assets = U256::from(assets);
                    let expected = chain.view(vault, Vault::previewDepositCall { assets });
                    if let Ok(done) = chain.try_send(who, vault, U256::ZERO, &deposit(assets, who)) {
                        prop_assert_eq!(done.value, expected);
                        let back = chain.view(vault, Vault::previewRedeemCall { shares: done.value });
                        prop_assert!(back <= assets, "{} in, {} back at once", assets, back);
                    }
                }
                VaultStep::Mint(shares) => {
                    let shares = U256::from(shares);
                    let expected = chain.view(vault, Vault::previewMintCall { shares });
                    if let Ok(done) = chain.try_send(who, vault, U256::ZERO, &Vault::mintCall { shares, receiver: who }) {
                        prop_assert_eq!(done.value, expected);
                        let back = chain.view(vault, Vault::previewRedeemCall { shares });
                        prop_assert!(back <= done.value, "{} in, {} back at once", done.value, back);
                    }
                }
                VaultStep::Withdraw(bps) => {
                    let assets = part(chain.view(vault, Vault::maxWithdrawCall { owner_: who }), bps);
                    let expected = chain.view(vault, Vault::previewWithdrawCall { assets });
                    if assets > U256::ZERO {
                        prop_assert_eq!(chain.send(who, vault, Vault::withdrawCall { assets, receiver: who, owner_: who }).value, expected);
                    }
                }
                VaultStep::Redeem(bps) => {
                    let shares = part(chain.view(vault, Vault::maxRedeemCall { owner_: who }), bps);
                    let expected = chain.view(vault, Vault::previewRedeemCall { shares });
                    if expected > U256::ZERO {
                        prop_assert_eq!(chain.send(who, vault, Vault::redeemCall { shares, receiver: who, owner_: who }).value, expected);
                    }
                }
                VaultStep::Give(assets) => {
                    let value = U256::from(assets);
                    if chain.try_send(who, usdc, U256::ZERO, &Token::transferCall { to: vault, value }).is_ok() {
                        given += value;
                    }
                }
            }
            let later = (chain.view(vault, Vault::totalAssetsCall {}) + U256::from(1), chain.view(vault, Vault::totalSupplyCall {}) + U256::from(1_000));
            prop_assert!(later.0 * price.1 >= price.0 * later.1, "a share lost value: {:?} -> {:?}", price, later);
        }
        let mut gained = U256::ZERO;
        let mut lost = U256::ZERO;
        for (name, had) in PEOPLE.iter().zip(had) {
            let who = address_named(name);
            let shares = chain.balance(vault, who);
            if chain.view(vault, Vault::previewRedeemCall { shares }) > U256::ZERO {
                chain.send(who, vault, Vault::redeemCall { shares, receiver: who, owner_: who });
            }
            let has = chain.balance(usdc, who);
            gained += has.saturating_sub(had);
            lost += had.saturating_sub(has);
        }
        prop_assert!(gained <= lost, "{} gained without a matching loss", gained - lost);
        if given.is_zero() {
            // Rounding losses go to the remaining shares.
            prop_assert!(gained <= crumbs, "{} gained", gained);
        }
    }
}
