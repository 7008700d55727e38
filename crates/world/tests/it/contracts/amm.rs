//! Automated market maker: factory, pair, router and quoter, and the invariant that no sequence of trades drains a pair.

use alloy_primitives::{Address, Bytes, U256, keccak256};
use alloy_sol_types::SolValue;
use proptest::prelude::*;

use crate::contracts::harness::*;

pub(crate) struct AmmMarket {
    pub(crate) chain: TestChain,
    pub(crate) factory: Address,
    pub(crate) router: Address,
    pub(crate) quoter: Address,
    pub(crate) weth: Address,
    pub(crate) usdc: Address,
    pub(crate) dai: Address,
}

pub(crate) fn maker() -> Address {
    address_named("maker")
}

/// Factory, router and quoter; the maker and alice each hold 10 million of every token and 10,000 ether.
pub(crate) fn market() -> AmmMarket {
    let mut chain = TestChain::new();
    let (factory, router, quoter) = (address_named("factory"), address_named("router"), address_named("quoter"));
    let (weth, usdc, dai) = (chain.weth(), chain.token("USDC", 6), chain.token("DAI", 18));
    for (contract, at) in [("AmmFactory", factory), ("AmmRouter", router), ("AmmQuoter", quoter)] {
        chain.etch(contract, at);
    }
    chain.send(OWNER, factory, AmmFactory::initCall {});
    chain.send(OWNER, router, AmmRouter::initCall { factory_: factory, weth_: weth });
    chain.send(OWNER, quoter, AmmQuoter::initCall { factory_: factory, weth_: weth });
    for who in [maker(), address_named("alice")] {
        chain.give_ether(who, units(10_000, 18));
        for (token, decimals) in [(usdc, 6), (dai, 18)] {
            chain.mint(token, who, units(10_000_000, decimals));
            chain.allow(who, token, router);
        }
        chain.allow(who, weth, router);
    }
    AmmMarket { chain, factory, router, quoter, weth, usdc, dai }
}

impl AmmMarket {
    pub(crate) fn add(&mut self, a: Address, b: Address, amount_a: U256, amount_b: U256) -> U256 {
        let value = if a == NATIVE { amount_a } else { U256::ZERO } + if b == NATIVE { amount_b } else { U256::ZERO };
        let call = AmmRouter::addLiquidityCall {
            tokenA: a,
            tokenB: b,
            desiredA: amount_a,
            desiredB: amount_b,
            minA: U256::ZERO,
            minB: U256::ZERO,
            to: maker(),
            deadline: FOREVER,
        };
        self.chain.send_with_value(maker(), self.router, value, call).value.shares
    }

    pub(crate) fn pair(&mut self, a: Address, b: Address) -> Address {
        let pair = self.chain.view(self.factory, AmmFactory::getPairCall { _0: a, _1: b });
        assert_ne!(pair, Address::ZERO);
        pair
    }

    fn reserves(&mut self, pair: Address) -> (U256, U256) {
        let reserves = self.chain.view(pair, AmmPair::getReservesCall {});
        (U256::from(reserves.reserve0), U256::from(reserves.reserve1))
    }
}

pub(crate) fn exact_in(amount_in: U256, min_out: U256, path: &[Address], to: Address) -> AmmRouter::swapExactInCall {
    AmmRouter::swapExactInCall { amountIn: amount_in, minOut: min_out, path: path.to_vec(), to, deadline: FOREVER }
}

fn exact_out(amount_out: U256, max_in: U256, path: &[Address], to: Address) -> AmmRouter::swapExactOutCall {
    AmmRouter::swapExactOutCall { amountOut: amount_out, maxIn: max_in, path: path.to_vec(), to, deadline: FOREVER }
}

/// Ether at 3,000: 1,000 ether and 3 million USDC; USDC and DAI one to one.
pub(crate) fn market_with_liquidity() -> AmmMarket {
    let mut market = market();
    let (usdc, dai) = (market.usdc, market.dai);
    market.add(NATIVE, usdc, units(1_000, 18), units(3_000_000, 6));
    market.add(usdc, dai, units(1_000_000, 6), units(1_000_000, 18));
    market
}

