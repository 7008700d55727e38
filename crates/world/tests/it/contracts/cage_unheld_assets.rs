//! Assets that the account did not hold or that a call does not name: each way in or out must be measured.

use alloy_primitives::aliases::{U48, U160};
use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;

use crate::contracts::amm::{exact_in, maker};
use crate::contracts::cage::{CageFixture, cage, call, execute, lending, one_ether, pay, usd};
use crate::contracts::harness::*;

/// Cage that holds none of this asset; its allowances remain.
fn cage_without(asset: impl Fn(&CageFixture) -> Address) -> (CageFixture, Address) {
    let mut cage = cage();
    let (asset, at) = (asset(&cage), cage.at);
    let amount = cage.chain.balance(asset, at);
    cage.chain.send(OWNER, at, PolicyCage::withdrawCall { asset, amount, to: OWNER });
    assert_eq!(cage.chain.balance(asset, at), U256::ZERO);
    (cage, asset)
}

fn spent<T>(done: &TxResult<T>) -> U256 {
    done.events::<PolicyCage::Executed>().iter().fold(U256::ZERO, |sum, (_, event)| sum + event.spentUsd)
}

fn assert_over_tx_limit(answer: &Bytes) {
    assert_eq!(split_revert(answer).0, selector_of::<PolicyCage::SpendingLimitExceeded>());
    assert_eq!(U256::from_be_slice(&split_revert(answer).1[..32]), U256::ZERO, "the limit of one transaction");
}

impl CageFixture {
    fn batch(&mut self, calls: Vec<PolicyCage::Call>) -> Result<TxResult<Vec<Bytes>>, Bytes> {
        let (operator, at) = (self.operator(), self.at);
        self.chain.try_send(operator, at, U256::ZERO, &PolicyCage::executeBatchCall { calls })
    }

    fn operator(&mut self) -> Address {
        self.chain.view(self.at, PolicyCage::operatorCall {})
    }

    fn try_run(&mut self, target: Address, data: &impl SolCall) -> Result<TxResult<Bytes>, Bytes> {
        let (operator, at) = (self.operator(), self.at);
        self.chain.try_send(operator, at, U256::ZERO, &execute(call(target, U256::ZERO, data)))
    }

    fn execute_measured(&mut self, target: Address, data: &impl SolCall) -> TxResult<Bytes> {
        self.try_run(target, data).unwrap_or_else(|answer| panic!("{answer}"))
    }

    fn execute_refused(&mut self, target: Address, data: &impl SolCall) -> Bytes {
        self.try_run(target, data).map(|_| ()).expect_err("the call was not refused")
    }

    /// Makes each transfer of the hook token call this target.
    fn set_hook(&mut self, target: Address, data: &impl SolCall) {
        self.chain.send(OWNER, self.hook, HookToken::setHookCall { target, data: data.abi_encode().into() });
    }

    fn value(&mut self) -> U256 {
        self.chain.view(self.at, PolicyCage::navCall {})
    }
}

#[test]
fn gift_is_valued_and_counts_as_spent() {
    let (mut cage, dai) = cage_without(|cage| cage.dai);
    let before = cage.value();
    cage.chain.mint(dai, cage.at, units(20_000, 18));
    assert_eq!(cage.value(), before + usd(20_000));
    assert_over_tx_limit(&cage.execute_refused(dai, &pay(address_named("bob"), units(10_001, 18))));
    assert_eq!(spent(&cage.execute_measured(dai, &pay(address_named("bob"), units(10_000, 18)))), usd(10_000));
}

#[test]
fn gift_raises_high_water_mark_in_unrelated_call() {
    let (mut cage, dai) = cage_without(|cage| cage.dai);
    let (usdc, at, bob) = (cage.usdc, cage.at, address_named("bob"));
    cage.chain.mint(dai, at, units(100_000, 18));
    cage.execute_measured(usdc, &pay(bob, one_ether()));
    // Moved out past the cage: 100,000 of 355,000.
    cage.chain.send(at, dai, pay(bob, units(100_000, 18)));
    assert_eq!(split_revert(&cage.execute_refused(usdc, &pay(bob, one_ether()))).0, selector_of::<PolicyCage::DrawdownExceeded>());
}

