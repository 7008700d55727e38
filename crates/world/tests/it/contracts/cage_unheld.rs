//! Assets that the account did not have or that a call does not name: each way to bring one in or out, and that it is measured all the same.

use alloy_primitives::aliases::{U48, U160};
use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;

use crate::contracts::amm::{exact_in, maker};
use crate::contracts::cage::{Cage, cage, call, execute, lending, one, pay, usd};
use crate::contracts::harness::*;

/// A cage that has none of this asset, and whose account has allowed it to everybody it deals with.
fn without(asset: impl Fn(&Cage) -> Address) -> (Cage, Address) {
    let mut cage = cage();
    let (asset, at) = (asset(&cage), cage.at);
    let amount = cage.chain.balance(asset, at);
    cage.chain.send(OWNER, at, PolicyCage::withdrawCall { asset, amount, to: OWNER });
    assert_eq!(cage.chain.balance(asset, at), U256::ZERO);
    (cage, asset)
}

fn spent<T>(done: &Done<T>) -> U256 {
    done.events::<PolicyCage::Executed>().iter().fold(U256::ZERO, |sum, (_, event)| sum + event.spentUsd)
}

fn over_the_transaction(answer: &Bytes) {
    assert_eq!(split(answer).0, selector_of::<PolicyCage::SpendingLimitExceeded>());
    assert_eq!(U256::from_be_slice(&split(answer).1[..32]), U256::ZERO, "the limit of one transaction");
}

impl Cage {
    fn batch(&mut self, calls: Vec<PolicyCage::Call>) -> Result<Done<Vec<Bytes>>, Bytes> {
        let (operator, at) = (self.operator(), self.at);
        self.chain.try_send(operator, at, U256::ZERO, &PolicyCage::executeBatchCall { calls })
    }

    fn operator(&mut self) -> Address {
        self.chain.view(self.at, PolicyCage::operatorCall {})
    }

    fn try_run(&mut self, target: Address, data: &impl SolCall) -> Result<Done<Bytes>, Bytes> {
        let (operator, at) = (self.operator(), self.at);
        self.chain.try_send(operator, at, U256::ZERO, &execute(call(target, U256::ZERO, data)))
    }

    fn ran(&mut self, target: Address, data: &impl SolCall) -> Done<Bytes> {
        self.try_run(target, data).unwrap_or_else(|answer| panic!("{answer}"))
    }

    fn refused(&mut self, target: Address, data: &impl SolCall) -> Bytes {
        self.try_run(target, data).map(|_| ()).expect_err("it was not refused")
    }

    /// From now on each transfer of the hook token calls this as well.
    fn hooked(&mut self, target: Address, data: &impl SolCall) {
        self.chain.send(OWNER, self.hook, HookToken::setHookCall { target, data: data.abi_encode().into() });
    }

    fn value(&mut self) -> U256 {
        self.chain.view(self.at, PolicyCage::navCall {})
    }
}

#[test]
fn a_gift_is_worth_something_at_once_and_is_spent_like_anything_else() {
    let (mut cage, dai) = without(|cage| cage.dai);
    let before = cage.value();
    cage.chain.mint(dai, cage.at, units(20_000, 18));
    assert_eq!(cage.value(), before + usd(20_000));
    over_the_transaction(&cage.refused(dai, &pay(named("bob"), units(10_001, 18))));
    assert_eq!(spent(&cage.ran(dai, &pay(named("bob"), units(10_000, 18)))), usd(10_000));
}

#[test]
fn a_gift_counts_in_the_shares_and_highs_of_a_call_that_does_not_name_it() {
    let (mut cage, dai) = without(|cage| cage.dai);
    let (usdc, at, bob) = (cage.usdc, cage.at, named("bob"));
    cage.chain.mint(dai, at, units(100_000, 18));
    cage.ran(usdc, &pay(bob, one()));
    // Gone again without the cage: 100,000 of 355,000.
    cage.chain.send(at, dai, pay(bob, units(100_000, 18)));
    assert_eq!(split(&cage.refused(usdc, &pay(bob, one()))).0, selector_of::<PolicyCage::DrawdownExceeded>());
}