#[test]
fn pair_address_is_derived_from_its_tokens() {
    let AmmMarket { mut chain, factory, usdc, dai, .. } = market();
    let done = chain.send(address_named("outsider"), factory, AmmFactory::createPairCall { tokenA: usdc, tokenB: dai });
    let (low, high) = if usdc < dai { (usdc, dai) } else { (dai, usdc) };
    let event = done.event::<AmmFactory::PairCreated>();
    assert_eq!((event.token0, event.token1, event.pair, event.count), (low, high, done.value, U256::from(1)));
    let code = &contract("AmmPair").creation;
    assert_eq!(done.value, factory.create2(keccak256((low, high).abi_encode()), keccak256(code)));
    assert_eq!(chain.view(factory, AmmFactory::getPairCall { _0: dai, _1: usdc }), done.value);
    assert_eq!(chain.view(factory, AmmFactory::allPairsCall(U256::ZERO)), done.value);
    assert_eq!(chain.view(factory, AmmFactory::allPairsLengthCall {}), U256::from(1));

    let create = |a, b| AmmFactory::createPairCall { tokenA: a, tokenB: b };
    assert_eq!(chain.expect_revert(OWNER, factory, create(dai, usdc)), revert_data(AmmFactory::PairExists { pair: done.value }));
    assert_eq!(chain.expect_revert(OWNER, factory, create(dai, dai)), revert_data(AmmFactory::IdenticalTokens {}));
    assert_eq!(chain.expect_revert(OWNER, factory, create(NATIVE, dai)), revert_data(AmmFactory::ZeroToken {}));
    assert_eq!(chain.expect_revert(OWNER, factory, AmmFactory::initCall {}), revert_data(AmmFactory::AlreadyInitialised {}));
    assert_eq!(
        chain.expect_revert(OWNER, done.value, AmmPair::initCall { token0_: usdc, token1_: dai }),
        revert_data(AmmPair::AlreadyInitialised {})
    );
}

#[test]
fn swap_exact_in_gives_the_quoted_amount() {
    let AmmMarket { mut chain, router, quoter, weth, usdc, .. } = market_with_liquidity();
    let alice = address_named("alice");
    let path = vec![usdc, weth];
    let quote = chain.view(quoter, AmmQuoter::quoteExactInCall { amountIn: units(3_000, 6), path: path.clone() });
    let had = chain.balance(usdc, alice);
    let done = chain.send(alice, router, exact_in(units(3_000, 6), quote.amountOut, &path, alice));
    assert_eq!(done.value, quote.amountOut);
    assert_eq!(chain.balance(weth, alice), quote.amountOut);
    assert_eq!(had - chain.balance(usdc, alice), units(3_000, 6));
    // 0.3 % fee; trading 0.1 % of the reserve moves the price by 0.1 %.
    assert_eq!((quote.amountOut / units(1, 14), quote.impactBps), (U256::from(9_960), U256::from(10)));
    let event = done.event::<AmmRouter::Swapped>();
    assert_eq!((event.tokenIn, event.tokenOut, event.amountIn, event.amountOut), (usdc, weth, units(3_000, 6), quote.amountOut));
    assert_eq!((done.events::<AmmPair::Swap>().len(), done.events::<AmmPair::Sync>().len()), (1, 1));
}

#[test]
fn swap_exact_out_costs_the_quoted_amount() {
    let AmmMarket { mut chain, router, quoter, weth, usdc, dai, .. } = market_with_liquidity();
    let alice = address_named("alice");
    let path = vec![dai, usdc, weth];
    let quote = chain.view(quoter, AmmQuoter::quoteExactOutCall { amountOut: units(1, 18), path: path.clone() });
    let had = chain.balance(dai, alice);
    let cost = chain.send(alice, router, exact_out(units(1, 18), quote.amountIn, &path, alice)).value;
    assert_eq!((cost, had - chain.balance(dai, alice)), (quote.amountIn, quote.amountIn));
    let got = chain.balance(weth, alice);
    assert!(got >= units(1, 18) && got < units(1, 18) + units(1, 12), "{got}");
    assert!(quote.amountIn > units(3_000, 18) && quote.amountIn < units(3_050, 18));
    assert!(quote.impactBps > U256::from(30) && quote.impactBps < U256::from(45), "{}", quote.impactBps);
}

