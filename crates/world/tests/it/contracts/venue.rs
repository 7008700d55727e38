//! Venue: positions, loans, rewards, conversions and bridging, with real balances.

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::SolCall;
use proptest::prelude::*;

use crate::contracts::harness::*;

struct VenueFixture {
    chain: TestChain,
    venue: Address,
    usdc: Address,
    wbtc: Address,
}

fn lending() -> B256 {
    keccak256("lending")
}

fn staking() -> B256 {
    keccak256("staking")
}

/// Lending market at 150 % collateral and a market without loans; USDC at 1, WBTC at 60,000, ether at 3,000 USD.
fn setup() -> VenueFixture {
    let mut chain = TestChain::new();
    let (usdc, wbtc) = (chain.token("USDC", 6), chain.token("WBTC", 8));
    let venue = address_named("venue");
    chain.etch("Venue", venue);
    chain.send(OWNER, venue, Venue::initCall { owner_: OWNER });
    chain.send(OWNER, venue, Venue::setMarketCall { market: lending(), open: true, minRatioBps: 15_000 });
    chain.send(OWNER, venue, Venue::setMarketCall { market: staking(), open: true, minRatioBps: 0 });
    for (asset, price, decimals) in [(usdc, 1, 6), (wbtc, 60_000, 8), (NATIVE, 3_000, 18)] {
        chain.send(OWNER, venue, Venue::setPriceCall { asset, priceUsd8: price * 100_000_000, decimals });
    }
    for who in [address_named("alice"), OWNER] {
        chain.give_ether(who, units(1_000, 18));
        for (token, amount) in [(usdc, units(1_000_000, 6)), (wbtc, units(100, 8))] {
            chain.mint(token, who, amount);
            chain.allow(who, token, venue);
        }
    }
    VenueFixture { chain, venue, usdc, wbtc }
}

fn enter(market: B256, asset: Address, amount: U256) -> Venue::enterCall {
    Venue::enterCall { market, asset, amount, data: Bytes::from_static(b"note") }
}

fn exit(market: B256, asset: Address, amount: U256, to: Address) -> Venue::exitCall {
    Venue::exitCall { market, asset, amount, to }
}

fn borrow(market: B256, asset: Address, amount: U256, to: Address) -> Venue::borrowCall {
    Venue::borrowCall { market, asset, amount, to }
}

#[test]
fn configure_stores_settings_in_an_open_market() {
    let VenueFixture { mut chain, venue, .. } = setup();
    let (alice, key, value) = (address_named("alice"), keccak256("leverage"), Bytes::from_static(b"5x"));
    let done = chain.send(alice, venue, Venue::configureCall { market: lending(), key, value: value.clone() });
    let event = done.event::<Venue::Configured>();
    assert_eq!((event.account, event.market, event.key, event.value), (alice, lending(), key, value.clone()));
    let noted = |account| Venue::settingsCall { _0: account, _1: lending(), _2: key };
    assert_eq!(chain.view(venue, noted(alice)), keccak256(&value));
    assert_eq!(chain.view(venue, noted(OWNER)), B256::ZERO);
    let closed = keccak256("nowhere");
    assert_eq!(
        chain.expect_revert(alice, venue, Venue::configureCall { market: closed, key, value }),
        revert_data(Venue::UnknownMarket { market: closed })
    );
}

