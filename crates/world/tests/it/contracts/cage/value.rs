//! Valuation of calls: trades, shares, positions, debts and losses.

use super::*;

#[test]
fn cage_allows_fair_swap_and_reverts_unfair_one() {
    let mut cage = cage();
    let (router, usdc, weth, at) = (cage.router, cage.usdc, cage.weth, cage.at);
    let swap = |to| exact_in(units(3_000, 6), U256::ZERO, &[usdc, weth], to);
    let done = cage.execute_ok(router, &swap(at));
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(3_000));
    // To another recipient: a payment at a fair price.
    cage.execute_ok(router, &swap(address_named("bob")));
    assert!(cage.chain.balance(weth, address_named("bob")) > units(99, 16));
    cage.push_price(30_000);
    for to in [at, address_named("bob")] {
        let answer = cage.execute_reverted(router, &swap(to));
        let (selector, rest) = split_revert(&answer);
        assert_eq!(selector, selector_of::<PolicyCage::SlippageExceeded>());
        assert!(U256::from_be_slice(&rest[..32]) > U256::from(200) && U256::from_be_slice(&rest[..32]) < U256::from(300));
        assert_eq!(U256::from_be_slice(&rest[32..]), U256::from(100));
    }
    cage.set_limits(|limits| limits.maxSlippageBps = 300);
    cage.execute_ok(router, &swap(at));
    // In the other direction the same price is a gain.
    cage.execute_ok(router, &exact_in(units(1, 18), U256::ZERO, &[weth, usdc], at));
    let native = exact_in(units(1, 18), U256::ZERO, &[NATIVE, usdc], at);
    cage.chain.send(operator(), at, execute(call(router, units(1, 18), &native)));
    cage.execute_ok(router, &exact_in(units(3_000, 6), U256::ZERO, &[usdc, NATIVE], at));
}

#[test]
fn cage_allows_fair_liquidity_changes() {
    let mut cage = cage();
    let (router, usdc, weth, pair, at) = (cage.router, cage.usdc, cage.weth, cage.pair, cage.at);
    let before = cage.nav();
    let add = AmmRouter::addLiquidityCall {
        tokenA: usdc,
        tokenB: weth,
        desiredA: units(3_000, 6),
        desiredB: units(1, 18),
        minA: U256::ZERO,
        minB: U256::ZERO,
        to: at,
        deadline: FOREVER,
    };
    let done = cage.execute_ok(router, &add);
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(6_000));
    let after = cage.nav();
    assert!(before - after < usd(1) / U256::from(100), "{before} {after}");
    let shares = cage.chain.balance(pair, at);
    let remove = AmmRouter::removeLiquidityCall {
        tokenA: usdc,
        tokenB: weth,
        shares,
        minA: U256::ZERO,
        minB: U256::ZERO,
        to: at,
        deadline: FOREVER,
    };
    let done = cage.execute_ok(router, &remove);
    assert!(done.event::<PolicyCage::Executed>().spentUsd < usd(1), "returning own funds spends nothing");
    // Trading against the pair does not raise the value of its shares.
    cage.execute_ok(router, &add);
    let before = cage.nav();
    cage.push_price(1_000_000);
    let after = cage.nav();
    assert!(after - before < usd(20), "{before} {after}");
}

#[test]
fn vault_round_trip_spends_only_the_deposit() {
    let mut cage = cage();
    let (usdc, vault, at, bob) = (cage.usdc, cage.vault, cage.at, address_named("bob"));
    let done = cage.execute_ok(vault, &Vault::depositCall { assets: units(9_000, 6), receiver: at });
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(9_000));
    assert_eq!(cage.nav(), usd(305_000));
    let done = cage.execute_ok(vault, &Vault::withdrawCall { assets: units(4_000, 6), receiver: at, owner_: at });
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, U256::ZERO);
    // A withdrawal to another receiver is a payment, and so is a share transfer or a deposit for another owner.
    let done = cage.execute_ok(vault, &Vault::withdrawCall { assets: units(1_000, 6), receiver: bob, owner_: at });
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(1_000));
    let done = cage.execute_ok(vault, &pay(bob, units(500, 9)));
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(500));
    let done = cage.execute_ok(vault, &Vault::depositCall { assets: units(2_000, 6), receiver: bob });
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(2_000));
    assert_eq!(cage.chain.balance(usdc, at), units(193_000, 6));
    assert_eq!(cage.nav(), usd(305_000 - 3_500));
}