#[test]
fn what_a_bridge_brought_unasked_is_measured_when_it_leaves() {
    let (mut cage, dai) = without(|cage| cage.dai);
    let (venue, at) = (cage.venue, cage.at);
    let arrive = Venue::bridgeInCall { asset: dai, amount: units(20_000, 18), srcChain: one(), nonce: one(), to: at };
    cage.chain.send(OWNER, venue, arrive);
    let leave = |amount| Venue::bridgeOutCall { asset: dai, amount, dstChain: one(), to: at };
    over_the_transaction(&cage.refused(venue, &leave(units(10_001, 18))));
    assert_eq!(spent(&cage.ran(venue, &leave(units(10_000, 18)))), usd(10_000));
}

#[test]
fn what_is_pulled_in_the_middle_of_a_call_for_something_else_is_measured() {
    let (mut cage, dai) = without(|cage| cage.dai);
    let (hook, at, bob) = (cage.hook, cage.at, named("bob"));
    // By an allowance that never passed through the cage: the operator signed it.
    cage.chain.allow(at, dai, hook);
    cage.chain.mint(dai, at, units(30_000, 18));
    let pull = |amount| Token::transferFromCall { from: at, to: named("thief"), value: amount };
    cage.hooked(dai, &pull(units(10_000, 18)));
    over_the_transaction(&cage.refused(hook, &pay(bob, units(1, 18))));
    cage.hooked(dai, &pull(units(5_000, 18)));
    assert_eq!(spent(&cage.ran(hook, &pay(bob, units(1, 18)))), usd(5_001));
    assert_eq!(cage.chain.balance(dai, named("thief")), units(5_000, 18));
}

#[test]
fn what_is_approved_and_pulled_in_one_batch_is_measured() {
    let (mut cage, dai) = without(|cage| cage.dai);
    let (hook, permit2, at) = (cage.hook, cage.permit2, cage.at);
    cage.chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol: hook, kind: 1 });
    cage.chain.mint(dai, at, units(30_000, 18));
    let pull = |amount: u64| Permit2::transferFromCall { from: at, to: named("thief"), amount: U160::from(units(amount, 18)), token: dai };
    let calls = |cage: &Cage| {
        let spender = Permit2::approveCall { token: dai, spender: cage.hook, amount: U160::MAX, expiration: U48::MAX };
        vec![
            call(dai, U256::ZERO, &Token::approveCall { spender: permit2, value: U256::MAX }),
            call(permit2, U256::ZERO, &spender),
            call(hook, U256::ZERO, &pay(named("bob"), units(1, 18))),
        ]
    };
    cage.hooked(permit2, &pull(10_000));
    let batch = calls(&cage);
    over_the_transaction(&cage.batch(batch).map(|_| ()).expect_err("too much"));
    cage.hooked(permit2, &pull(5_000));
    let batch = calls(&cage);
    assert_eq!(spent(&cage.batch(batch).unwrap_or_else(|answer| panic!("{answer}"))), usd(5_001));
}

#[test]
fn pair_shares_that_were_given_and_are_burned_unnamed_are_measured() {
    let mut cage = cage();
    let (router, pair, usdc, weth, at) = (cage.router, cage.pair, cage.usdc, cage.weth, cage.at);
    let held = cage.chain.balance(pair, maker());
    let worth = |cage: &mut Cage, shares| cage.chain.view(at, PolicyCage::usdValueCall { asset: pair, amount: shares });
    let shares = held * usd(8_000) / worth(&mut cage, held);
    cage.chain.send(maker(), pair, pay(at, shares * U256::from(2)));
    let remove = |shares| AmmRouter::removeLiquidityCall {
        tokenA: usdc,
        tokenB: weth,
        shares,
        minA: U256::ZERO,
        minB: U256::ZERO,
        to: named("bob"),
        deadline: FOREVER,
    };
    over_the_transaction(&cage.refused(router, &remove(shares * U256::from(2))));
    let counted = spent(&cage.ran(router, &remove(shares)));
    assert!(counted > usd(7_999) && counted < usd(8_001), "{counted}");
}