#[test]
fn router_wraps_and_unwraps_ether() {
    let AmmMarket { mut chain, router, weth, usdc, .. } = market_with_liquidity();
    let (alice, bob) = (address_named("alice"), address_named("bob"));
    let had = chain.ether(alice);
    chain.send_with_value(alice, router, units(1, 18), exact_in(units(1, 18), U256::ZERO, &[NATIVE, usdc], bob));
    assert_eq!(had - chain.ether(alice), units(1, 18));
    assert!(chain.balance(usdc, bob) > units(2_980, 6));
    // Excess ether is refunded.
    chain.send_with_value(alice, router, units(5, 18), exact_out(units(3_000, 6), units(2, 18), &[NATIVE, usdc], bob));
    let spent = had - chain.ether(alice);
    assert!(spent > units(2, 18) && spent < units(21, 17), "{spent}");
    let got = chain.send(alice, router, exact_in(units(3_000, 6), U256::ZERO, &[usdc, NATIVE], bob)).value;
    assert_eq!(chain.ether(bob), got);
    assert_eq!((chain.ether(router), chain.balance(weth, router)), (U256::ZERO, U256::ZERO));
    let wrong = exact_in(units(1, 18), U256::ZERO, &[NATIVE, usdc], bob);
    assert_eq!(chain.expect_revert(alice, router, wrong), revert_data(AmmRouter::WrongValue { sent: U256::ZERO, needed: units(1, 18) }));
    let stray = exact_in(units(1, 6), U256::ZERO, &[usdc, NATIVE], bob);
    assert_eq!(
        chain.expect_revert_with_value(alice, router, U256::from(1), stray),
        revert_data(AmmRouter::WrongValue { sent: U256::from(1), needed: U256::ZERO })
    );
    assert!(!chain.transact(alice, router, U256::from(1), Bytes::new(), true).is_success());
    // A recipient that rejects ether.
    let stuck = exact_in(units(1, 6), U256::ZERO, &[usdc, NATIVE], usdc);
    assert_eq!(chain.expect_revert(alice, router, stuck), revert_data(AmmRouter::EtherTransferFailed { to: usdc }));
}