#[test]
fn bridged_in_asset_is_measured_when_it_leaves() {
    let (mut cage, dai) = cage_without(|cage| cage.dai);
    let (venue, at) = (cage.venue, cage.at);
    let arrive = Venue::bridgeInCall { asset: dai, amount: units(20_000, 18), srcChain: one_ether(), nonce: one_ether(), to: at };
    cage.chain.send(OWNER, venue, arrive);
    let leave = |amount| Venue::bridgeOutCall { asset: dai, amount, dstChain: one_ether(), to: at };
    assert_over_tx_limit(&cage.execute_refused(venue, &leave(units(10_001, 18))));
    assert_eq!(spent(&cage.execute_measured(venue, &leave(units(10_000, 18)))), usd(10_000));
}

#[test]
fn pull_during_unrelated_call_is_measured() {
    let (mut cage, dai) = cage_without(|cage| cage.dai);
    let (hook, at, bob) = (cage.hook, cage.at, address_named("bob"));
    // The allowance bypassed the cage, as with a signed permit.
    cage.chain.allow(at, dai, hook);
    cage.chain.mint(dai, at, units(30_000, 18));
    let pull = |amount| Token::transferFromCall { from: at, to: address_named("thief"), value: amount };
    cage.set_hook(dai, &pull(units(10_000, 18)));
    assert_over_tx_limit(&cage.execute_refused(hook, &pay(bob, units(1, 18))));
    cage.set_hook(dai, &pull(units(5_000, 18)));
    assert_eq!(spent(&cage.execute_measured(hook, &pay(bob, units(1, 18)))), usd(5_001));
    assert_eq!(cage.chain.balance(dai, address_named("thief")), units(5_000, 18));
}

#[test]
fn approve_and_pull_in_one_batch_is_measured() {
    let (mut cage, dai) = cage_without(|cage| cage.dai);
    let (hook, permit2, at) = (cage.hook, cage.permit2, cage.at);
    cage.chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol: hook, kind: 1 });
    cage.chain.mint(dai, at, units(30_000, 18));
    let pull =
        |amount: u64| Permit2::transferFromCall { from: at, to: address_named("thief"), amount: U160::from(units(amount, 18)), token: dai };
    let calls = |cage: &CageFixture| {
        let spender = Permit2::approveCall { token: dai, spender: cage.hook, amount: U160::MAX, expiration: U48::MAX };
        vec![
            call(dai, U256::ZERO, &Token::approveCall { spender: permit2, value: U256::MAX }),
            call(permit2, U256::ZERO, &spender),
            call(hook, U256::ZERO, &pay(address_named("bob"), units(1, 18))),
        ]
    };
    cage.set_hook(permit2, &pull(10_000));
    let batch = calls(&cage);
    assert_over_tx_limit(&cage.batch(batch).map(|_| ()).expect_err("too much"));
    cage.set_hook(permit2, &pull(5_000));
    let batch = calls(&cage);
    assert_eq!(spent(&cage.batch(batch).unwrap_or_else(|answer| panic!("{answer}"))), usd(5_001));
}

#[test]
fn burned_gift_pair_shares_are_measured() {
    let mut cage = cage();
    let (router, pair, usdc, weth, at) = (cage.router, cage.pair, cage.usdc, cage.weth, cage.at);
    let held = cage.chain.balance(pair, maker());
    let worth = |cage: &mut CageFixture, shares| cage.chain.view(at, PolicyCage::usdValueCall { asset: pair, amount: shares });
    let shares = held * usd(8_000) / worth(&mut cage, held);
    cage.chain.send(maker(), pair, pay(at, shares * U256::from(2)));
    let remove = |shares| AmmRouter::removeLiquidityCall {
        tokenA: usdc,
        tokenB: weth,
        shares,
        minA: U256::ZERO,
        minB: U256::ZERO,
        to: address_named("bob"),
        deadline: FOREVER,
    };
    assert_over_tx_limit(&cage.execute_refused(router, &remove(shares * U256::from(2))));
    let counted = spent(&cage.execute_measured(router, &remove(shares)));
    assert!(counted > usd(7_999) && counted < usd(8_001), "{counted}");
}

