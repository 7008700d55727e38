//! The market maker: factory, pair, router, quoter; and that no sequence of trades takes value out of a pair.

use alloy_primitives::{Address, Bytes, U256, keccak256};
use alloy_sol_types::SolValue;
use proptest::prelude::*;

use crate::contracts::harness::*;

pub(crate) struct Market {
    pub(crate) chain: Chain,
    pub(crate) factory: Address,
    pub(crate) router: Address,
    pub(crate) quoter: Address,
    pub(crate) weth: Address,
    pub(crate) usdc: Address,
    pub(crate) dai: Address,
}

pub(crate) fn maker() -> Address {
    named("maker")
}

/// Factory, router and quoter, with 10 million of every token and 10,000 ether in the hands of the maker and of alice.
pub(crate) fn market() -> Market {
    let mut chain = Chain::new();
    let (factory, router, quoter) = (named("factory"), named("router"), named("quoter"));
    let (weth, usdc, dai) = (chain.weth(), chain.token("USDC", 6), chain.token("DAI", 18));
    for (contract, at) in [("AmmFactory", factory), ("AmmRouter", router), ("AmmQuoter", quoter)] {
        chain.etch(contract, at);
    }
    chain.send(OWNER, factory, AmmFactory::initCall {});
    chain.send(OWNER, router, AmmRouter::initCall { factory_: factory, weth_: weth });
    chain.send(OWNER, quoter, AmmQuoter::initCall { factory_: factory, weth_: weth });
    for who in [maker(), named("alice")] {
        chain.give_ether(who, units(10_000, 18));
        for (token, decimals) in [(usdc, 6), (dai, 18)] {
            chain.mint(token, who, units(10_000_000, decimals));
            chain.allow(who, token, router);
        }
        chain.allow(who, weth, router);
    }
    Market { chain, factory, router, quoter, weth, usdc, dai }
}