#[test]
fn router_reverts() {
    let AmmMarket { mut chain, router, quoter, weth, usdc, dai, factory } = market_with_liquidity();
    let alice = address_named("alice");
    let now = U256::from(START);
    let mut late = exact_in(units(1, 6), U256::ZERO, &[usdc, weth], alice);
    late.deadline = now - U256::from(1);
    assert_eq!(chain.expect_revert(alice, router, late.clone()), revert_data(AmmRouter::Expired { deadline: late.deadline }));
    late.deadline = now;
    let got = chain.send(alice, router, late).value;

    let greedy = exact_in(units(1, 6), got + U256::from(1), &[usdc, weth], alice);
    let (selector, _) = split_revert(&chain.expect_revert(alice, router, greedy));
    assert_eq!(selector, selector_of::<AmmRouter::TooLittleReceived>());
    let cost = chain.view(quoter, AmmQuoter::quoteExactOutCall { amountOut: units(1, 18), path: vec![usdc, weth] }).amountIn;
    let cheap = exact_out(units(1, 18), cost - U256::from(1), &[usdc, weth], alice);
    assert_eq!(
        chain.expect_revert(alice, router, cheap),
        revert_data(AmmRouter::TooMuchRequested { requested: cost, maximum: cost - U256::from(1) })
    );
    let none = exact_in(units(1, 18), U256::ZERO, &[dai, weth], alice);
    assert_eq!(chain.expect_revert(alice, router, none), revert_data(AmmRouter::NoPair { a: dai, b: weth }));
    let same = exact_in(units(1, 18), U256::ZERO, &[dai, dai], alice);
    assert_eq!(chain.expect_revert(alice, router, same), revert_data(AmmRouter::IdenticalTokens {}));
    let wrapped = exact_in(units(1, 18), U256::ZERO, &[NATIVE, weth], alice);
    assert_eq!(chain.expect_revert(alice, router, wrapped), revert_data(AmmRouter::IdenticalTokens {}));
    assert_eq!(
        chain.expect_revert(alice, router, exact_in(units(1, 18), U256::ZERO, &[dai], alice)),
        revert_data(AmmRouter::PathTooShort {})
    );
    let zero = exact_in(U256::ZERO, U256::ZERO, &[usdc, weth], alice);
    assert_eq!(chain.expect_revert(alice, router, zero), revert_data(AmmRouter::InsufficientInput {}));
    let zero = exact_out(U256::ZERO, U256::ZERO, &[usdc, weth], alice);
    assert_eq!(chain.expect_revert(alice, router, zero), revert_data(AmmRouter::InsufficientOutput {}));
    let all = exact_out(units(1_000_000, 18), U256::MAX, &[usdc, weth], alice);
    assert_eq!(chain.expect_revert(alice, router, all), revert_data(AmmRouter::InsufficientLiquidity {}));
    let again = AmmRouter::initCall { factory_: factory, weth_: weth };
    assert_eq!(chain.expect_revert(alice, router, again), revert_data(AmmRouter::AlreadyInitialised {}));

    let huge = AmmQuoter::quoteExactInCall { amountIn: U256::MAX, path: vec![usdc, weth] };
    assert_eq!(chain.expect_revert(alice, quoter, huge), revert_data(AmmQuoter::AmountTooLarge { amount: U256::MAX }));
    let none = AmmQuoter::quoteExactOutCall { amountOut: units(1, 18), path: vec![dai, weth] };
    assert_eq!(chain.expect_revert(alice, quoter, none), revert_data(AmmQuoter::NoPair { a: dai, b: weth }));
    let short = AmmQuoter::quoteExactInCall { amountIn: U256::from(1), path: vec![] };
    assert_eq!(chain.expect_revert(alice, quoter, short), revert_data(AmmQuoter::PathTooShort {}));
}

#[test]
fn liquidity_is_proportional_and_redeemable() {
    let mut market = market_with_liquidity();
    let (usdc, weth, router) = (market.usdc, market.weth, market.router);
    let pair = market.pair(usdc, weth);
    let alice = address_named("alice");
    let had = (market.chain.ether(alice), market.chain.balance(usdc, alice));
    let add = |min_a| AmmRouter::addLiquidityCall {
        tokenA: NATIVE,
        tokenB: usdc,
        desiredA: units(2, 18),
        desiredB: units(3_000, 6),
        minA: min_a,
        minB: units(3_000, 6),
        to: alice,
        deadline: FOREVER,
    };
    assert_eq!(
        market.chain.expect_revert_with_value(alice, router, units(2, 18), add(units(2, 18))),
        revert_data(AmmRouter::TooLittleReceived { received: units(1, 18), minimum: units(2, 18) })
    );
    assert_eq!(
        market.chain.expect_revert(alice, router, add(U256::ZERO)),
        revert_data(AmmRouter::WrongValue { sent: U256::ZERO, needed: units(1, 18) })
    );
    let done = market.chain.send_with_value(alice, router, units(2, 18), add(units(1, 18)));
    assert_eq!((done.value.amountA, done.value.amountB), (units(1, 18), units(3_000, 6)));
    assert_eq!(done.event::<AmmPair::Mint>().shares, done.value.shares);
    assert_eq!(had.0 - market.chain.ether(alice), units(1, 18));

    market.chain.allow(alice, pair, router);
    let remove = |min_b| AmmRouter::removeLiquidityCall {
        tokenA: NATIVE,
        tokenB: usdc,
        shares: done.value.shares,
        minA: U256::ZERO,
        minB: min_b,
        to: alice,
        deadline: FOREVER,
    };
    let (selector, _) = split_revert(&market.chain.expect_revert(alice, router, remove(units(3_001, 6))));
    assert_eq!(selector, selector_of::<AmmRouter::TooLittleReceived>());
    let back = market.chain.send(alice, router, remove(units(2_999, 6)));
    assert_eq!(back.event::<AmmPair::Burn>().shares, done.value.shares);
    let crumbs = (had.0 - market.chain.ether(alice), had.1 - market.chain.balance(usdc, alice));
    assert!(crumbs.0 < units(1, 6) && crumbs.1 <= U256::from(2), "{crumbs:?}");
    let same = AmmRouter::addLiquidityCall { tokenB: weth, ..add(U256::ZERO) };
    assert_eq!(market.chain.expect_revert_with_value(alice, router, units(2, 18), same), revert_data(AmmRouter::IdenticalTokens {}));
}