#[test]
fn flash_loan_must_be_repaid_in_the_call() {
    let VenueFixture { mut chain, venue, usdc, wbtc } = setup();
    let (alice, bob) = (address_named("alice"), address_named("bob"));
    chain.send(OWNER, venue, Venue::fundCall { asset: usdc, amount: units(1_000, 6) });
    let flash = |asset, amount| Venue::flashCall { market: lending(), asset, amount, data: Bytes::new() };
    let had = chain.balance(usdc, alice);
    let done = chain.send(alice, venue, flash(usdc, units(1_000, 6)));
    let event = done.event::<Venue::Flashed>();
    assert_eq!((event.account, event.asset, event.amount), (alice, usdc, units(1_000, 6)));
    assert_eq!(done.events::<Token::Transfer>().len(), 2, "loan and repayment");
    assert_eq!((chain.balance(usdc, alice), chain.balance(usdc, venue)), (had, units(1_000, 6)));
    let (available, needed) = (units(1_000, 6), units(1_001, 6));
    assert_eq!(
        chain.expect_revert(alice, venue, flash(usdc, needed)),
        revert_data(Venue::InsufficientLiquidity { asset: usdc, available, needed })
    );
    assert_eq!(chain.expect_revert(alice, venue, flash(usdc, U256::ZERO)), revert_data(Venue::NothingMoved {}));
    // Repayment fails without an allowance, and for the native coin without a callback.
    let refusal = Token::InsufficientAllowance { spender: venue, allowance: U256::ZERO, needed: units(1, 6) };
    assert_eq!(chain.expect_revert(bob, venue, flash(usdc, units(1, 6))), revert_data(refusal));
    chain.send_with_value(OWNER, venue, units(1, 18), Venue::fundCall { asset: NATIVE, amount: units(1, 18) });
    chain.expect_revert(alice, venue, flash(NATIVE, units(1, 18)));
    let unknown = Venue::flashCall { market: keccak256("nowhere"), asset: wbtc, amount: units(1, 8), data: Bytes::new() };
    assert_eq!(chain.expect_revert(alice, venue, unknown), revert_data(Venue::UnknownMarket { market: keccak256("nowhere") }));
}

#[test]
fn position_enter_and_exit() {
    let VenueFixture { mut chain, venue, usdc, .. } = setup();
    let (alice, bob) = (address_named("alice"), address_named("bob"));
    let event = chain.send(alice, venue, enter(staking(), usdc, units(100, 6))).event::<Venue::Entered>();
    assert_eq!((event.account, event.market, event.asset, event.amount), (alice, staking(), usdc, units(100, 6)));
    assert_eq!(event.data, Bytes::from_static(b"note"));
    chain.send(alice, venue, enter(staking(), usdc, units(20, 6)));
    assert_eq!(chain.view(venue, Venue::suppliedCall { account: alice, market: staking(), asset: usdc }), units(120, 6));
    let event = chain.send(alice, venue, exit(staking(), usdc, units(50, 6), bob)).event::<Venue::Exited>();
    assert_eq!((event.account, event.amount, event.to), (alice, units(50, 6), bob));
    assert_eq!(chain.balance(usdc, bob), units(50, 6));
    assert_eq!(chain.send(alice, venue, exit(staking(), usdc, U256::MAX, bob)).value, units(70, 6));
    assert_eq!(
        chain.expect_revert(alice, venue, exit(staking(), usdc, U256::from(1), bob)),
        revert_data(Venue::PositionTooSmall { held: U256::ZERO, needed: U256::from(1) })
    );
    chain.send_with_value(alice, venue, units(2, 18), enter(staking(), NATIVE, units(2, 18)));
    let held = chain.view(venue, Venue::holdingsCall { account: alice });
    assert_eq!(held.iter().map(|held| (held.asset, held.supplied)).collect::<Vec<_>>(), [(usdc, U256::ZERO), (NATIVE, units(2, 18))]);
    chain.send(alice, venue, exit(staking(), NATIVE, units(2, 18), bob));
    assert_eq!(chain.ether(bob), units(2, 18));
}