impl Market {
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
        self.chain.pay(maker(), self.router, value, call).value.shares
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
pub(crate) fn liquid() -> Market {
    let mut market = market();
    let (usdc, dai) = (market.usdc, market.dai);
    market.add(NATIVE, usdc, units(1_000, 18), units(3_000_000, 6));
    market.add(usdc, dai, units(1_000_000, 6), units(1_000_000, 18));
    market
}

#[test]
fn a_pair_lies_where_its_tokens_say() {
    let Market { mut chain, factory, usdc, dai, .. } = market();
    let done = chain.send(named("anybody"), factory, AmmFactory::createPairCall { tokenA: usdc, tokenB: dai });
    let (low, high) = if usdc < dai { (usdc, dai) } else { (dai, usdc) };
    let event = done.event::<AmmFactory::PairCreated>();
    assert_eq!((event.token0, event.token1, event.pair, event.count), (low, high, done.value, U256::from(1)));
    let code = &contract("AmmPair").creation;
    assert_eq!(done.value, factory.create2(keccak256((low, high).abi_encode()), keccak256(code)));
    assert_eq!(chain.view(factory, AmmFactory::getPairCall { _0: dai, _1: usdc }), done.value);
    assert_eq!(chain.view(factory, AmmFactory::allPairsCall(U256::ZERO)), done.value);
    assert_eq!(chain.view(factory, AmmFactory::allPairsLengthCall {}), U256::from(1));

    let create = |a, b| AmmFactory::createPairCall { tokenA: a, tokenB: b };
    assert_eq!(chain.refuse(OWNER, factory, create(dai, usdc)), error(AmmFactory::PairExists { pair: done.value }));
    assert_eq!(chain.refuse(OWNER, factory, create(dai, dai)), error(AmmFactory::IdenticalTokens {}));
    assert_eq!(chain.refuse(OWNER, factory, create(NATIVE, dai)), error(AmmFactory::ZeroToken {}));
    assert_eq!(chain.refuse(OWNER, factory, AmmFactory::initCall {}), error(AmmFactory::AlreadyInitialised {}));
    assert_eq!(chain.refuse(OWNER, done.value, AmmPair::initCall { token0_: usdc, token1_: dai }), error(AmmPair::AlreadyInitialised {}));
}

#[test]
fn exact_input_gives_what_was_quoted() {
    let Market { mut chain, router, quoter, weth, usdc, .. } = liquid();
    let alice = named("alice");
    let path = vec![usdc, weth];
    let quote = chain.view(quoter, AmmQuoter::quoteExactInCall { amountIn: units(3_000, 6), path: path.clone() });
    let had = chain.balance(usdc, alice);
    let done = chain.send(alice, router, exact_in(units(3_000, 6), quote.amountOut, &path, alice));
    assert_eq!(done.value, quote.amountOut);
    assert_eq!(chain.balance(weth, alice), quote.amountOut);
    assert_eq!(had - chain.balance(usdc, alice), units(3_000, 6));
    // 0.3 % fee, and a tenth of a percent of the reserve moved the price by as much.
    assert_eq!((quote.amountOut / units(1, 14), quote.impactBps), (U256::from(9_960), U256::from(10)));
    let event = done.event::<AmmRouter::Swapped>();
    assert_eq!((event.tokenIn, event.tokenOut, event.amountIn, event.amountOut), (usdc, weth, units(3_000, 6), quote.amountOut));
    assert_eq!((done.events::<AmmPair::Swap>().len(), done.events::<AmmPair::Sync>().len()), (1, 1));
}

#[test]
fn exact_output_over_two_pairs_costs_what_was_quoted() {
    let Market { mut chain, router, quoter, weth, usdc, dai, .. } = liquid();
    let alice = named("alice");
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
fn ether_goes_in_and_out_by_its_wrapped_token() {
    let Market { mut chain, router, weth, usdc, .. } = liquid();
    let (alice, bob) = (named("alice"), named("bob"));
    let had = chain.ether(alice);
    chain.pay(alice, router, units(1, 18), exact_in(units(1, 18), U256::ZERO, &[NATIVE, usdc], bob));
    assert_eq!(had - chain.ether(alice), units(1, 18));
    assert!(chain.balance(usdc, bob) > units(2_980, 6));
    // More than needed comes back.
    chain.pay(alice, router, units(5, 18), exact_out(units(3_000, 6), units(2, 18), &[NATIVE, usdc], bob));
    let spent = had - chain.ether(alice);
    assert!(spent > units(2, 18) && spent < units(21, 17), "{spent}");
    let got = chain.send(alice, router, exact_in(units(3_000, 6), U256::ZERO, &[usdc, NATIVE], bob)).value;
    assert_eq!(chain.ether(bob), got);
    assert_eq!((chain.ether(router), chain.balance(weth, router)), (U256::ZERO, U256::ZERO));
    let wrong = exact_in(units(1, 18), U256::ZERO, &[NATIVE, usdc], bob);
    assert_eq!(chain.refuse(alice, router, wrong), error(AmmRouter::WrongValue { sent: U256::ZERO, needed: units(1, 18) }));
    let stray = exact_in(units(1, 6), U256::ZERO, &[usdc, NATIVE], bob);
    assert_eq!(
        chain.refuse_paid(alice, router, U256::from(1), stray),
        error(AmmRouter::WrongValue { sent: U256::from(1), needed: U256::ZERO })
    );
    assert!(!chain.raw(alice, router, U256::from(1), Bytes::new(), true).is_success());
    // A recipient that takes no ether.
    let stuck = exact_in(units(1, 6), U256::ZERO, &[usdc, NATIVE], usdc);
    assert_eq!(chain.refuse(alice, router, stuck), error(AmmRouter::EtherTransferFailed { to: usdc }));
}

#[test]
fn what_the_router_refuses() {
    let Market { mut chain, router, quoter, weth, usdc, dai, factory } = liquid();
    let alice = named("alice");
    let now = U256::from(START);
    let mut late = exact_in(units(1, 6), U256::ZERO, &[usdc, weth], alice);
    late.deadline = now - U256::from(1);
    assert_eq!(chain.refuse(alice, router, late.clone()), error(AmmRouter::Expired { deadline: late.deadline }));
    late.deadline = now;
    let got = chain.send(alice, router, late).value;

    let greedy = exact_in(units(1, 6), got + U256::from(1), &[usdc, weth], alice);
    let (selector, _) = split(&chain.refuse(alice, router, greedy));
    assert_eq!(selector, selector_of::<AmmRouter::TooLittleReceived>());
    let cost = chain.view(quoter, AmmQuoter::quoteExactOutCall { amountOut: units(1, 18), path: vec![usdc, weth] }).amountIn;
    let cheap = exact_out(units(1, 18), cost - U256::from(1), &[usdc, weth], alice);
    assert_eq!(chain.refuse(alice, router, cheap), error(AmmRouter::TooMuchRequested { requested: cost, maximum: cost - U256::from(1) }));
    let none = exact_in(units(1, 18), U256::ZERO, &[dai, weth], alice);
    assert_eq!(chain.refuse(alice, router, none), error(AmmRouter::NoPair { a: dai, b: weth }));
    let same = exact_in(units(1, 18), U256::ZERO, &[dai, dai], alice);
    assert_eq!(chain.refuse(alice, router, same), error(AmmRouter::IdenticalTokens {}));
    let wrapped = exact_in(units(1, 18), U256::ZERO, &[NATIVE, weth], alice);
    assert_eq!(chain.refuse(alice, router, wrapped), error(AmmRouter::IdenticalTokens {}));
    assert_eq!(chain.refuse(alice, router, exact_in(units(1, 18), U256::ZERO, &[dai], alice)), error(AmmRouter::PathTooShort {}));
    let zero = exact_in(U256::ZERO, U256::ZERO, &[usdc, weth], alice);
    assert_eq!(chain.refuse(alice, router, zero), error(AmmRouter::InsufficientInput {}));
    let zero = exact_out(U256::ZERO, U256::ZERO, &[usdc, weth], alice);
    assert_eq!(chain.refuse(alice, router, zero), error(AmmRouter::InsufficientOutput {}));
    let all = exact_out(units(1_000_000, 18), U256::MAX, &[usdc, weth], alice);
    assert_eq!(chain.refuse(alice, router, all), error(AmmRouter::InsufficientLiquidity {}));
    let again = AmmRouter::initCall { factory_: factory, weth_: weth };
    assert_eq!(chain.refuse(alice, router, again), error(AmmRouter::AlreadyInitialised {}));

    let huge = AmmQuoter::quoteExactInCall { amountIn: U256::MAX, path: vec![usdc, weth] };
    assert_eq!(chain.refuse(alice, quoter, huge), error(AmmQuoter::AmountTooLarge { amount: U256::MAX }));
    let none = AmmQuoter::quoteExactOutCall { amountOut: units(1, 18), path: vec![dai, weth] };
    assert_eq!(chain.refuse(alice, quoter, none), error(AmmQuoter::NoPair { a: dai, b: weth }));
    let short = AmmQuoter::quoteExactInCall { amountIn: U256::from(1), path: vec![] };
    assert_eq!(chain.refuse(alice, quoter, short), error(AmmQuoter::PathTooShort {}));
}

#[test]
fn liquidity_is_added_in_proportion_and_comes_back() {
    let mut market = liquid();
    let (usdc, weth, router) = (market.usdc, market.weth, market.router);
    let pair = market.pair(usdc, weth);
    let alice = named("alice");
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
        market.chain.refuse_paid(alice, router, units(2, 18), add(units(2, 18))),
        error(AmmRouter::TooLittleReceived { received: units(1, 18), minimum: units(2, 18) })
    );
    assert_eq!(
        market.chain.refuse(alice, router, add(U256::ZERO)),
        error(AmmRouter::WrongValue { sent: U256::ZERO, needed: units(1, 18) })
    );
    let done = market.chain.pay(alice, router, units(2, 18), add(units(1, 18)));
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
    let (selector, _) = split(&market.chain.refuse(alice, router, remove(units(3_001, 6))));
    assert_eq!(selector, selector_of::<AmmRouter::TooLittleReceived>());
    let back = market.chain.send(alice, router, remove(units(2_999, 6)));
    assert_eq!(back.event::<AmmPair::Burn>().shares, done.value.shares);
    let crumbs = (had.0 - market.chain.ether(alice), had.1 - market.chain.balance(usdc, alice));
    assert!(crumbs.0 < units(1, 6) && crumbs.1 <= U256::from(2), "{crumbs:?}");
    let same = AmmRouter::addLiquidityCall { tokenB: weth, ..add(U256::ZERO) };
    assert_eq!(market.chain.refuse_paid(alice, router, units(2, 18), same), error(AmmRouter::IdenticalTokens {}));
}

#[test]
fn what_a_pair_refuses() {
    let mut market = liquid();
    let (usdc, dai) = (market.usdc, market.dai);
    let pair = market.pair(usdc, dai);
    let alice = named("alice");
    let usdc_is_0 = usdc < dai;
    let out_dai = |amount: U256, to| {
        let (out_0, out_1) = if usdc_is_0 { (U256::ZERO, amount) } else { (amount, U256::ZERO) };
        AmmPair::swapCall { amount0Out: out_0, amount1Out: out_1, to }
    };
    let chain = &mut market.chain;
    assert_eq!(chain.refuse(alice, pair, out_dai(U256::ZERO, alice)), error(AmmPair::InsufficientOutput {}));
    assert_eq!(chain.refuse(alice, pair, out_dai(units(1_000_000, 18), alice)), error(AmmPair::InsufficientLiquidity {}));
    assert_eq!(chain.refuse(alice, pair, out_dai(U256::from(1), dai)), error(AmmPair::InvalidRecipient { to: dai }));
    assert_eq!(chain.refuse(alice, pair, out_dai(U256::from(1), alice)), error(AmmPair::InsufficientInput {}));
    chain.send(alice, usdc, Token::transferCall { to: pair, value: units(100, 6) });
    let (selector, _) = split(&chain.refuse(alice, pair, out_dai(units(100, 18), alice)));
    assert_eq!(selector, selector_of::<AmmPair::ProductDecreased>());
    // What lies there belongs to whoever asks first, or to the pair after a sync.
    chain.send(named("bob"), pair, AmmPair::skimCall { to: named("bob") });
    assert_eq!(chain.balance(usdc, named("bob")), units(100, 6));
    assert_eq!(chain.refuse(alice, pair, AmmPair::mintCall { to: alice }), error(AmmPair::InsufficientShares {}));
    assert_eq!(chain.refuse(alice, pair, AmmPair::burnCall { to: alice }), error(AmmPair::InsufficientShares {}));
    chain.mint(usdc, pair, U256::from(1) << 112);
    assert_eq!(chain.refuse(alice, pair, AmmPair::syncCall {}), error(AmmPair::ReserveOverflow {}));
}

#[test]
fn the_first_share_cannot_be_made_dear() {
    let mut market = market();
    let (usdc, dai, factory) = (market.usdc, market.dai, market.factory);
    let pair = market.chain.send(maker(), factory, AmmFactory::createPairCall { tokenA: usdc, tokenB: dai }).value;
    for token in [usdc, dai] {
        market.chain.send(maker(), token, Token::transferCall { to: pair, value: U256::from(1_000) });
    }
    assert_eq!(market.chain.refuse(maker(), pair, AmmPair::mintCall { to: maker() }), error(AmmPair::InsufficientShares {}));
    market.chain.send(maker(), usdc, Token::transferCall { to: pair, value: U256::from(1_000) });
    market.chain.send(maker(), pair, AmmPair::mintCall { to: maker() });
    assert_eq!(market.chain.balance(pair, Address::ZERO), U256::from(1_000));
    // A share that is worth less than the smallest unit of one side pays nothing.
    market.chain.send(maker(), pair, Token::transferCall { to: pair, value: U256::from(1) });
    assert_eq!(market.chain.refuse(maker(), pair, AmmPair::burnCall { to: maker() }), error(AmmPair::InsufficientOutput {}));
}

#[test]
fn tokens_that_keep_a_fee_or_lie_do_not_empty_a_pair() {
    let mut market = market();
    let (usdc, router, alice) = (market.usdc, market.router, named("alice"));
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
            for (mode, expected) in [(1, error(AmmRouter::InsufficientInput {})), (2, error(AmmRouter::TransferFailed { token: odd }))] {
                market.chain.send(OWNER, odd, LyingToken::setModeCall { mode_: mode });
                let sold = exact_in(units(10, 18), U256::ZERO, &[odd, usdc], alice);
                assert_eq!(market.chain.refuse(alice, router, sold), expected);
            }
            // The payment of a pair that was not made either.
            assert_eq!(market.chain.refuse(alice, router, bought), error(AmmPair::TransferFailed { token: odd }));
            continue;
        }
        let (a, b) = market.reserves(pair);
        let got = market.chain.send(alice, router, exact_in(units(1_000, 18), U256::ZERO, &[odd, usdc], alice)).value;
        // 1 % stays on the way to the pair: 990 arrive.
        assert!(got > units(970, 6) && got < units(990, 6), "{got}");
        let back = market.chain.send(alice, router, exact_in(units(1_000, 6), U256::ZERO, &[usdc, odd], alice)).value;
        assert!(back > units(975, 18) && back < units(1_000, 18), "{back}");
        let (c, d) = market.reserves(pair);
        assert!(c * d >= a * b);
        let exact = exact_out(units(10, 6), U256::MAX, &[odd, usdc], alice);
        let (selector, _) = split(&market.chain.refuse(alice, router, exact));
        assert_eq!(selector, selector_of::<AmmRouter::TooLittleReceived>());
    }
}

