//! Venue positions are revalued before and after each call: changes by the venue, prices, shares and during other calls.

use alloy_primitives::{Address, Bytes, I256, U256};
use alloy_sol_types::SolCall;

use crate::contracts::cage::{CageFixture, VENUE, cage, call, execute, lending, one_ether, pay, usd};
use crate::contracts::harness::*;

fn operator(cage: &mut CageFixture) -> Address {
    cage.chain.view(cage.at, PolicyCage::operatorCall {})
}

fn try_execute(cage: &mut CageFixture, target: Address, data: &impl SolCall) -> Result<TxResult<Bytes>, Bytes> {
    let (operator, at) = (operator(cage), cage.at);
    cage.chain.try_send(operator, at, U256::ZERO, &execute(call(target, U256::ZERO, data)))
}

fn execute_spent(cage: &mut CageFixture, target: Address, data: &impl SolCall) -> U256 {
    let done = try_execute(cage, target, data).unwrap_or_else(|answer| panic!("{answer}"));
    done.events::<PolicyCage::Executed>().iter().fold(U256::ZERO, |sum, (_, event)| sum + event.spentUsd)
}

fn execute_error(cage: &mut CageFixture, target: Address, data: &impl SolCall) -> [u8; 4] {
    split_revert(&try_execute(cage, target, data).map(|_| ()).expect_err("the call was not refused")).0
}

fn nav(cage: &mut CageFixture) -> U256 {
    cage.chain.view(cage.at, PolicyCage::navCall {})
}

fn enter(asset: Address, amount: U256) -> Venue::enterCall {
    Venue::enterCall { market: lending(), asset, amount, data: Bytes::new() }
}

fn settle(cage: &mut CageFixture, asset: Address, change: i64) {
    let (venue, account) = (cage.venue, cage.at);
    let change = I256::try_from(change).expect("small") * I256::try_from(1_000_000).expect("small");
    cage.chain.send(OWNER, venue, Venue::settleCall { account, market: lending(), asset, change });
}

/// Cage with 40,000 USDC in the venue.
fn cage_with_venue_position() -> CageFixture {
    let mut cage = cage();
    let (usdc, venue, bob) = (cage.usdc, cage.venue, address_named("bob"));
    for _ in 0..4 {
        execute_spent(&mut cage, venue, &enter(usdc, units(10_000, 6)));
    }
    execute_spent(&mut cage, usdc, &pay(bob, one_ether()));
    cage
}

#[test]
fn borrowing_exiting_and_repaying_leave_the_value_unchanged() {
    let mut cage = cage_with_venue_position();
    let (usdc, dai, venue, at) = (cage.usdc, cage.dai, cage.venue, cage.at);
    let before = nav(&mut cage);
    execute_spent(&mut cage, venue, &Venue::borrowCall { market: lending(), asset: dai, amount: units(5_000, 18), to: at });
    assert_eq!(nav(&mut cage), before);
    execute_spent(&mut cage, venue, &Venue::exitCall { market: lending(), asset: usdc, amount: units(7_000, 6), to: at });
    assert_eq!(nav(&mut cage), before);
    execute_spent(&mut cage, venue, &Venue::repayCall { market: lending(), asset: dai, amount: U256::MAX });
    assert_eq!(nav(&mut cage), before);
}

#[test]
fn venue_loss_between_two_calls_is_a_drawdown() {
    let mut cage = cage_with_venue_position();
    let (usdc, bob) = (cage.usdc, address_named("bob"));
    let before = nav(&mut cage);
    settle(&mut cage, usdc, -40_000);
    assert_eq!(nav(&mut cage), before - usd(40_000));
    // 40,000 of 305,000 is more than 13 %.
    assert_eq!(execute_error(&mut cage, usdc, &pay(bob, one_ether())), selector_of::<PolicyCage::DrawdownExceeded>());
}