#[test]
fn borrow_requires_collateral() {
    let VenueFixture { mut chain, venue, usdc, wbtc } = setup();
    let alice = address_named("alice");
    chain.send(OWNER, venue, Venue::fundCall { asset: usdc, amount: units(100_000, 6) });
    chain.send(alice, venue, enter(lending(), wbtc, units(1, 8)));
    let max = chain.view(venue, Venue::healthFactorCall { account: alice, market: lending() });
    assert_eq!(max, U256::MAX);
    let had = chain.balance(usdc, alice);
    assert_eq!(
        chain.expect_revert(alice, venue, borrow(lending(), usdc, units(40_000, 6) + U256::from(1_000_000), alice)),
        revert_data(Venue::CollateralRatioTooLow { ratioBps: U256::from(14_999), minimumBps: U256::from(15_000) })
    );
    let event = chain.send(alice, venue, borrow(lending(), usdc, units(40_000, 6), alice)).event::<Venue::Borrowed>();
    assert_eq!((event.account, event.asset, event.amount), (alice, usdc, units(40_000, 6)));
    assert_eq!(chain.balance(usdc, alice) - had, units(40_000, 6));
    assert_eq!(chain.view(venue, Venue::healthFactorCall { account: alice, market: lending() }), units(1, 18));
    assert_eq!(chain.view(venue, Venue::collateralRatioCall { account: alice, market: lending() }), U256::from(15_000));
    let (selector, _) = split_revert(&chain.expect_revert(alice, venue, exit(lending(), wbtc, units(1, 6), alice))).to_owned();
    assert_eq!(selector, selector_of::<Venue::CollateralRatioTooLow>());

    // After a price drop, withdrawals fail and repayments succeed.
    chain.send(OWNER, venue, Venue::setPriceCall { asset: wbtc, priceUsd8: 50_000 * 100_000_000, decimals: 8 });
    assert!(chain.view(venue, Venue::healthFactorCall { account: alice, market: lending() }) < units(1, 18));
    chain.send(alice, venue, Venue::repayCall { market: lending(), asset: usdc, amount: units(10_000, 6) });
    assert_eq!(chain.view(venue, Venue::borrowedCall { account: alice, market: lending(), asset: usdc }), units(30_000, 6));
    let done = chain.send(alice, venue, Venue::repayCall { market: lending(), asset: usdc, amount: U256::MAX });
    assert_eq!((done.value, done.event::<Venue::Repaid>().amount), (units(30_000, 6), units(30_000, 6)));
    chain.send(alice, venue, exit(lending(), wbtc, U256::MAX, alice));
}

#[test]
fn rewards_are_paid_once_up_to_funding() {
    let VenueFixture { mut chain, venue, usdc, .. } = setup();
    let (alice, bob) = (address_named("alice"), address_named("bob"));
    let claim = || Venue::claimCall { market: staking(), asset: usdc, to: bob };
    assert_eq!(chain.expect_revert(alice, venue, claim()), revert_data(Venue::NothingToClaim {}));
    let fund = Venue::fundRewardCall { account: alice, market: staking(), asset: usdc, amount: units(7, 6) };
    assert_eq!(chain.expect_revert(alice, venue, fund.clone()), revert_data(Venue::NotOwner { caller: alice }));
    chain.send(OWNER, venue, fund);
    assert_eq!(chain.view(venue, Venue::claimableCall { account: alice, market: staking(), asset: usdc }), units(7, 6));
    let event = chain.send(alice, venue, claim()).event::<Venue::Claimed>();
    assert_eq!((event.account, event.amount, event.to, chain.balance(usdc, bob)), (alice, units(7, 6), bob, units(7, 6)));
    assert_eq!(chain.expect_revert(alice, venue, claim()), revert_data(Venue::NothingToClaim {}));
}

#[test]
fn convert_uses_owner_prices() {
    let VenueFixture { mut chain, venue, usdc, wbtc } = setup();
    let alice = address_named("alice");
    chain.send(OWNER, venue, Venue::fundCall { asset: usdc, amount: units(100_000, 6) });
    let convert =
        |amount, out, min| Venue::convertCall { market: staking(), assetIn: wbtc, amountIn: amount, assetOut: out, minOut: min, to: alice };
    assert_eq!(
        chain.expect_revert(alice, venue, convert(units(1, 8), usdc, units(60_001, 6))),
        revert_data(Venue::TooLittleReceived { received: units(60_000, 6), minimum: units(60_001, 6) })
    );
    let done = chain.send(alice, venue, convert(units(1, 8), usdc, units(60_000, 6)));
    let event = done.event::<Venue::Converted>();
    assert_eq!((done.value, event.amountIn, event.amountOut), (units(60_000, 6), units(1, 8), units(60_000, 6)));
    assert_eq!(
        chain.expect_revert(alice, venue, convert(units(1, 8), usdc, U256::ZERO)),
        revert_data(Venue::InsufficientLiquidity { asset: usdc, available: units(40_000, 6), needed: units(60_000, 6) })
    );
    assert_eq!(
        chain.expect_revert(alice, venue, convert(units(1, 8), alice, U256::ZERO)),
        revert_data(Venue::PriceMissing { asset: alice })
    );
    let unpriced = Venue::convertCall { assetIn: alice, ..convert(units(1, 8), usdc, U256::ZERO) };
    assert_eq!(chain.expect_revert(alice, venue, unpriced), revert_data(Venue::PriceMissing { asset: alice }));
    assert_eq!(chain.expect_revert(alice, venue, convert(U256::ZERO, usdc, U256::ZERO)), revert_data(Venue::NothingMoved {}));
}