#[test]
fn venue_outflow_counts_as_spent() {
    let mut cage = cage();
    let (usdc, dai, venue, at, bob) = (cage.usdc, cage.dai, cage.venue, cage.at, address_named("bob"));
    let spent = |done: TxResult<Bytes>| done.event::<PolicyCage::Executed>().spentUsd;
    let enter = Venue::enterCall { market: lending(), asset: usdc, amount: units(9_000, 6), data: Bytes::new() };
    assert_eq!(spent(cage.execute_ok(venue, &enter)), usd(9_000));
    assert_eq!(cage.nav(), usd(305_000));
    let exit = |amount, to| Venue::exitCall { market: lending(), asset: usdc, amount, to };
    assert_eq!(spent(cage.execute_ok(venue, &exit(units(1_000, 6), at))), U256::ZERO);
    assert_eq!(spent(cage.execute_ok(venue, &exit(units(1_000, 6), bob))), usd(1_000));
    let borrow = |amount, to| Venue::borrowCall { market: lending(), asset: dai, amount, to };
    assert_eq!(spent(cage.execute_ok(venue, &borrow(units(1_000, 18), at))), U256::ZERO);
    assert_eq!(spent(cage.execute_ok(venue, &borrow(units(1_000, 18), bob))), usd(1_000));
    assert_eq!(spent(cage.execute_ok(venue, &Venue::repayCall { market: lending(), asset: dai, amount: U256::MAX })), usd(2_000));
    let convert =
        Venue::convertCall { market: lending(), assetIn: usdc, amountIn: units(500, 6), assetOut: dai, minOut: one_ether(), to: at };
    assert_eq!(spent(cage.execute_ok(venue, &convert)), usd(500));
    cage.chain.mint(usdc, OWNER, units(10, 6));
    cage.chain.allow(OWNER, usdc, venue);
    cage.chain.send(OWNER, venue, Venue::fundRewardCall { account: at, market: lending(), asset: usdc, amount: units(10, 6) });
    assert_eq!(spent(cage.execute_ok(venue, &Venue::claimCall { market: lending(), asset: usdc, to: at })), U256::ZERO);
    let bridge = Venue::bridgeOutCall { asset: usdc, amount: units(300, 6), dstChain: U256::from(10), to: at };
    assert_eq!(spent(cage.execute_ok(venue, &bridge)), usd(300));
    assert_eq!(
        cage.execute_reverted(venue, &Venue::setPriceCall { asset: dai, priceUsd8: 1, decimals: 18 }),
        revert_data(PolicyCage::SelectorNotAllowed { selector: Venue::setPriceCall::SELECTOR.into() })
    );
}

/// A venue that is approved again still holds the account's supply and debt.
#[test]
fn reapproved_venue_is_still_valued() {
    let mut cage = cage();
    let (usdc, dai, venue, at) = (cage.usdc, cage.dai, cage.venue, cage.at);
    cage.execute_ok(venue, &Venue::enterCall { market: lending(), asset: usdc, amount: units(9_000, 6), data: Bytes::new() });
    cage.execute_ok(venue, &Venue::borrowCall { market: lending(), asset: dai, amount: units(1_000, 18), to: at });
    let before = cage.nav();
    cage.chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol: venue, kind: 0 });
    assert_eq!(cage.nav(), before - usd(8_000));
    cage.chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol: venue, kind: VENUE });
    assert_eq!(cage.nav(), before);
}

#[test]
fn borrow_respects_min_collateral_ratio() {
    let mut cage = cage();
    let (usdc, dai, venue, at) = (cage.usdc, cage.dai, cage.venue, cage.at);
    cage.execute_ok(venue, &Venue::enterCall { market: lending(), asset: usdc, amount: units(10_000, 6), data: Bytes::new() });
    let borrow = |amount| Venue::borrowCall { market: lending(), asset: dai, amount, to: at };
    // The venue requires 110 % collateral, the cage 125 %.
    assert_eq!(
        cage.execute_reverted(venue, &borrow(units(8_001, 18))),
        revert_data(PolicyCage::CollateralRatioTooLow { bps: U256::from(12_498), min: U256::from(12_500) })
    );
    cage.execute_ok(venue, &borrow(units(8_000, 18)));
    let check = cage.chain.view(at, PolicyCage::checkCollateralRatioCall { venue });
    assert_eq!((check.ok, check.bps), (true, U256::from(12_500)));
    // Below the ratio after a price change: repaying is allowed, withdrawing is not.
    cage.chain.send(OWNER, at, PolicyCage::setAssetCall { asset: dai, kind: PLAIN, decimals: 18, base: false, priceUsd8: 105_000_000 });
    assert!(!cage.chain.view(at, PolicyCage::checkCollateralRatioCall { venue }).ok);
    let exit = Venue::exitCall { market: lending(), asset: usdc, amount: units(1, 6), to: at };
    let (selector, _) = split_revert(&cage.execute_reverted(venue, &exit)).to_owned();
    assert_eq!(selector, selector_of::<PolicyCage::CollateralRatioTooLow>());
    cage.execute_ok(venue, &Venue::repayCall { market: lending(), asset: dai, amount: units(100, 18) });
}