#[test]
fn venue_profit_does_not_hide_a_later_loss() {
    let mut cage = cage_with_venue_position();
    let (usdc, bob) = (cage.usdc, address_named("bob"));
    settle(&mut cage, usdc, 30_000);
    execute_spent(&mut cage, usdc, &pay(bob, one_ether()));
    settle(&mut cage, usdc, -45_000);
    assert_eq!(execute_error(&mut cage, usdc, &pay(bob, one_ether())), selector_of::<PolicyCage::DrawdownExceeded>());
}

#[test]
fn venue_loss_during_an_unrelated_call_counts_as_spent() {
    let mut cage = cage_with_venue_position();
    let (usdc, hook, venue, at, bob) = (cage.usdc, cage.hook, cage.venue, cage.at, address_named("bob"));
    // The hook token owns the venue and settles while the account transfers it.
    cage.chain.send(OWNER, venue, Venue::transferOwnershipCall { to: hook });
    let loss = |whole: i64| {
        let change = -I256::try_from(whole * 1_000_000).expect("small");
        Venue::settleCall { account: at, market: lending(), asset: usdc, change }.abi_encode()
    };
    cage.chain.send(OWNER, hook, HookToken::setHookCall { target: venue, data: loss(10_000).into() });
    assert_eq!(execute_error(&mut cage, hook, &pay(bob, units(1, 18))), selector_of::<PolicyCage::SpendingLimitExceeded>());
    cage.chain.send(OWNER, hook, HookToken::setHookCall { target: venue, data: loss(4_000).into() });
    assert_eq!(execute_spent(&mut cage, hook, &pay(bob, units(1, 18))), usd(4_001));
}

#[test]
fn new_price_revalues_venue_positions() {
    let mut cage = cage();
    let (weth, venue, at, bob, usdc) = (cage.weth, cage.venue, cage.at, address_named("bob"), cage.usdc);
    execute_spent(&mut cage, venue, &enter(weth, units(3, 18)));
    execute_spent(&mut cage, usdc, &pay(bob, one_ether()));
    let before = nav(&mut cage);
    let price = |usd: u128| PolicyCage::setAssetCall { asset: weth, kind: 1, decimals: 18, base: false, priceUsd8: usd * 100_000_000 };
    cage.chain.send(OWNER, at, price(1_000));
    // Ten WETH in total, three of them in the venue; native ether is priced separately.
    assert_eq!(nav(&mut cage), before - usd(20_000));
    execute_spent(&mut cage, usdc, &pay(bob, one_ether()));
    cage.chain.send(OWNER, at, price(3_000));
    assert_eq!(nav(&mut cage), before - U256::from(100));
}

#[test]
fn unapproved_asset_in_a_venue_counts_nothing() {
    let mut cage = cage_with_venue_position();
    let (usdc, at) = (cage.usdc, cage.at);
    let before = nav(&mut cage);
    let held = cage.chain.balance(usdc, at) * U256::from(100);
    cage.chain.send(OWNER, at, PolicyCage::setAssetCall { asset: usdc, kind: 0, decimals: 6, base: true, priceUsd8: 100_000_000 });
    assert_eq!(nav(&mut cage), before - held - usd(40_000));
    cage.chain.send(OWNER, at, PolicyCage::setAssetCall { asset: usdc, kind: 1, decimals: 6, base: true, priceUsd8: 100_000_000 });
    assert_eq!(nav(&mut cage), before);
}