#[test]
fn bridge_locks_and_releases_once() {
    let VenueFixture { mut chain, venue, usdc, .. } = setup();
    let (alice, bob) = (address_named("alice"), address_named("bob"));
    let out = Venue::bridgeOutCall { asset: usdc, amount: units(5, 6), dstChain: U256::from(10), to: bob };
    let done = chain.send(alice, venue, out.clone());
    let event = done.event::<Venue::Bridged>();
    assert_eq!((event.account, event.asset, event.amount, event.dstChain, event.to), (alice, usdc, units(5, 6), U256::from(10), bob));
    assert_eq!((event.nonce, chain.balance(usdc, venue)), (U256::from(1), units(5, 6)));
    assert_eq!(
        chain.expect_revert(alice, venue, Venue::bridgeOutCall { to: Address::ZERO, ..out.clone() }),
        revert_data(Venue::InvalidRecipient { to: Address::ZERO })
    );
    assert_eq!(chain.expect_revert(alice, venue, Venue::bridgeOutCall { amount: U256::ZERO, ..out }), revert_data(Venue::NothingMoved {}));
    let back = |amount| Venue::bridgeInCall { asset: usdc, amount, srcChain: U256::from(10), nonce: U256::from(9), to: bob };
    assert_eq!(chain.expect_revert(alice, venue, back(units(1, 6))), revert_data(Venue::NotOwner { caller: alice }));
    assert_eq!(
        chain.expect_revert(OWNER, venue, back(units(6, 6))),
        revert_data(Venue::InsufficientLiquidity { asset: usdc, available: units(5, 6), needed: units(6, 6) })
    );
    assert_eq!(chain.send(OWNER, venue, back(units(2, 6))).event::<Venue::Released>().amount, units(2, 6));
    assert_eq!(chain.balance(usdc, bob), units(2, 6));
    assert_eq!(
        chain.expect_revert(OWNER, venue, back(units(2, 6))),
        revert_data(Venue::AlreadyReleased { srcChain: U256::from(10), nonce: U256::from(9) })
    );
}

#[test]
fn owner_settles_profit_and_loss() {
    let VenueFixture { mut chain, venue, usdc, .. } = setup();
    let alice = address_named("alice");
    chain.send(alice, venue, enter(staking(), usdc, units(100, 6)));
    let settle = |change: i64| Venue::settleCall { account: alice, market: staking(), asset: usdc, change: change.try_into().unwrap() };
    assert_eq!(chain.expect_revert(alice, venue, settle(1)), revert_data(Venue::NotOwner { caller: alice }));
    chain.send(OWNER, venue, settle(-30_000_000));
    assert_eq!(chain.view(venue, Venue::suppliedCall { account: alice, market: staking(), asset: usdc }), units(70, 6));
    assert_eq!(
        chain.expect_revert(OWNER, venue, settle(-70_000_001)),
        revert_data(Venue::PositionTooSmall { held: units(70, 6), needed: units(70, 6) + U256::from(1) })
    );
    // A profit without liquidity cannot be withdrawn.
    chain.send(OWNER, venue, settle(50_000_000));
    assert_eq!(
        chain.expect_revert(alice, venue, exit(staking(), usdc, U256::MAX, alice)),
        revert_data(Venue::InsufficientLiquidity { asset: usdc, available: units(100, 6), needed: units(120, 6) })
    );
}