#[test]
fn a_token_that_calls_back_finds_the_door_shut() {
    let mut market = market();
    let (usdc, router, alice) = (market.usdc, market.router, named("alice"));
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
    assert_eq!((ran.ok, ran.answer), (false, error(AmmPair::Reentered {})));
    let data = alloy_sol_types::SolCall::abi_encode(&exact_in(units(1, 6), U256::ZERO, &[usdc, hook], alice)).into();
    market.chain.send(OWNER, hook, HookToken::setHookCall { target: router, data });
    let done = market.chain.send(alice, router, exact_in(units(10, 6), U256::ZERO, &[usdc, hook], alice));
    assert_eq!(done.event::<HookToken::HookRan>().answer, error(AmmRouter::Reentered {}));
}

#[derive(Debug, Clone)]
enum Step {
    In { token: u8, amount: u64 },
    Out { token: u8, amount: u64 },
    Add { amount: u64 },
    Remove { bps: u16 },
    Give { token: u8, amount: u64 },
    Direct { token: u8, paid: u64, wanted: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let amount = || 0..40_u32;
    let value = |bits: u32| 1_u64 << bits;
    prop_oneof![
        (0..2_u8, amount(), any::<u16>()).prop_map(move |(token, bits, odd)| Step::In { token, amount: value(bits) + u64::from(odd) }),
        (0..2_u8, amount(), any::<u16>()).prop_map(move |(token, bits, odd)| Step::Out { token, amount: value(bits) + u64::from(odd) }),
        amount().prop_map(move |bits| Step::Add { amount: value(bits) }),
        (1..=10_000_u16).prop_map(|bps| Step::Remove { bps }),
        (0..2_u8, amount()).prop_map(move |(token, bits)| Step::Give { token, amount: value(bits) }),
        (0..2_u8, amount(), amount()).prop_map(move |(token, paid, wanted)| Step::Direct {
            token,
            paid: value(paid),
            wanted: value(wanted)
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    // Whatever alice does, she cannot have more of one token without having less of the other, and a share of the pair never loses:
    // the root of the product for each share only grows.
    #[test]
    fn no_sequence_takes_value_out_of_a_pair(steps in prop::collection::vec(step(), 1..14), fee in any::<bool>()) {
        let mut market = market();
        let alice = named("alice");
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
            let swap = matches!(step, Step::In { .. } | Step::Out { .. } | Step::Direct { .. });
            match step {
                Step::In { token, amount } => {
                    let path = [tokens[usize::from(token)], tokens[usize::from(1 - token)]];
                    let _ = market.chain.try_send(alice, router, U256::ZERO, &exact_in(U256::from(amount), U256::ZERO, &path, alice));
                }
                Step::Out { token, amount } => {
                    let path = [tokens[usize::from(token)], tokens[usize::from(1 - token)]];
                    let _ = market.chain.try_send(alice, router, U256::ZERO, &exact_out(U256::from(amount), U256::MAX, &path, alice));
                }
                Step::Add { amount } => {
                    let call = AmmRouter::addLiquidityCall {
                        tokenA: tokens[0], tokenB: tokens[1], desiredA: U256::from(amount), desiredB: U256::from(amount),
                        minA: U256::ZERO, minB: U256::ZERO, to: alice, deadline: FOREVER,
                    };
                    let _ = market.chain.try_send(alice, router, U256::ZERO, &call);
                }
                Step::Remove { bps } => {
                    let shares = market.chain.balance(pair, alice) * U256::from(bps) / U256::from(10_000);
                    let (a, b) = (market.chain.balance(tokens[0], alice), market.chain.balance(tokens[1], alice));
                    let call = AmmRouter::removeLiquidityCall {
                        tokenA: tokens[0], tokenB: tokens[1], shares, minA: U256::ZERO, minB: U256::ZERO, to: alice, deadline: FOREVER,
                    };
                    if market.chain.try_send(alice, router, U256::ZERO, &call).is_ok() {
                        let (x, y) = if tokens[0] < tokens[1] { (x, y) } else { (y, x) };
                        // Never more than the share, of either token. What lay there unaccounted for belongs to the sharers too.
                        prop_assert!((market.chain.balance(tokens[0], alice) - a) * supply <= shares * (x + given[0]));
                        prop_assert!((market.chain.balance(tokens[1], alice) - b) * supply <= shares * (y + given[1]));
                    }
                }
                Step::Give { token, amount } => {
                    let token = usize::from(token);
                    if market.chain.try_send(alice, tokens[token], U256::ZERO, &Token::transferCall { to: pair, value: U256::from(amount) }).is_ok() {
                        given[token] += U256::from(amount);
                    }
                }
                Step::Direct { token, paid, wanted } => {
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
            // sqrt(v w) / supply' >= sqrt(x y) / supply, without roots
            let later = market.chain.view(pair, Token::totalSupplyCall {});
            prop_assert!(wide(v, w, supply) >= wide(x, y, later), "a share lost value");
        }
        let has = [market.chain.balance(tokens[0], alice), market.chain.balance(tokens[1], alice)];
        let free = |a: usize, b: usize| has[a] > had[a] && has[b] >= had[b];
        prop_assert!(!free(0, 1) && !free(1, 0), "free value: {had:?} -> {has:?}");
    }

    // A round trip never pays.
    #[test]
    fn there_and_back_never_pays(bits in 0..45_u32, odd in any::<u32>(), x in 20..50_u32, y in 20..50_u32) {
        let mut market = market();
        let (usdc, dai, router, alice) = (market.usdc, market.dai, market.router, named("alice"));
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

fn wide(a: U256, b: U256, supply: U256) -> alloy_primitives::U512 {
    use alloy_primitives::U512;
    U512::from(a) * U512::from(b) * U512::from(supply) * U512::from(supply)
}