#[test]
fn vault_shares_that_were_given_are_measured_when_they_leave() {
    let mut cage = cage();
    let (vault, usdc, at) = (cage.vault, cage.usdc, cage.at);
    cage.chain.allow(named("alice"), usdc, vault);
    cage.chain.send(named("alice"), vault, Vault::depositCall { assets: units(20_000, 6), receiver: at });
    let redeem = |dollars| Vault::withdrawCall { assets: units(dollars, 6), receiver: named("bob"), owner_: at };
    over_the_transaction(&cage.refused(vault, &redeem(10_001)));
    assert_eq!(spent(&cage.ran(vault, &redeem(9_000))), usd(9_000));
}

#[test]
fn a_vault_that_pays_what_the_account_never_had_is_no_loss() {
    let (mut cage, usdc) = without(|cage| cage.usdc);
    let (vault, at) = (cage.vault, cage.at);
    cage.chain.allow(named("alice"), usdc, vault);
    cage.chain.send(named("alice"), vault, Vault::depositCall { assets: units(9_000, 6), receiver: at });
    let leave = Vault::withdrawCall { assets: units(9_000, 6), receiver: at, owner_: at };
    assert_eq!(spent(&cage.ran(vault, &leave)), U256::ZERO);
}

#[test]
fn a_venue_that_pays_what_the_account_never_had_is_no_loss_and_has_its_limit() {
    let (mut cage, dai) = without(|cage| cage.dai);
    let (venue, usdc, at) = (cage.venue, cage.usdc, cage.at);
    cage.ran(venue, &Venue::enterCall { market: lending(), asset: usdc, amount: units(9_000, 6), data: Bytes::new() });
    let borrow = Venue::borrowCall { market: lending(), asset: dai, amount: units(6_000, 18), to: at };
    assert_eq!(spent(&cage.clone().ran(venue, &borrow)), U256::ZERO);
    cage.set(|limits| limits.maxConcentrationBps = 200);
    let answer = cage.refused(venue, &borrow);
    assert_eq!(split(&answer).0, selector_of::<PolicyCage::ConcentrationExceeded>());
    assert_eq!(Address::from_slice(&split(&answer).1[12..32]), dai);
}

#[test]
fn what_is_bought_for_the_first_time_counts_and_has_its_limit() {
    let (mut cage, dai) = without(|cage| cage.dai);
    let (router, usdc, at) = (cage.router, cage.usdc, cage.at);
    let buy = exact_in(units(5_000, 6), U256::ZERO, &[usdc, dai], at);
    assert_eq!(spent(&cage.clone().ran(router, &buy)), usd(5_000));
    cage.set(|limits| limits.maxConcentrationBps = 150);
    assert_eq!(split(&cage.refused(router, &buy)).0, selector_of::<PolicyCage::ConcentrationExceeded>());
}

#[test]
fn the_native_coin_is_looked_at_although_nobody_names_it() {
    let (mut cage, _) = without(|_| NATIVE);
    let (router, weth, usdc, at) = (cage.router, cage.weth, cage.usdc, cage.at);
    cage.clone().ran(weth, &Weth::withdrawCall { value: units(2, 18) });
    cage.clone().ran(router, &exact_in(units(3_000, 6), U256::ZERO, &[usdc, NATIVE], at));
    cage.set(|limits| limits.maxConcentrationBps = 100);
    let answer = cage.refused(weth, &Weth::withdrawCall { value: units(2, 18) });
    assert_eq!(answer[..4], selector_of::<PolicyCage::ConcentrationExceeded>());
    assert_eq!(Address::from_slice(&split(&answer).1[12..32]), NATIVE);
}

#[test]
fn what_arrives_in_one_call_of_a_batch_is_measured_when_it_leaves_in_the_next() {
    let (mut cage, dai) = without(|cage| cage.dai);
    let (hook, venue, at, bob) = (cage.hook, cage.venue, cage.at, named("bob"));
    cage.chain.mint(dai, OWNER, units(20_000, 18));
    cage.chain.allow(OWNER, dai, venue);
    let reward = Venue::fundRewardCall { account: at, market: lending(), asset: dai, amount: units(10_001, 18) };
    cage.chain.send(OWNER, venue, reward);
    let claim = call(venue, U256::ZERO, &Venue::claimCall { market: lending(), asset: dai, to: at });
    let give = |amount| call(dai, U256::ZERO, &pay(bob, amount));
    over_the_transaction(&cage.batch(vec![claim.clone(), give(units(10_001, 18))]).map(|_| ()).expect_err("too much"));
    assert_eq!(spent(&cage.batch(vec![claim, give(units(10_000, 18))]).unwrap_or_else(|answer| panic!("{answer}"))), usd(10_000));

    // The same with a gift in the middle of the first call, which the first call does not name.
    let (mut cage, dai) = without(|cage| cage.dai);
    cage.chain.mint(dai, hook, units(20_000, 18));
    cage.hooked(dai, &pay(at, units(10_000, 18)));
    let first = call(hook, U256::ZERO, &pay(bob, units(1, 18)));
    over_the_transaction(&cage.clone().batch(vec![first.clone(), give(units(10_000, 18))]).map(|_| ()).expect_err("too much"));
    assert_eq!(spent(&cage.batch(vec![first, give(units(9_000, 18))]).unwrap_or_else(|answer| panic!("{answer}"))), usd(9_001));
}