#[test]
fn pair_reverts() {
    let mut market = market_with_liquidity();
    let (usdc, dai) = (market.usdc, market.dai);
    let pair = market.pair(usdc, dai);
    let alice = address_named("alice");
    let usdc_is_0 = usdc < dai;
    let out_dai = |amount: U256, to| {
        let (out_0, out_1) = if usdc_is_0 { (U256::ZERO, amount) } else { (amount, U256::ZERO) };
        AmmPair::swapCall { amount0Out: out_0, amount1Out: out_1, to }
    };
    let chain = &mut market.chain;
    assert_eq!(chain.expect_revert(alice, pair, out_dai(U256::ZERO, alice)), revert_data(AmmPair::InsufficientOutput {}));
    assert_eq!(chain.expect_revert(alice, pair, out_dai(units(1_000_000, 18), alice)), revert_data(AmmPair::InsufficientLiquidity {}));
    assert_eq!(chain.expect_revert(alice, pair, out_dai(U256::from(1), dai)), revert_data(AmmPair::InvalidRecipient { to: dai }));
    assert_eq!(chain.expect_revert(alice, pair, out_dai(U256::from(1), alice)), revert_data(AmmPair::InsufficientInput {}));
    chain.send(alice, usdc, Token::transferCall { to: pair, value: units(100, 6) });
    let (selector, _) = split_revert(&chain.expect_revert(alice, pair, out_dai(units(100, 18), alice)));
    assert_eq!(selector, selector_of::<AmmPair::ProductDecreased>());
    // Surplus tokens can be skimmed by any caller, or are added to the reserves by a sync.
    chain.send(address_named("bob"), pair, AmmPair::skimCall { to: address_named("bob") });
    assert_eq!(chain.balance(usdc, address_named("bob")), units(100, 6));
    assert_eq!(chain.expect_revert(alice, pair, AmmPair::mintCall { to: alice }), revert_data(AmmPair::InsufficientShares {}));
    assert_eq!(chain.expect_revert(alice, pair, AmmPair::burnCall { to: alice }), revert_data(AmmPair::InsufficientShares {}));
    chain.mint(usdc, pair, U256::from(1) << 112);
    assert_eq!(chain.expect_revert(alice, pair, AmmPair::syncCall {}), revert_data(AmmPair::ReserveOverflow {}));
}

#[test]
fn first_deposit_inflation_attack_fails() {
    let mut market = market();
    let (usdc, dai, factory) = (market.usdc, market.dai, market.factory);
    let pair = market.chain.send(maker(), factory, AmmFactory::createPairCall { tokenA: usdc, tokenB: dai }).value;
    for token in [usdc, dai] {
        market.chain.send(maker(), token, Token::transferCall { to: pair, value: U256::from(1_000) });
    }
    assert_eq!(market.chain.expect_revert(maker(), pair, AmmPair::mintCall { to: maker() }), revert_data(AmmPair::InsufficientShares {}));
    market.chain.send(maker(), usdc, Token::transferCall { to: pair, value: U256::from(1_000) });
    market.chain.send(maker(), pair, AmmPair::mintCall { to: maker() });
    assert_eq!(market.chain.balance(pair, Address::ZERO), U256::from(1_000));
    // Burning a share worth less than one base unit of a side reverts.
    market.chain.send(maker(), pair, Token::transferCall { to: pair, value: U256::from(1) });
    assert_eq!(market.chain.expect_revert(maker(), pair, AmmPair::burnCall { to: maker() }), revert_data(AmmPair::InsufficientOutput {}));
}