#[test]
fn venue_reverts() {
    let VenueFixture { mut chain, venue, usdc, wbtc } = setup();
    let alice = address_named("alice");
    let other = keccak256("other");
    let unknown = revert_data(Venue::UnknownMarket { market: other });
    assert_eq!(chain.expect_revert(alice, venue, enter(other, usdc, units(1, 6))), unknown);
    assert_eq!(chain.expect_revert(alice, venue, exit(other, usdc, units(1, 6), alice)), unknown);
    assert_eq!(chain.expect_revert(alice, venue, borrow(other, usdc, units(1, 6), alice)), unknown);
    assert_eq!(chain.expect_revert(alice, venue, Venue::repayCall { market: other, asset: usdc, amount: U256::MAX }), unknown);
    assert_eq!(chain.expect_revert(alice, venue, Venue::claimCall { market: other, asset: usdc, to: alice }), unknown);
    assert_eq!(chain.expect_revert(alice, venue, enter(staking(), usdc, U256::ZERO)), revert_data(Venue::NothingMoved {}));
    assert_eq!(chain.expect_revert(alice, venue, exit(staking(), usdc, U256::ZERO, alice)), revert_data(Venue::NothingMoved {}));
    assert_eq!(chain.expect_revert(alice, venue, borrow(lending(), usdc, U256::ZERO, alice)), revert_data(Venue::NothingMoved {}));
    let repay = Venue::repayCall { market: lending(), asset: usdc, amount: U256::MAX };
    assert_eq!(chain.expect_revert(alice, venue, repay), revert_data(Venue::NothingMoved {}));
    assert_eq!(
        chain.expect_revert(alice, venue, borrow(staking(), usdc, units(1, 6), alice)),
        revert_data(Venue::BorrowingDisabled { market: staking() })
    );
    assert_eq!(
        chain.expect_revert(alice, venue, borrow(lending(), alice, units(1, 6), alice)),
        revert_data(Venue::PriceMissing { asset: alice })
    );
    chain.send(alice, venue, enter(lending(), wbtc, units(1, 8)));
    assert_eq!(
        chain.expect_revert(alice, venue, borrow(lending(), usdc, units(1, 6), alice)),
        revert_data(Venue::InsufficientLiquidity { asset: usdc, available: U256::ZERO, needed: units(1, 6) })
    );
    assert_eq!(
        chain.expect_revert(alice, venue, exit(lending(), wbtc, units(1, 8), Address::ZERO)),
        revert_data(Venue::InvalidRecipient { to: Address::ZERO })
    );
    assert_eq!(
        chain.expect_revert(alice, venue, enter(staking(), NATIVE, units(1, 18))),
        revert_data(Venue::WrongValue { sent: U256::ZERO, needed: units(1, 18) })
    );
    assert_eq!(
        chain.expect_revert_with_value(alice, venue, U256::from(1), enter(staking(), usdc, units(1, 6))),
        revert_data(Venue::WrongValue { sent: U256::from(1), needed: U256::ZERO })
    );
    let stranger = revert_data(Venue::NotOwner { caller: alice });
    assert_eq!(chain.expect_revert(alice, venue, Venue::setMarketCall { market: other, open: true, minRatioBps: 1 }), stranger);
    assert_eq!(chain.expect_revert(alice, venue, Venue::setPriceCall { asset: usdc, priceUsd8: 1, decimals: 6 }), stranger);
    assert_eq!(chain.expect_revert(alice, venue, Venue::initCall { owner_: alice }), revert_data(Venue::AlreadyInitialised {}));
}