#[test]
fn concentration_and_position_limits_hold() {
    let mut cage = cage();
    let (usdc, dai, router, vault, venue, at) = (cage.usdc, cage.dai, cage.router, cage.vault, cage.venue, cage.at);
    cage.set_limits(|limits| limits.maxConcentrationBps = 1_700);
    let buy = |amount| exact_in(units(amount, 6), U256::ZERO, &[usdc, dai], at);
    cage.execute_ok(router, &buy(1_000));
    let answer = cage.execute_reverted(router, &buy(2_000));
    let (selector, rest) = split_revert(&answer);
    assert_eq!(selector, selector_of::<PolicyCage::ConcentrationExceeded>());
    assert_eq!(Address::from_slice(&rest[12..32]), dai);
    // Selling is allowed even above the limit.
    cage.set_limits(|limits| limits.maxConcentrationBps = 500);
    let check = cage.chain.view(at, PolicyCage::checkConcentrationCall { asset: dai });
    assert_eq!((check.ok, check.bps), (false, U256::from(1_672)));
    assert!(cage.chain.view(at, PolicyCage::checkConcentrationCall { asset: usdc }).ok, "cash has no concentration limit");
    cage.execute_ok(router, &exact_in(units(1_000, 18), U256::ZERO, &[dai, usdc], at));

    cage.set_limits(|limits| limits.maxPositionBps = 300);
    let deposit = |amount| Vault::depositCall { assets: units(amount, 6), receiver: at };
    cage.execute_ok(vault, &deposit(9_000));
    let answer = cage.execute_reverted(vault, &deposit(1_000));
    assert_eq!(split_revert(&answer).0, selector_of::<PolicyCage::PositionExceeded>());
    let enter = |amount| Venue::enterCall { market: lending(), asset: usdc, amount: units(amount, 6), data: Bytes::new() };
    cage.execute_ok(venue, &enter(9_000));
    let answer = cage.execute_reverted(venue, &enter(1_000));
    assert_eq!(split_revert(&answer).0, selector_of::<PolicyCage::PositionExceeded>());
    assert_eq!(Address::from_slice(&split_revert(&answer).1[12..32]), venue);
}

#[test]
fn drawdown_blocks_operator_until_owner_acknowledges() {
    let mut cage = cage();
    let (usdc, weth, at, bob) = (cage.usdc, cage.weth, cage.at, address_named("bob"));
    // Payments do not count as losses.
    for _ in 0..5 {
        cage.execute_ok(usdc, &pay(bob, units(10_000, 6)));
    }
    assert_eq!(cage.chain.view(at, PolicyCage::checkDrawdownCall {}).bps, U256::ZERO);
    // 255,000 left, 30,000 of it in WETH, which loses half: 5.88 %.
    let price = |usd: u128| PolicyCage::setAssetCall { asset: weth, kind: PLAIN, decimals: 18, base: false, priceUsd8: usd * 100_000_000 };
    cage.chain.send(OWNER, at, price(1_500));
    let check = cage.chain.view(at, PolicyCage::checkDrawdownCall {});
    assert_eq!((check.ok, check.bps), (true, U256::from(588)));
    cage.set_limits(|limits| limits.maxDrawdownBps = 500);
    cage.chain.send(OWNER, at, PolicyCage::startSessionCall {});
    let stopped = revert_data(PolicyCage::DrawdownExceeded { bps: U256::from(588), max: U256::from(500) });
    let approve = Token::approveCall { spender: cage.router, value: one_ether() };
    assert_eq!(cage.execute_reverted(usdc, &approve), stopped);
    // The block does not expire.
    cage.chain.now += 2 * DAY;
    assert_eq!(cage.execute_reverted(usdc, &approve), stopped);
    assert_eq!(
        cage.chain.expect_revert(operator(), at, PolicyCage::acknowledgeDrawdownCall {}),
        revert_data(PolicyCage::NotOwner { caller: operator() })
    );
    cage.chain.send(OWNER, at, PolicyCage::acknowledgeDrawdownCall {});
    cage.execute_ok(usdc, &approve);
    // A loss below the limit leaves the window a day after it was first seen.
    cage.chain.send(OWNER, at, price(1_000));
    cage.execute_ok(usdc, &approve);
    cage.chain.send(OWNER, at, price(500));
    cage.execute_ok(usdc, &approve);
    cage.chain.send(OWNER, at, price(100));
    assert_eq!(split_revert(&cage.execute_reverted(usdc, &approve)).0, selector_of::<PolicyCage::DrawdownExceeded>());
    cage.chain.now += DAY;
    cage.execute_ok(usdc, &approve);
    assert!(cage.chain.view(at, PolicyCage::checkDrawdownCall {}).bps > U256::ZERO);
}