#[test]
fn a_gift_in_the_middle_of_a_call_makes_up_for_nothing() {
    let (mut cage, dai) = without(|cage| cage.dai);
    let (hook, usdc, at, bob) = (cage.hook, cage.usdc, cage.at, named("bob"));
    cage.chain.mint(dai, hook, units(500, 18));
    cage.hooked(dai, &pay(at, units(500, 18)));
    let before = cage.value();
    assert_eq!(spent(&cage.ran(hook, &pay(bob, units(500, 18)))), usd(500));
    assert_eq!(cage.value(), before);
    cage.hooked(NATIVE, &pay(at, one()));
    assert_eq!(spent(&cage.ran(usdc, &pay(bob, units(7, 6)))), usd(7));
}

#[test]
fn what_cannot_be_read_is_followed_by_a_look_at_everything() {
    let (mut cage, dai) = without(|cage| cage.dai);
    let (router, usdc, at) = (cage.router, cage.usdc, cage.at);
    // A router of which the cage knows nothing: paths are words like any other.
    cage.chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol: router, kind: 1 });
    cage.chain.send(OWNER, at, PolicyCage::setAllowArbitraryCalldataCall { allowed: true });
    let buy = exact_in(units(5_000, 6), U256::ZERO, &[usdc, dai], at);
    assert_eq!(spent(&cage.clone().ran(router, &buy)), usd(5_000));
    cage.set(|limits| limits.maxConcentrationBps = 150);
    assert_eq!(split(&cage.refused(router, &buy)).0, selector_of::<PolicyCage::ConcentrationExceeded>());
}

#[test]
fn an_asset_approved_when_the_account_has_it_already_is_measured() {
    let mut cage = cage();
    let (at, bob) = (cage.at, named("bob"));
    let late = cage.chain.token("LATE", 18);
    cage.chain.mint(late, at, units(20_000, 18));
    let before = cage.value();
    let approve = PolicyCage::setAssetCall { asset: late, kind: 1, decimals: 18, base: false, priceUsd8: 100_000_000 };
    cage.chain.send(OWNER, at, approve);
    assert_eq!(cage.value(), before + usd(20_000));
    over_the_transaction(&cage.refused(late, &pay(bob, units(10_001, 18))));
}

#[test]
fn a_loan_for_the_length_of_a_call_costs_nothing_and_configuring_moves_nothing() {
    let mut cage = cage();
    let (venue, usdc, at) = (cage.venue, cage.usdc, cage.at);
    cage.set(|limits| limits.minRebalanceInterval = 3_600);
    let flash = |asset| Venue::flashCall { market: lending(), asset, amount: units(500_000, 6), data: Bytes::new() };
    let done = cage.ran(venue, &flash(usdc));
    assert_eq!((spent(&done), done.event::<Venue::Flashed>().account), (U256::ZERO, at));
    let note = |key| Venue::configureCall { market: lending(), key, value: Bytes::from_static(b"5x") };
    let done = cage.ran(venue, &note(lending()));
    assert_eq!((spent(&done), done.event::<Venue::Configured>().account), (U256::ZERO, at));
    // Neither was a rebalance, so one is still allowed.
    cage.ran(venue, &Venue::enterCall { market: lending(), asset: usdc, amount: one(), data: Bytes::new() });
    let strange = cage.chain.token("STRANGE", 18);
    assert_eq!(cage.refused(venue, &flash(strange)), error(PolicyCage::AssetNotApproved { asset: strange }));
}