#[test]
fn fee_and_lying_tokens_do_not_drain_a_pair() {
    let mut market = market();
    let (usdc, router, alice) = (market.usdc, market.router, address_named("alice"));
    for (contract, symbol) in [("FeeToken", "FEE"), ("LyingToken", "LIE")] {
        let odd = market.chain.token_of(contract, symbol, 18);
        for who in [maker(), alice] {
            market.chain.mint(odd, who, units(1_000_000, 18));
            market.chain.allow(who, odd, router);
        }
        market.add(odd, usdc, units(100_000, 18), units(100_000, 6));
        let pair = market.pair(odd, usdc);
        if contract == "LyingToken" {
            let bought = exact_in(units(10, 6), U256::ZERO, &[usdc, odd], alice);
            for (mode, expected) in
                [(1, revert_data(AmmRouter::InsufficientInput {})), (2, revert_data(AmmRouter::TransferFailed { token: odd }))]
            {
                market.chain.send(OWNER, odd, LyingToken::setModeCall { mode_: mode });
                let sold = exact_in(units(10, 18), U256::ZERO, &[odd, usdc], alice);
                assert_eq!(market.chain.expect_revert(alice, router, sold), expected);
            }
            // The pair's own payment fails too.
            assert_eq!(market.chain.expect_revert(alice, router, bought), revert_data(AmmPair::TransferFailed { token: odd }));
            continue;
        }
        let (a, b) = market.reserves(pair);
        let got = market.chain.send(alice, router, exact_in(units(1_000, 18), U256::ZERO, &[odd, usdc], alice)).value;
        // The token keeps a fee of 1 %: 990 arrive at the pair.
        assert!(got > units(970, 6) && got < units(990, 6), "{got}");
        let back = market.chain.send(alice, router, exact_in(units(1_000, 6), U256::ZERO, &[usdc, odd], alice)).value;
        assert!(back > units(975, 18) && back < units(1_000, 18), "{back}");
        let (c, d) = market.reserves(pair);
        assert!(c * d >= a * b);
        let exact = exact_out(units(10, 6), U256::MAX, &[odd, usdc], alice);
        let (selector, _) = split_revert(&market.chain.expect_revert(alice, router, exact));
        assert_eq!(selector, selector_of::<AmmRouter::TooLittleReceived>());
    }
}

#[test]
fn pair_blocks_reentrancy() {
    let mut market = market();
    let (usdc, router, alice) = (market.usdc, market.router, address_named("alice"));
    let hook = market.chain.token_of("HookToken", "HOOK", 18);
    for who in [maker(), alice] {
        market.chain.mint(hook, who, units(1_000_000, 18));
        market.chain.allow(who, hook, router);
    }
    market.add(hook, usdc, units(100_000, 18), units(100_000, 6));
    let pair = market.pair(hook, usdc);
    let data = alloy_sol_types::SolCall::abi_encode(&AmmPair::syncCall {}).into();
    market.chain.send(OWNER, hook, HookToken::setHookCall { target: pair, data });
    let done = market.chain.send(alice, router, exact_in(units(10, 6), U256::ZERO, &[usdc, hook], alice));
    let ran = done.event::<HookToken::HookRan>();
    assert_eq!((ran.ok, ran.answer), (false, revert_data(AmmPair::Reentered {})));
    let data = alloy_sol_types::SolCall::abi_encode(&exact_in(units(1, 6), U256::ZERO, &[usdc, hook], alice)).into();
    market.chain.send(OWNER, hook, HookToken::setHookCall { target: router, data });
    let done = market.chain.send(alice, router, exact_in(units(10, 6), U256::ZERO, &[usdc, hook], alice));
    assert_eq!(done.event::<HookToken::HookRan>().answer, revert_data(AmmRouter::Reentered {}));
}