#[test]
fn gift_vault_shares_are_measured_when_they_leave() {
    let mut cage = cage();
    let (vault, usdc, at) = (cage.vault, cage.usdc, cage.at);
    cage.chain.allow(address_named("alice"), usdc, vault);
    cage.chain.send(address_named("alice"), vault, Vault::depositCall { assets: units(20_000, 6), receiver: at });
    let redeem = |dollars| Vault::withdrawCall { assets: units(dollars, 6), receiver: address_named("bob"), owner_: at };
    assert_over_tx_limit(&cage.execute_refused(vault, &redeem(10_001)));
    assert_eq!(spent(&cage.execute_measured(vault, &redeem(9_000))), usd(9_000));
}

#[test]
fn vault_payout_of_unheld_asset_is_no_loss() {
    let (mut cage, usdc) = cage_without(|cage| cage.usdc);
    let (vault, at) = (cage.vault, cage.at);
    cage.chain.allow(address_named("alice"), usdc, vault);
    cage.chain.send(address_named("alice"), vault, Vault::depositCall { assets: units(9_000, 6), receiver: at });
    let leave = Vault::withdrawCall { assets: units(9_000, 6), receiver: at, owner_: at };
    assert_eq!(spent(&cage.execute_measured(vault, &leave)), U256::ZERO);
}

#[test]
fn venue_payout_of_unheld_asset_is_limited() {
    let (mut cage, dai) = cage_without(|cage| cage.dai);
    let (venue, usdc, at) = (cage.venue, cage.usdc, cage.at);
    cage.execute_measured(venue, &Venue::enterCall { market: lending(), asset: usdc, amount: units(9_000, 6), data: Bytes::new() });
    let borrow = Venue::borrowCall { market: lending(), asset: dai, amount: units(6_000, 18), to: at };
    assert_eq!(spent(&cage.clone().execute_measured(venue, &borrow)), U256::ZERO);
    cage.set_limits(|limits| limits.maxConcentrationBps = 200);
    let answer = cage.execute_refused(venue, &borrow);
    assert_eq!(split_revert(&answer).0, selector_of::<PolicyCage::ConcentrationExceeded>());
    assert_eq!(Address::from_slice(&split_revert(&answer).1[12..32]), dai);
}

#[test]
fn first_purchase_counts_towards_concentration() {
    let (mut cage, dai) = cage_without(|cage| cage.dai);
    let (router, usdc, at) = (cage.router, cage.usdc, cage.at);
    let buy = exact_in(units(5_000, 6), U256::ZERO, &[usdc, dai], at);
    assert_eq!(spent(&cage.clone().execute_measured(router, &buy)), usd(5_000));
    cage.set_limits(|limits| limits.maxConcentrationBps = 150);
    assert_eq!(split_revert(&cage.execute_refused(router, &buy)).0, selector_of::<PolicyCage::ConcentrationExceeded>());
}

#[test]
fn native_coin_is_measured_when_not_named() {
    let (mut cage, _) = cage_without(|_| NATIVE);
    let (router, weth, usdc, at) = (cage.router, cage.weth, cage.usdc, cage.at);
    cage.clone().execute_measured(weth, &Weth::withdrawCall { value: units(2, 18) });
    cage.clone().execute_measured(router, &exact_in(units(3_000, 6), U256::ZERO, &[usdc, NATIVE], at));
    cage.set_limits(|limits| limits.maxConcentrationBps = 100);
    let answer = cage.execute_refused(weth, &Weth::withdrawCall { value: units(2, 18) });
    assert_eq!(answer[..4], selector_of::<PolicyCage::ConcentrationExceeded>());
    assert_eq!(Address::from_slice(&split_revert(&answer).1[12..32]), NATIVE);
}

#[test]
fn batch_measures_asset_that_arrives_and_leaves() {
    let (mut cage, dai) = cage_without(|cage| cage.dai);
    let (hook, venue, at, bob) = (cage.hook, cage.venue, cage.at, address_named("bob"));
    cage.chain.mint(dai, OWNER, units(20_000, 18));
    cage.chain.allow(OWNER, dai, venue);
    let reward = Venue::fundRewardCall { account: at, market: lending(), asset: dai, amount: units(10_001, 18) };
    cage.chain.send(OWNER, venue, reward);
    let claim = call(venue, U256::ZERO, &Venue::claimCall { market: lending(), asset: dai, to: at });
    let give = |amount| call(dai, U256::ZERO, &pay(bob, amount));
    assert_over_tx_limit(&cage.batch(vec![claim.clone(), give(units(10_001, 18))]).map(|_| ()).expect_err("too much"));
    assert_eq!(spent(&cage.batch(vec![claim, give(units(10_000, 18))]).unwrap_or_else(|answer| panic!("{answer}"))), usd(10_000));

    // The same with a gift during the first call, of an asset that this call does not name.
    let (mut cage, dai) = cage_without(|cage| cage.dai);
    cage.chain.mint(dai, hook, units(20_000, 18));
    cage.set_hook(dai, &pay(at, units(10_000, 18)));
    let first = call(hook, U256::ZERO, &pay(bob, units(1, 18)));
    assert_over_tx_limit(&cage.clone().batch(vec![first.clone(), give(units(10_000, 18))]).map(|_| ()).expect_err("too much"));
    assert_eq!(spent(&cage.batch(vec![first, give(units(9_000, 18))]).unwrap_or_else(|answer| panic!("{answer}"))), usd(9_001));
}