#[test]
fn vault_loss_reduces_shares_held_in_a_venue() {
    let mut cage = cage();
    let (usdc, vault, venue, at, bob) = (cage.usdc, cage.vault, cage.venue, cage.at, address_named("bob"));
    cage.set_limits(|limits| limits.maxPositionBps = 10_000);
    for _ in 0..4 {
        execute_spent(&mut cage, vault, &Vault::depositCall { assets: units(10_000, 6), receiver: at });
    }
    cage.chain.allow(at, vault, venue);
    cage.set_limits(|limits| limits.perTxUsd8 = u128::MAX);
    let shares = cage.chain.balance(vault, at);
    execute_spent(&mut cage, venue, &enter(vault, shares));
    execute_spent(&mut cage, usdc, &pay(bob, one_ether()));
    let before = nav(&mut cage);
    // The vault loses everything; the venue position is unchanged.
    cage.chain.send(OWNER, vault, Vault::takeLossCall { assets: units(40_000, 6), to: OWNER });
    assert!(nav(&mut cage) < before - usd(39_999));
    assert_eq!(execute_error(&mut cage, usdc, &pay(bob, one_ether())), selector_of::<PolicyCage::DrawdownExceeded>());
}

#[test]
fn vault_loss_in_a_venue_during_a_call_is_spent() {
    let mut cage = cage();
    let (hook, vault, venue, at, bob) = (cage.hook, cage.vault, cage.venue, cage.at, address_named("bob"));
    execute_spent(&mut cage, vault, &Vault::depositCall { assets: units(9_000, 6), receiver: at });
    cage.chain.allow(at, vault, venue);
    let shares = cage.chain.balance(vault, at);
    execute_spent(&mut cage, venue, &enter(vault, shares));
    execute_spent(&mut cage, hook, &pay(bob, one_ether()));
    cage.chain.send(OWNER, vault, Vault::transferOwnershipCall { to: hook });
    let loss = Vault::takeLossCall { assets: units(4_000, 6), to: bob }.abi_encode();
    cage.chain.send(OWNER, hook, HookToken::setHookCall { target: vault, data: loss.into() });
    let spent = execute_spent(&mut cage, hook, &pay(bob, units(1, 18)));
    assert!(spent >= usd(4_000) && spent < usd(4_003), "{spent}");
}

#[test]
fn batch_measures_enter_and_exit_call_by_call() {
    let mut cage = cage_with_venue_position();
    let (usdc, venue, operator) = (cage.usdc, cage.venue, operator(&mut cage));
    let exit = |amount| Venue::exitCall { market: lending(), asset: usdc, amount: units(amount, 6), to: address_named("thief") };
    let calls = |amount| {
        let parts = [call(venue, U256::ZERO, &enter(usdc, units(1_000, 6))), call(venue, U256::ZERO, &exit(amount))];
        PolicyCage::executeBatchCall { calls: parts.to_vec() }
    };
    let at = cage.at;
    let answer = cage.chain.expect_revert(operator, at, calls(9_001));
    assert_eq!(split_revert(&answer).0, selector_of::<PolicyCage::SpendingLimitExceeded>());
    let before = nav(&mut cage);
    cage.chain.send(operator, at, calls(2_000));
    assert_eq!(nav(&mut cage), before - usd(2_000));
}

/// Adds a second venue, which takes DAI.
fn other_venue(cage: &mut CageFixture) -> Address {
    let (dai, at, other) = (cage.dai, cage.at, address_named("other venue"));
    cage.chain.etch("Venue", other);
    cage.chain.send(OWNER, other, Venue::initCall { owner_: OWNER });
    cage.chain.send(OWNER, other, Venue::setMarketCall { market: lending(), open: true, minRatioBps: 0 });
    cage.chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol: other, kind: VENUE });
    cage.chain.allow(at, dai, other);
    other
}