#[derive(Debug, Clone)]
enum AmmStep {
    In { token: u8, amount: u64 },
    Out { token: u8, amount: u64 },
    Add { amount: u64 },
    Remove { bps: u16 },
    Give { token: u8, amount: u64 },
    Direct { token: u8, paid: u64, wanted: u64 },
}

fn step() -> impl Strategy<Value = AmmStep> {
    let amount = || 0..40_u32;
    let value = |bits: u32| 1_u64 << bits;
    prop_oneof![
        (0..2_u8, amount(), any::<u16>()).prop_map(move |(token, bits, odd)| AmmStep::In { token, amount: value(bits) + u64::from(odd) }),
        (0..2_u8, amount(), any::<u16>()).prop_map(move |(token, bits, odd)| AmmStep::Out { token, amount: value(bits) + u64::from(odd) }),
        amount().prop_map(move |bits| AmmStep::Add { amount: value(bits) }),
        (1..=10_000_u16).prop_map(|bps| AmmStep::Remove { bps }),
        (0..2_u8, amount()).prop_map(move |(token, bits)| AmmStep::Give { token, amount: value(bits) }),
        (0..2_u8, amount(), amount()).prop_map(move |(token, paid, wanted)| AmmStep::Direct {
            token,
            paid: value(paid),
            wanted: value(wanted)
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    // Alice cannot gain one token without giving the other, and a share of the pair never loses value:
    // the square root of the product per share only grows.
    #[test]
    fn no_sequence_extracts_value_from_a_pair(steps in prop::collection::vec(step(), 1..14), fee in any::<bool>()) {
        let mut market = market();
        let alice = address_named("alice");
        let tokens = [market.usdc, if fee { market.chain.token_of("FeeToken", "FEE", 18) } else { market.dai }];
        if fee {
            for who in [maker(), alice] {
                market.chain.mint(tokens[1], who, units(10_000_000, 18));
                market.chain.allow(who, tokens[1], market.router);
            }
        }
        let start = U256::from(1_u64 << 36);
        market.add(tokens[0], tokens[1], start, start);
        let pair = market.pair(tokens[0], tokens[1]);
        market.chain.allow(alice, pair, market.router);
        let router = market.router;
        let mut given = [U256::ZERO; 2];
        let had = [market.chain.balance(tokens[0], alice), market.chain.balance(tokens[1], alice)];
        for step in steps {
            let (x, y) = market.reserves(pair);
            let supply = market.chain.view(pair, Token::totalSupplyCall {});
            let swap = matches!(step, AmmStep::In { .. } | AmmStep::Out { .. } | AmmStep::Direct { .. });
            match step {
                AmmStep::In { token, amount } => {
                    let path = [tokens[usize::from(token)], tokens[usize::from(1 - token)]];
                    let _ = market.chain.try_send(alice, router, U256::ZERO, &exact_in(U256::from(amount), U256::ZERO, &path, alice));
                }
                AmmStep::Out { token, amount } => {
                    let path = [tokens[usize::from(token)], tokens[usize::from(1 - token)]];
                    let _ = market.chain.try_send(alice, router, U256::ZERO, &exact_out(U256::from(amount), U256::MAX, &path, alice));
                }
                AmmStep::Add { amount } => {
                    let call = AmmRouter::addLiquidityCall {
                        tokenA: tokens[0], tokenB: tokens[1], desiredA: U256::from(amount), desiredB: U256::from(amount),
                        minA: U256::ZERO, minB: U256::ZERO, to: alice, deadline: FOREVER,
                    };
                    let _ = market.chain.try_send(alice, router, U256::ZERO, &call);
                }
                AmmStep::Remove { bps } => {
                    let shares = market.chain.balance(pair, alice) * U256::from(bps) / U256::from(10_000);
                    let (a, b) = (market.chain.balance(tokens[0], alice), market.chain.balance(tokens[1], alice));
                    let call = AmmRouter::removeLiquidityCall {
                        tokenA: tokens[0], tokenB: tokens[1], shares, minA: U256::ZERO, minB: U256::ZERO, to: alice, deadline: FOREVER,
                    };
                    if market.chain.try_send(alice, router, U256::ZERO, &call).is_ok() {
                        let (x, y) = if tokens[0] < tokens[1] { (x, y) } else { (y, x) };
                        // At most the pro rata share of either token, including surplus tokens.
                        prop_assert!((market.chain.balance(tokens[0], alice) - a) * supply <= shares * (x + given[0]));
                        prop_assert!((market.chain.balance(tokens[1], alice) - b) * supply <= shares * (y + given[1]));
                    }
                }
                AmmStep::Give { token, amount } => {
                    let token = usize::from(token);
                    if market.chain.try_send(alice, tokens[token], U256::ZERO, &Token::transferCall { to: pair, value: U256::from(amount) }).is_ok() {
                        given[token] += U256::from(amount);
                    }
                }
                AmmStep::Direct { token, paid, wanted } => {
                    let token = usize::from(token);
                    let other_is_0 = tokens[1 - token] < tokens[token];
                    let (out_0, out_1) = if other_is_0 { (U256::from(wanted), U256::ZERO) } else { (U256::ZERO, U256::from(wanted)) };
                    if market.chain.try_send(alice, tokens[token], U256::ZERO, &Token::transferCall { to: pair, value: U256::from(paid) }).is_ok() {
                        given[token] += U256::from(paid);
                        let _ = market.chain.try_send(alice, pair, U256::ZERO, &AmmPair::swapCall { amount0Out: out_0, amount1Out: out_1, to: alice });
                    }
                }
            }
            let (v, w) = market.reserves(pair);
            if swap {
                prop_assert!(v * w >= x * y, "the product fell from {} to {}", x * y, v * w);
            }
            // sqrt(v w) / supply' >= sqrt(x y) / supply, without square roots
            let later = market.chain.view(pair, Token::totalSupplyCall {});
            prop_assert!(product_with_supply(v, w, supply) >= product_with_supply(x, y, later), "a share lost value");
        }
        let has = [market.chain.balance(tokens[0], alice), market.chain.balance(tokens[1], alice)];
        let free = |a: usize, b: usize| has[a] > had[a] && has[b] >= had[b];
        prop_assert!(!free(0, 1) && !free(1, 0), "free value: {had:?} -> {has:?}");
    }

    // A round trip is never profitable.
    #[test]
    fn swap_round_trip_never_profits(bits in 0..45_u32, odd in any::<u32>(), x in 20..50_u32, y in 20..50_u32) {
        let mut market = market();
        let (usdc, dai, router, alice) = (market.usdc, market.dai, market.router, address_named("alice"));
        market.chain.mint(usdc, maker(), U256::from(1_u64 << 50));
        market.add(usdc, dai, U256::from(1_u64 << x.min(42)), U256::from(1_u64 << y));
        let amount = U256::from((1_u64 << bits.min(40)) + u64::from(odd));
        let had = market.chain.balance(usdc, alice);
        let dai_had = market.chain.balance(dai, alice);
        if market.chain.try_send(alice, router, U256::ZERO, &exact_in(amount, U256::ZERO, &[usdc, dai], alice)).is_ok() {
            let got = market.chain.balance(dai, alice) - dai_had;
            let _ = market.chain.try_send(alice, router, U256::ZERO, &exact_in(got, U256::ZERO, &[dai, usdc], alice));
        }
        prop_assert!(market.chain.balance(usdc, alice) <= had);
    }
}

fn product_with_supply(a: U256, b: U256, supply: U256) -> alloy_primitives::U512 {
    use alloy_primitives::U512;
    U512::from(a) * U512::from(b) * U512::from(supply) * U512::from(supply)
}