#[test]
fn gift_during_a_call_offsets_no_spending() {
    let (mut cage, dai) = cage_without(|cage| cage.dai);
    let (hook, usdc, at, bob) = (cage.hook, cage.usdc, cage.at, address_named("bob"));
    cage.chain.mint(dai, hook, units(500, 18));
    cage.set_hook(dai, &pay(at, units(500, 18)));
    let before = cage.value();
    assert_eq!(spent(&cage.execute_measured(hook, &pay(bob, units(500, 18)))), usd(500));
    assert_eq!(cage.value(), before);
    cage.set_hook(NATIVE, &pay(at, one_ether()));
    assert_eq!(spent(&cage.execute_measured(usdc, &pay(bob, units(7, 6)))), usd(7));
}

#[test]
fn undecodable_call_measures_every_asset() {
    let (mut cage, dai) = cage_without(|cage| cage.dai);
    let (router, usdc, at) = (cage.router, cage.usdc, cage.at);
    // The cage does not decode this router's paths.
    cage.chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol: router, kind: 1 });
    cage.chain.send(OWNER, at, PolicyCage::setAllowArbitraryCalldataCall { allowed: true });
    let buy = exact_in(units(5_000, 6), U256::ZERO, &[usdc, dai], at);
    assert_eq!(spent(&cage.clone().execute_measured(router, &buy)), usd(5_000));
    cage.set_limits(|limits| limits.maxConcentrationBps = 150);
    assert_eq!(split_revert(&cage.execute_refused(router, &buy)).0, selector_of::<PolicyCage::ConcentrationExceeded>());
}

#[test]
fn asset_approved_after_receipt_is_measured() {
    let mut cage = cage();
    let (at, bob) = (cage.at, address_named("bob"));
    let late = cage.chain.token("LATE", 18);
    cage.chain.mint(late, at, units(20_000, 18));
    let before = cage.value();
    let approve = PolicyCage::setAssetCall { asset: late, kind: 1, decimals: 18, base: false, priceUsd8: 100_000_000 };
    cage.chain.send(OWNER, at, approve);
    assert_eq!(cage.value(), before + usd(20_000));
    assert_over_tx_limit(&cage.execute_refused(late, &pay(bob, units(10_001, 18))));
}

#[test]
fn flash_loan_and_configure_spend_nothing() {
    let mut cage = cage();
    let (venue, usdc, at) = (cage.venue, cage.usdc, cage.at);
    cage.set_limits(|limits| limits.minRebalanceInterval = 3_600);
    let flash = |asset| Venue::flashCall { market: lending(), asset, amount: units(500_000, 6), data: Bytes::new() };
    let done = cage.execute_measured(venue, &flash(usdc));
    assert_eq!((spent(&done), done.event::<Venue::Flashed>().account), (U256::ZERO, at));
    let note = |key| Venue::configureCall { market: lending(), key, value: Bytes::from_static(b"5x") };
    let done = cage.execute_measured(venue, &note(lending()));
    assert_eq!((spent(&done), done.event::<Venue::Configured>().account), (U256::ZERO, at));
    // Neither counts as a rebalance, so one is still allowed.
    cage.execute_measured(venue, &Venue::enterCall { market: lending(), asset: usdc, amount: one_ether(), data: Bytes::new() });
    let strange = cage.chain.token("STRANGE", 18);
    assert_eq!(cage.execute_refused(venue, &flash(strange)), revert_data(PolicyCage::AssetNotApproved { asset: strange }));
}