#[test]
fn losses_in_two_venues_are_both_measured() {
    let mut cage = cage_with_venue_position();
    let (usdc, dai, at, bob) = (cage.usdc, cage.dai, cage.at, address_named("bob"));
    let other = other_venue(&mut cage);
    let before = nav(&mut cage);
    for _ in 0..4 {
        execute_spent(&mut cage, other, &enter(dai, units(2_000, 18)));
    }
    assert_eq!(nav(&mut cage), before);
    let change = -I256::try_from(8_000_i64).expect("small") * I256::try_from(units(1, 18)).expect("small");
    cage.chain.send(OWNER, other, Venue::settleCall { account: at, market: lending(), asset: dai, change });
    assert_eq!(nav(&mut cage), before - usd(8_000));
    execute_spent(&mut cage, usdc, &pay(bob, one_ether()));
    settle(&mut cage, usdc, -40_000);
    assert_eq!(execute_error(&mut cage, usdc, &pay(bob, one_ether())), selector_of::<PolicyCage::DrawdownExceeded>());
}

#[test]
fn venue_loss_while_unapproved_shows_after_approval() {
    let mut cage = cage_with_venue_position();
    let (usdc, venue, at) = (cage.usdc, cage.venue, cage.at);
    let before = nav(&mut cage);
    cage.chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol: venue, kind: 0 });
    settle(&mut cage, usdc, -10_000);
    cage.chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol: venue, kind: VENUE });
    assert_eq!(nav(&mut cage), before - usd(10_000));
}

#[test]
fn refused_call_changes_no_position() {
    let mut cage = cage_with_venue_position();
    let (usdc, venue, at) = (cage.usdc, cage.venue, cage.at);
    let before = nav(&mut cage);
    let exit = Venue::exitCall { market: lending(), asset: usdc, amount: units(20_000, 6), to: address_named("thief") };
    assert_eq!(execute_error(&mut cage, venue, &exit), selector_of::<PolicyCage::SpendingLimitExceeded>());
    assert_eq!(nav(&mut cage), before);
    assert_eq!(
        execute_spent(&mut cage, venue, &Venue::exitCall { market: lending(), asset: usdc, amount: units(20_000, 6), to: at }),
        U256::ZERO
    );
    assert_eq!(nav(&mut cage), before);
}

#[test]
fn position_credited_before_the_first_call_is_not_a_gain() {
    let mut cage = cage_with_venue_position();
    let (dai, at) = (cage.dai, cage.at);
    let other = other_venue(&mut cage);
    cage.chain.mint(dai, other, units(3_000, 18));
    let change = I256::try_from(units(3_000, 18)).expect("small");
    cage.chain.send(OWNER, other, Venue::settleCall { account: at, market: lending(), asset: dai, change });
    let before = nav(&mut cage);
    // An unseen credit would count as a gain and hide a loss.
    assert_eq!(execute_spent(&mut cage, other, &enter(dai, units(1_000, 18))), usd(1_000));
    assert_eq!(nav(&mut cage), before + usd(3_000));
    let exit = Venue::exitCall { market: lending(), asset: dai, amount: units(4_000, 18), to: address_named("thief") };
    assert_eq!(execute_spent(&mut cage, other, &exit), usd(4_000));
}

#[test]
fn position_limit_binds_each_venue_by_itself() {
    let mut cage = cage_with_venue_position();
    let (usdc, dai, at, bob) = (cage.usdc, cage.dai, cage.at, address_named("bob"));
    let other = other_venue(&mut cage);
    cage.set_limits(|limits| limits.perSessionUsd8 = u128::MAX);
    execute_spent(&mut cage, other, &enter(dai, units(10_000, 18)));
    execute_spent(&mut cage, usdc, &pay(bob, one_ether()));
    // The first venue holds 40,000 of 305,000, more than a tenth; the other holds 10,000.
    cage.set_limits(|limits| limits.maxPositionBps = 1_000);
    let venue = cage.venue;
    assert_eq!(execute_error(&mut cage, venue, &enter(usdc, units(1_000, 6))), selector_of::<PolicyCage::PositionExceeded>());
    execute_spent(&mut cage, other, &enter(dai, units(10_000, 18)));
    // A shrinking position may stay above the limit.
    execute_spent(&mut cage, venue, &Venue::exitCall { market: lending(), asset: usdc, amount: units(1_000, 6), to: at });
}