#[test]
fn odd_tokens_are_credited_by_received_amount() {
    let VenueFixture { mut chain, venue, .. } = setup();
    let alice = address_named("alice");
    let fee = chain.token_of("FeeToken", "FEE", 18);
    let lie = chain.token_of("LyingToken", "LIE", 18);
    let hook = chain.token_of("HookToken", "HOOK", 18);
    for token in [fee, lie, hook] {
        chain.mint(token, alice, units(100, 18));
        chain.allow(alice, token, venue);
    }
    assert_eq!(chain.send(alice, venue, enter(staking(), fee, units(100, 18))).event::<Venue::Entered>().amount, units(99, 18));
    chain.send(OWNER, lie, LyingToken::setModeCall { mode_: 3 });
    assert_eq!(chain.expect_revert(alice, venue, enter(staking(), lie, units(1, 18))), revert_data(Venue::NothingMoved {}));
    chain.send(OWNER, lie, LyingToken::setModeCall { mode_: 2 });
    assert_eq!(chain.expect_revert(alice, venue, enter(staking(), lie, units(1, 18))), revert_data(Venue::TransferFailed { token: lie }));
    let data = exit(staking(), hook, U256::MAX, alice).abi_encode().into();
    chain.send(OWNER, hook, HookToken::setHookCall { target: venue, data });
    let ran = chain.send(alice, venue, enter(staking(), hook, units(1, 18))).event::<HookToken::HookRan>();
    assert_eq!((ran.ok, ran.answer), (false, revert_data(Venue::Reentered {})));
    // A recipient that rejects ether.
    chain.send_with_value(alice, venue, units(1, 18), enter(staking(), NATIVE, units(1, 18)));
    assert_eq!(
        chain.expect_revert(alice, venue, exit(staking(), NATIVE, U256::MAX, fee)),
        revert_data(Venue::EtherTransferFailed { to: fee })
    );
}

#[derive(Debug, Clone)]
enum VenueStep {
    Enter(bool, u32),
    Exit(bool, u32),
    Borrow(bool, u32),
    Repay(bool, u32),
}

fn step() -> impl Strategy<Value = (bool, VenueStep)> {
    let step = prop_oneof![
        (any::<bool>(), 1..40_000_u32).prop_map(|(asset, usd)| VenueStep::Enter(asset, usd)),
        (any::<bool>(), 1..40_000_u32).prop_map(|(asset, usd)| VenueStep::Exit(asset, usd)),
        (any::<bool>(), 1..40_000_u32).prop_map(|(asset, usd)| VenueStep::Borrow(asset, usd)),
        (any::<bool>(), 1..40_000_u32).prop_map(|(asset, usd)| VenueStep::Repay(asset, usd)),
    ];
    (any::<bool>(), step)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    // At fixed prices every account stays collateralized, and the venue always holds supply minus loans.
    #[test]
    fn no_sequence_leaves_a_loan_uncovered(steps in prop::collection::vec(step(), 1..20)) {
        let VenueFixture { mut chain, venue, usdc, wbtc } = setup();
        let people = [address_named("alice"), OWNER];
        for (who, step) in steps {
            let who = people[usize::from(who)];
            let asset = |btc: bool| if btc { wbtc } else { usdc };
            let amount = |btc: bool, usd: u32| if btc { U256::from(usd) * units(1, 8) / U256::from(60_000) } else { units(u64::from(usd), 6) };
            let _ = match step {
                VenueStep::Enter(btc, usd) => chain.try_send(who, venue, U256::ZERO, &enter(lending(), asset(btc), amount(btc, usd))).map(drop),
                VenueStep::Exit(btc, usd) => chain.try_send(who, venue, U256::ZERO, &exit(lending(), asset(btc), amount(btc, usd), who)).map(drop),
                VenueStep::Borrow(btc, usd) => chain.try_send(who, venue, U256::ZERO, &borrow(lending(), asset(btc), amount(btc, usd), who)).map(drop),
                VenueStep::Repay(btc, usd) => {
                    let call = Venue::repayCall { market: lending(), asset: asset(btc), amount: amount(btc, usd) };
                    chain.try_send(who, venue, U256::ZERO, &call).map(drop)
                }
            };
            for token in [usdc, wbtc] {
                let mut expected = U256::ZERO;
                for account in people {
                    expected += chain.view(venue, Venue::suppliedCall { account, market: lending(), asset: token });
                }
                for account in people {
                    expected -= chain.view(venue, Venue::borrowedCall { account, market: lending(), asset: token });
                }
                prop_assert_eq!(chain.balance(token, venue), expected);
            }
            for account in people {
                let ratio = chain.view(venue, Venue::collateralRatioCall { account, market: lending() });
                prop_assert!(ratio >= U256::from(15_000), "{}", ratio);
            }
        }
    }
}