#[test]
fn outflow_past_the_cage_shows_as_drawdown() {
    let mut cage = cage();
    let (usdc, at) = (cage.usdc, cage.at);
    cage.execute_ok(usdc, &pay(address_named("bob"), one_ether()));
    cage.chain.send(at, usdc, pay(attacker(), units(60_000, 6)));
    assert_eq!(
        split_revert(&cage.execute_reverted(usdc, &pay(address_named("bob"), one_ether()))).0,
        selector_of::<PolicyCage::DrawdownExceeded>()
    );
    // A withdrawal by the owner is not a loss.
    cage.chain.send(OWNER, at, PolicyCage::acknowledgeDrawdownCall {});
    cage.execute_ok(usdc, &pay(address_named("bob"), one_ether()));
    let done = cage.chain.send(OWNER, at, PolicyCage::withdrawCall { asset: usdc, amount: units(60_000, 6), to: OWNER });
    assert_eq!(done.event::<PolicyCage::Withdrawn>().amount, units(60_000, 6));
    cage.chain.send(OWNER, at, PolicyCage::withdrawCall { asset: NATIVE, amount: units(1, 18), to: OWNER });
    cage.execute_ok(usdc, &pay(address_named("bob"), one_ether()));
}

#[test]
fn wrap_and_unwrap_ether_are_fair_trades() {
    let mut cage = cage();
    let (weth, at) = (cage.weth, cage.at);
    let wrap = execute(call(weth, units(1, 18), &Weth::depositCall {}));
    let done = cage.chain.send(operator(), at, wrap);
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(3_000));
    let done = cage.execute_ok(weth, &Weth::withdrawCall { value: units(2, 18) });
    assert_eq!(done.event::<PolicyCage::Received>().amount, units(2, 18));
    assert_eq!((cage.chain.ether(at), cage.chain.balance(weth, at)), (units(6, 18), units(9, 18)));
}

#[test]
fn cage_is_not_fooled_by_lying_token() {
    let mut cage = cage();
    let at = cage.at;
    let lie = cage.chain.token_of("LyingToken", "LIE", 18);
    cage.chain.mint(lie, at, units(100, 18));
    let asset = PolicyCage::setAssetCall { asset: lie, kind: PLAIN, decimals: 18, base: false, priceUsd8: 100_000_000 };
    cage.chain.send(OWNER, at, asset);
    cage.chain.send(OWNER, lie, LyingToken::setModeCall { mode_: 3 });
    let done = cage.execute_ok(lie, &pay(address_named("bob"), units(50, 18)));
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, U256::ZERO);
    assert_eq!(done.events::<Token::Transfer>().len(), 1);
    assert_eq!(cage.chain.balance(lie, at), units(100, 18));
}

#[test]
fn asset_value_overflow_reverts() {
    let mut cage = cage();
    let (at, usdc) = (cage.at, cage.usdc);
    let vast = cage.chain.token_of("Token", "VAST", 0);
    let asset = PolicyCage::setAssetCall { asset: vast, kind: PLAIN, decimals: 0, base: true, priceUsd8: 1 };
    cage.chain.send(OWNER, at, asset);
    for amount in [U256::MAX, U256::MAX >> 1] {
        let held = cage.chain.balance(vast, at);
        cage.chain.send(OWNER, vast, Token::burnCall { from: at, value: held });
        cage.chain.mint(vast, at, amount);
        assert_eq!(cage.execute_reverted(usdc, &pay(address_named("bob"), one_ether())), revert_data(PolicyCage::ValueOutOfRange {}));
        assert_eq!(cage.chain.expect_revert(address_named("bob"), at, PolicyCage::navCall {}), revert_data(PolicyCage::ValueOutOfRange {}));
    }
}
