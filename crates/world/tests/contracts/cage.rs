//! The cage: what the operator may do, each refusal by its name, and that no sequence of calls spends more than the limits.

use alloy_primitives::aliases::{U48, U160};
use alloy_primitives::{Address, B256, Bytes, FixedBytes, U256, keccak256};
use alloy_sol_types::{SolCall, SolValue};

use crate::amm::{Market, exact_in, liquid};
use crate::harness::*;

const PLAIN: u8 = 1;
const VAULT_SHARE: u8 = 2;
const PAIR_SHARE: u8 = 3;
const GENERIC: u8 = 1;
const ROUTER: u8 = 2;
const VAULT: u8 = 3;
pub(crate) const VENUE: u8 = 4;
const PERMIT2: u8 = 5;
const WRAPPER: u8 = 6;

pub(crate) const HOUR: u64 = 3_600;
pub(crate) const DAY: u64 = 86_400;

pub(crate) fn usd(amount: u64) -> U256 {
    units(amount, 8)
}

pub(crate) fn one() -> U256 {
    U256::from(1)
}

fn operator() -> Address {
    Signer::new("operator").address()
}

pub(crate) fn guardian() -> Address {
    named("guardian")
}

pub(crate) fn villain() -> Address {
    named("villain")
}

pub(crate) fn lending() -> B256 {
    keccak256("lending")
}

/// The limits that a new cage has.
fn defaults() -> CageConfig::Limits {
    CageConfig::Limits {
        perTxUsd8: 10_000 * 100_000_000,
        perSessionUsd8: 50_000 * 100_000_000,
        perDayUsd8: 100_000 * 100_000_000,
        maxWritesPerHour: 20,
        maxRebalancesPerDay: 0,
        minRebalanceInterval: 0,
        minCollateralRatioBps: 12_500,
        maxPositionBps: 2_500,
        maxConcentrationBps: 3_000,
        maxSlippageBps: 100,
        maxDrawdownBps: 1_300,
        maxAssets: 10,
    }
}

#[derive(Clone)]
pub(crate) struct Cage {
    pub(crate) chain: Chain,
    pub(crate) at: Address,
    pub(crate) router: Address,
    pub(crate) vault: Address,
    pub(crate) venue: Address,
    pub(crate) permit2: Address,
    pub(crate) registry: Address,
    pub(crate) sanctions: Address,
    pub(crate) weth: Address,
    pub(crate) usdc: Address,
    pub(crate) dai: Address,
    pub(crate) hook: Address,
    pub(crate) pair: Address,
}

/// Where venues count their moves.
pub(crate) fn counter() -> Address {
    named("moves")
}

/// 200,000 USDC (cash), 50,000 DAI, 10 WETH and 5 ether at 3,000, 10,000 of a token that calls back at 1: 305,000 USD.
pub(crate) fn cage() -> Cage {
    let mut market = liquid();
    let pair = {
        let (a, b) = (market.weth, market.usdc);
        market.pair(a, b)
    };
    let Market { mut chain, router, weth, usdc, dai, .. } = market;
    let hook = chain.token_of("HookToken", "HOOK", 18);
    let (at, vault, venue, permit2, registry, sanctions) =
        (named("cage"), named("vault"), named("venue"), named("permit2"), named("registry"), named("sanctions"));
    let places = [
        ("Moves", counter()),
        ("PolicyCage", at),
        ("Vault", vault),
        ("Venue", venue),
        ("Permit2", permit2),
        ("IdentityRegistry", registry),
        ("SanctionsList", sanctions),
    ];
    for (contract, place) in places {
        chain.etch(contract, place);
    }
    chain.send(OWNER, vault, Vault::initCall { asset_: usdc, name_: "Vault".into(), symbol_: "V".into(), owner_: OWNER });
    chain.send(OWNER, venue, Venue::initCall { owner_: OWNER });
    chain.send(OWNER, venue, Venue::setCounterCall { counter_: counter() });
    chain.send(OWNER, registry, IdentityRegistry::initCall { name_: "Agents".into(), symbol_: "A".into() });
    chain.send(OWNER, sanctions, SanctionsList::initCall { owner_: OWNER });
    chain.send(OWNER, venue, Venue::setMarketCall { market: lending(), open: true, minRatioBps: 11_000 });
    for (asset, price, decimals) in [(usdc, 1, 6), (dai, 1, 18), (weth, 3_000, 18)] {
        chain.send(OWNER, venue, Venue::setPriceCall { asset, priceUsd8: price * 100_000_000, decimals });
    }
    chain.mint(usdc, venue, units(1_000_000, 6));
    chain.mint(dai, venue, units(1_000_000, 18));

    chain.send(OWNER, at, PolicyCage::initCall { owner_: OWNER, operator_: operator() });
    chain.send(OWNER, at, PolicyCage::setGuardianCall { guardian_: guardian() });
    chain.send(OWNER, at, PolicyCage::setCounterCall { counter_: counter() });
    let asset =
        |asset, kind, decimals, base, price: u128| PolicyCage::setAssetCall { asset, kind, decimals, base, priceUsd8: price * 100_000_000 };
    for call in [
        asset(NATIVE, PLAIN, 18, false, 3_000),
        asset(weth, PLAIN, 18, false, 3_000),
        asset(usdc, PLAIN, 6, true, 1),
        asset(dai, PLAIN, 18, false, 1),
        asset(hook, PLAIN, 18, false, 1),
        asset(vault, VAULT_SHARE, 9, false, 0),
        asset(pair, PAIR_SHARE, 18, false, 0),
    ] {
        chain.send(OWNER, at, call);
    }
    for (protocol, kind) in [(router, ROUTER), (vault, VAULT), (venue, VENUE), (permit2, PERMIT2), (weth, WRAPPER), (registry, GENERIC)] {
        chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol, kind });
    }
    chain.mint(usdc, at, units(200_000, 6));
    chain.mint(dai, at, units(50_000, 18));
    chain.mint(hook, at, units(10_000, 18));
    chain.give_ether(OWNER, units(100, 18));
    chain.pay(OWNER, weth, units(50, 18), Weth::depositCall {});
    chain.send(OWNER, weth, Token::transferCall { to: at, value: units(10, 18) });
    chain.give_ether(at, units(5, 18));
    // Set as if the owner had done it before handing over: not a write of the operator.
    for (token, spender) in
        [(usdc, router), (dai, router), (weth, router), (pair, router), (usdc, vault), (usdc, venue), (dai, venue), (weth, venue)]
    {
        chain.allow(at, token, spender);
    }
    Cage { chain, at, router, vault, venue, permit2, registry, sanctions, weth, usdc, dai, hook, pair }
}

pub(crate) fn call(target: Address, value: U256, data: &impl SolCall) -> PolicyCage::Call {
    PolicyCage::Call { target, value, data: data.abi_encode().into() }
}

pub(crate) fn execute(call: PolicyCage::Call) -> PolicyCage::executeCall {
    PolicyCage::executeCall { target: call.target, value: call.value, data: call.data }
}

impl Cage {
    fn run(&mut self, target: Address, data: &impl SolCall) -> Done<Bytes> {
        self.chain.send(operator(), self.at, execute(call(target, U256::ZERO, data)))
    }

    fn stop(&mut self, target: Address, data: &impl SolCall) -> Bytes {
        self.chain.refuse(operator(), self.at, execute(call(target, U256::ZERO, data)))
    }

    pub(crate) fn set(&mut self, change: impl FnOnce(&mut CageConfig::Limits)) {
        let mut limits = self.chain.view(self.at, PolicyCage::limitsCall {});
        change(&mut limits);
        self.chain.send(OWNER, self.at, PolicyCage::setLimitsCall { limits_: limits });
    }

    fn nav(&mut self) -> U256 {
        self.chain.view(self.at, PolicyCage::navCall {})
    }

    pub(crate) fn spent(&mut self) -> (U256, U256) {
        (self.chain.view(self.at, PolicyCage::spentSessionCall {}), self.chain.view(self.at, PolicyCage::spentDayCall {}))
    }

    /// Sells through the pool without asking the cage, so that its price is off.
    pub(crate) fn push_price(&mut self, usdc: u64) {
        let (router, path) = (self.router, [self.usdc, self.weth]);
        self.chain.send(named("alice"), router, exact_in(units(usdc, 6), U256::ZERO, &path, named("alice")));
    }
}

pub(crate) fn pay(to: Address, value: U256) -> Token::transferCall {
    Token::transferCall { to, value }
}

fn over(scope: u8, spent: U256, limit: u64) -> Bytes {
    error(PolicyCage::SpendingLimitExceeded { scope, spent, limit: usd(limit) })
}

#[test]
fn a_transfer_within_the_limits_goes_through() {
    let mut cage = cage();
    let (usdc, bob) = (cage.usdc, named("bob"));
    assert_eq!(cage.nav(), usd(305_000));
    let done = cage.run(usdc, &pay(bob, units(10_000, 6)));
    let event = done.event::<PolicyCage::Executed>();
    assert_eq!((event.target, event.selector.0, event.spentUsd), (usdc, Token::transferCall::SELECTOR, usd(10_000)));
    assert!(Token::transferCall::abi_decode_returns(&done.value).unwrap());
    assert_eq!(cage.chain.balance(usdc, bob), units(10_000, 6));
    assert_eq!(cage.spent(), (usd(10_000), usd(10_000)));
    assert_eq!(cage.chain.view(cage.at, PolicyCage::writesLastHourCall {}), one());
}

#[test]
fn one_unit_more_than_a_transaction_may_spend() {
    let mut cage = cage();
    let (usdc, weth, bob) = (cage.usdc, cage.weth, named("bob"));
    assert_eq!(cage.stop(usdc, &pay(bob, units(10_000, 6) + one())), over(0, usd(10_000) + U256::from(100), 10_000));
    cage.set(|limits| limits.perTxUsd8 = 6_000 * 100_000_000);
    cage.run(weth, &pay(bob, units(2, 18)));
    // One wei is worth less than the smallest unit of USD: still over.
    assert_eq!(cage.stop(weth, &pay(bob, units(2, 18) + one())), over(0, usd(6_000) + one(), 6_000));
    let ether = PolicyCage::executeCall { target: bob, value: units(2, 18) + one(), data: Bytes::new() };
    assert_eq!(cage.chain.refuse(operator(), cage.at, ether.clone()), over(0, usd(6_000) + one(), 6_000));
    cage.chain.send(operator(), cage.at, PolicyCage::executeCall { value: units(2, 18), ..ether });
    assert_eq!(cage.chain.ether(bob), units(2, 18));
}

#[test]
fn splitting_hits_the_session_and_then_the_day() {
    let mut cage = cage();
    let (usdc, bob) = (cage.usdc, named("bob"));
    for _ in 0..5 {
        cage.run(usdc, &pay(bob, units(10_000, 6)));
        cage.chain.now += 60;
    }
    assert_eq!(cage.stop(usdc, &pay(bob, one())), over(1, usd(50_000) + U256::from(100), 50_000));
    let at = cage.at;
    assert_eq!(cage.chain.send(OWNER, at, PolicyCage::startSessionCall {}).event::<PolicyCage::SessionStarted>().session, one());
    for _ in 0..5 {
        cage.run(usdc, &pay(bob, units(10_000, 6)));
    }
    cage.chain.send(OWNER, at, PolicyCage::startSessionCall {});
    assert_eq!(cage.stop(usdc, &pay(bob, one())), over(2, usd(100_000) + U256::from(100), 100_000));
    // The first payment counts for a day to the second.
    cage.chain.now = START + DAY - 1;
    assert_eq!(cage.stop(usdc, &pay(bob, one())), over(2, usd(100_000) + U256::from(100), 100_000));
    cage.chain.now = START + DAY;
    assert_eq!(cage.spent(), (U256::ZERO, usd(90_000)));
    cage.run(usdc, &pay(bob, units(10_000, 6)));
    assert_eq!(cage.stop(usdc, &pay(bob, one())), over(2, usd(100_000) + U256::from(100), 100_000));
}

#[test]
fn a_batch_is_one_transaction_and_all_or_nothing() {
    let mut cage = cage();
    let (usdc, dai, at, bob) = (cage.usdc, cage.dai, cage.at, named("bob"));
    let batch = |second| PolicyCage::executeBatchCall {
        calls: vec![call(usdc, U256::ZERO, &pay(bob, units(6_000, 6))), call(dai, U256::ZERO, &pay(bob, second))],
    };
    assert_eq!(cage.chain.refuse(operator(), at, batch(units(6_000, 18))), over(0, usd(12_000), 10_000));
    assert_eq!(cage.chain.balance(usdc, bob), U256::ZERO);
    let done = cage.chain.send(operator(), at, batch(units(4_000, 18)));
    assert_eq!((done.value.len(), done.events::<PolicyCage::Executed>().len()), (2, 2));
    assert_eq!(cage.chain.view(at, PolicyCage::writesLastHourCall {}), U256::from(2));
    assert_eq!(cage.chain.refuse(operator(), at, PolicyCage::executeBatchCall { calls: vec![] }), error(PolicyCage::EmptyBatch {}));
}

// The operator may be a contract that calls twice: here another cage.
#[test]
fn two_calls_in_one_transaction_share_its_limit() {
    let mut cage = cage();
    let (usdc, at, bob, other) = (cage.usdc, cage.at, named("bob"), named("other cage"));
    cage.chain.etch("PolicyCage", other);
    cage.chain.send(OWNER, other, PolicyCage::initCall { owner_: OWNER, operator_: operator() });
    cage.chain.send(OWNER, other, PolicyCage::setProtocolCall { protocol: at, kind: GENERIC });
    cage.chain.send(OWNER, other, PolicyCage::setSelectorCall { selector: PolicyCage::executeCall::SELECTOR.into(), allowed: true });
    cage.chain.send(OWNER, at, PolicyCage::setOperatorCall { operator_: other });
    let inner = execute(call(usdc, U256::ZERO, &pay(bob, units(6_000, 6))));
    let calls = vec![call(at, U256::ZERO, &inner), call(at, U256::ZERO, &inner)];
    assert_eq!(cage.chain.refuse(operator(), other, PolicyCage::executeBatchCall { calls: calls.clone() }), over(0, usd(12_000), 10_000));
    cage.chain.send(operator(), other, PolicyCage::executeBatchCall { calls: calls[..1].to_vec() });
}

#[test]
fn writes_are_counted_by_the_hour() {
    let mut cage = cage();
    let (usdc, at) = (cage.usdc, cage.at);
    let write = pay(named("bob"), one());
    cage.run(usdc, &write);
    cage.chain.now += 10;
    let calls = vec![call(usdc, U256::ZERO, &write); 19];
    cage.chain.send(operator(), at, PolicyCage::executeBatchCall { calls });
    let limited = error(PolicyCage::RateLimitExceeded {});
    assert_eq!(cage.stop(usdc, &write), limited);
    cage.chain.now = START + HOUR - 1;
    assert_eq!(cage.stop(usdc, &write), limited);
    cage.chain.now = START + HOUR;
    cage.run(usdc, &write);
    assert_eq!(cage.stop(usdc, &write), limited);
    cage.chain.now = START + HOUR + 10;
    cage.run(usdc, &write);
    let calls = vec![call(usdc, U256::ZERO, &write); 19];
    assert_eq!(cage.chain.refuse(operator(), at, PolicyCage::executeBatchCall { calls }), limited);
}

#[test]
fn an_approval_in_a_batch_is_part_of_the_write_that_needs_it() {
    let mut cage = cage();
    let (usdc, dai, router, permit2, registry, at) = (cage.usdc, cage.dai, cage.router, cage.permit2, cage.registry, cage.at);
    let approve = call(usdc, U256::ZERO, &Token::approveCall { spender: router, value: units(10, 6) });
    let raise = call(usdc, U256::ZERO, &Token::increaseAllowanceCall { spender: router, added: one() });
    let lower = call(usdc, U256::ZERO, &Token::decreaseAllowanceCall { spender: router, removed: one() });
    let lend = Permit2::approveCall { token: usdc, spender: router, amount: U160::from(1), expiration: U48::ZERO };
    let lend = call(permit2, U256::ZERO, &lend);
    let swap = call(router, U256::ZERO, &exact_in(units(10, 6), U256::ZERO, &[usdc, dai], at));
    let mut counted = |calls: Vec<PolicyCage::Call>| {
        let before = cage.chain.view(at, PolicyCage::writesLastHourCall {});
        cage.chain.send(operator(), at, PolicyCage::executeBatchCall { calls });
        cage.chain.view(at, PolicyCage::writesLastHourCall {}) - before
    };
    assert_eq!(counted(vec![approve.clone(), swap.clone()]), one());
    assert_eq!(
        counted(vec![approve.clone(), raise.clone(), lower.clone(), lend.clone(), swap.clone(), approve.clone(), swap.clone()]),
        U256::from(2)
    );
    // Approvals alone are still something that was done, and one by one they are writes as ever.
    assert_eq!(counted(vec![approve.clone(), raise, lower, lend]), one());
    assert_eq!(counted(vec![approve.clone()]), one());
    // The same words to somebody who is no token are no allowance.
    cage.chain.send(OWNER, at, PolicyCage::setAllowArbitraryCalldataCall { allowed: true });
    cage.run(registry, &IdentityRegistry::registerCall { uri: "ipfs://me".into() });
    let agent = cage.chain.view(at, PolicyCage::writesLastHourCall {});
    let give = call(registry, U256::ZERO, &IdentityRegistry::approveCall { to: named("bob"), agentId: one() });
    cage.chain.send(operator(), at, PolicyCage::executeBatchCall { calls: vec![give, approve.clone(), swap] });
    assert_eq!(cage.chain.view(at, PolicyCage::writesLastHourCall {}), agent + U256::from(2));
    // The limit is the same for all of them.
    cage.set(|limits| limits.maxWritesPerHour = 1);
    let calls = vec![approve; 2];
    assert_eq!(cage.chain.refuse(operator(), at, PolicyCage::executeBatchCall { calls }), error(PolicyCage::RateLimitExceeded {}));
}

#[test]
fn a_halted_cage_does_nothing() {
    let mut cage = cage();
    let (usdc, at) = (cage.usdc, cage.at);
    assert_eq!(cage.chain.refuse(operator(), at, PolicyCage::haltCall {}), error(PolicyCage::NotGuardian { caller: operator() }));
    for by in [guardian(), OWNER] {
        assert_eq!(cage.chain.send(by, at, PolicyCage::haltCall {}).event::<PolicyCage::EmergencyHalt>().by, by);
        assert!(cage.chain.view(at, PolicyCage::haltedCall {}));
        assert_eq!(cage.stop(usdc, &pay(named("bob"), one())), error(PolicyCage::Halted {}));
        let calls = vec![call(usdc, U256::ZERO, &pay(named("bob"), one()))];
        assert_eq!(cage.chain.refuse(operator(), at, PolicyCage::executeBatchCall { calls }), error(PolicyCage::Halted {}));
        assert_eq!(cage.chain.refuse(guardian(), at, PolicyCage::resumeCall {}), error(PolicyCage::NotOwner { caller: guardian() }));
        cage.chain.send(OWNER, at, PolicyCage::resumeCall {});
        cage.run(usdc, &pay(named("bob"), one()));
    }
}

#[test]
fn sanctioned_addresses_are_never_dealt_with() {
    let mut cage = cage();
    let (usdc, at, bad) = (cage.usdc, cage.at, villain());
    assert!(cage.chain.view(at, PolicyCage::checkSanctionsCall { account: bad }));
    cage.chain.send(OWNER, at, PolicyCage::setSanctionedCall { account: bad, sanctioned_: true });
    assert!(!cage.chain.view(at, PolicyCage::checkSanctionsCall { account: bad }));
    let named_bad = error(PolicyCage::SanctionedAddress { account: bad });
    assert_eq!(cage.stop(usdc, &pay(bad, one())), named_bad);
    assert_eq!(cage.stop(usdc, &Token::transferFromCall { from: bad, to: at, value: one() }), named_bad);
    assert_eq!(cage.stop(usdc, &Token::transferFromCall { from: at, to: bad, value: one() }), named_bad);
    let ether = PolicyCage::executeCall { target: bad, value: one(), data: Bytes::new() };
    assert_eq!(cage.chain.refuse(operator(), at, ether), named_bad);
    let (router, vault, venue, permit2, weth, dai) = (cage.router, cage.vault, cage.venue, cage.permit2, cage.weth, cage.dai);
    assert_eq!(cage.stop(router, &exact_in(units(1, 6), U256::ZERO, &[usdc, weth], bad)), named_bad);
    assert_eq!(cage.stop(vault, &Vault::depositCall { assets: units(1, 6), receiver: bad }), named_bad);
    assert_eq!(cage.stop(vault, &Vault::redeemCall { shares: one(), receiver: bad, owner_: at }), named_bad);
    assert_eq!(cage.stop(vault, &Vault::withdrawCall { assets: one(), receiver: at, owner_: bad }), named_bad);
    assert_eq!(cage.stop(venue, &Venue::exitCall { market: lending(), asset: usdc, amount: one(), to: bad }), named_bad);
    assert_eq!(cage.stop(venue, &Venue::borrowCall { market: lending(), asset: usdc, amount: one(), to: bad }), named_bad);
    assert_eq!(cage.stop(venue, &Venue::claimCall { market: lending(), asset: usdc, to: bad }), named_bad);
    let bridge = Venue::bridgeOutCall { asset: usdc, amount: one(), dstChain: one(), to: bad };
    assert_eq!(cage.stop(venue, &bridge), named_bad);
    let convert = Venue::convertCall { market: lending(), assetIn: usdc, amountIn: one(), assetOut: dai, minOut: one(), to: bad };
    assert_eq!(cage.stop(venue, &convert), named_bad);
    let pull = Permit2::transferFromCall { from: at, to: bad, amount: U160::from(1), token: usdc };
    assert_eq!(cage.stop(permit2, &pull), named_bad);
    // A protocol that was sanctioned after it was approved: as target, and as the one who gets an allowance.
    cage.chain.send(OWNER, at, PolicyCage::setSanctionedCall { account: router, sanctioned_: true });
    let named_router = error(PolicyCage::SanctionedAddress { account: router });
    assert_eq!(cage.stop(router, &exact_in(units(1, 6), U256::ZERO, &[usdc, weth], at)), named_router);
    assert_eq!(cage.stop(usdc, &Token::approveCall { spender: router, value: one() }), named_router);
    cage.run(usdc, &Token::approveCall { spender: router, value: U256::ZERO });
    // Calldata that cannot be read is searched.
    let registry = cage.registry;
    cage.chain.send(OWNER, at, PolicyCage::setAllowArbitraryCalldataCall { allowed: true });
    assert_eq!(cage.stop(registry, &IdentityRegistry::approveCall { to: bad, agentId: one() }), named_bad);
    cage.chain.send(OWNER, at, PolicyCage::setSanctionedCall { account: bad, sanctioned_: false });
    cage.run(usdc, &pay(bad, one()));
}

#[test]
fn an_unanswered_question_about_sanctions_stops_everything() {
    let mut cage = cage();
    let (usdc, at, sanctions, bob) = (cage.usdc, cage.at, cage.sanctions, named("bob"));
    cage.chain.send(OWNER, at, PolicyCage::setSanctionsOracleCall { oracle: sanctions });
    cage.run(usdc, &pay(bob, one()));
    cage.chain.send(OWNER, sanctions, SanctionsList::setSanctionedCall { account: bob, sanctioned: true });
    assert_eq!(cage.stop(usdc, &pay(bob, one())), error(PolicyCage::SanctionedAddress { account: bob }));
    cage.run(usdc, &pay(named("carol"), one()));
    cage.chain.send(OWNER, sanctions, SanctionsList::setDownCall { down_: true });
    assert_eq!(cage.chain.refuse(bob, sanctions, SanctionsList::isSanctionedCall { account: bob }), error(SanctionsList::OutOfService {}));
    let unavailable = error(PolicyCage::SanctionsOracleUnavailable {});
    assert_eq!(cage.stop(usdc, &pay(named("carol"), one())), unavailable);
    // Nobody there; somebody who answers nothing; somebody who answers another question.
    for oracle in [named("nobody"), at, cage.weth] {
        cage.chain.send(OWNER, at, PolicyCage::setSanctionsOracleCall { oracle });
        assert_eq!(cage.stop(usdc, &pay(named("carol"), one())), unavailable, "{oracle}");
    }
    for stranger in [
        SanctionsList::setDownCall { down_: true }.abi_encode(),
        SanctionsList::setSanctionedCall { account: bob, sanctioned: true }.abi_encode(),
    ] {
        assert!(!cage.chain.raw(bob, sanctions, U256::ZERO, stranger.into(), true).is_success());
    }
    assert_eq!(cage.chain.refuse(bob, sanctions, SanctionsList::initCall { owner_: bob }), error(SanctionsList::AlreadyInitialised {}));
}

#[test]
fn only_approved_protocols_get_allowances_of_any_size() {
    let mut cage = cage();
    let (usdc, router, permit2, at, bob) = (cage.usdc, cage.router, cage.permit2, cage.at, named("bob"));
    cage.run(usdc, &Token::approveCall { spender: router, value: U256::MAX });
    assert_eq!(cage.chain.allowance(usdc, at, router), U256::MAX);
    let not_approved = error(PolicyCage::ProtocolNotApproved { protocol: bob });
    assert_eq!(cage.stop(usdc, &Token::approveCall { spender: bob, value: one() }), not_approved);
    assert_eq!(cage.stop(usdc, &Token::increaseAllowanceCall { spender: bob, added: one() }), not_approved);
    cage.run(usdc, &Token::approveCall { spender: bob, value: U256::ZERO });
    cage.run(usdc, &Token::decreaseAllowanceCall { spender: router, removed: one() });
    let approve = |spender, amount| Permit2::approveCall { token: usdc, spender, amount, expiration: U48::MAX };
    assert_eq!(cage.stop(permit2, &approve(bob, U160::MAX)), not_approved);
    cage.run(permit2, &approve(router, U160::MAX));
    assert_eq!(cage.chain.view(permit2, Permit2::allowanceCall { _0: at, _1: usdc, _2: router }).amount, U160::MAX);
    cage.run(permit2, &approve(bob, U160::ZERO));
    cage.run(permit2, &Permit2::lockdownCall { approvals: vec![Permit2::TokenSpenderPair { token: usdc, spender: router }] });
    cage.run(permit2, &Permit2::invalidateUnorderedNoncesCall { word: U256::ZERO, mask: one() });
    let strange = Permit2::approveCall { token: bob, spender: router, amount: U160::from(1), expiration: U48::ZERO };
    assert_eq!(cage.stop(permit2, &strange), error(PolicyCage::AssetNotApproved { asset: bob }));
}

#[test]
fn what_is_not_approved_is_refused_by_name() {
    let mut cage = cage();
    let (usdc, router, weth, at) = (cage.usdc, cage.router, cage.weth, cage.at);
    let scam = cage.chain.token("SCAM", 18);
    cage.chain.mint(scam, at, units(1, 18));
    let unknown = error(PolicyCage::AssetNotApproved { asset: scam });
    assert_eq!(cage.stop(scam, &pay(named("bob"), one())), unknown);
    assert_eq!(cage.stop(scam, &Token::approveCall { spender: router, value: one() }), unknown);
    assert_eq!(cage.stop(scam, &Token::transferFromCall { from: at, to: at, value: one() }), unknown);
    assert_eq!(cage.stop(scam, &Token::decreaseAllowanceCall { spender: router, removed: one() }), unknown);
    assert_eq!(cage.stop(router, &exact_in(one(), U256::ZERO, &[usdc, scam], at)), unknown);
    assert_eq!(cage.stop(router, &exact_in(one(), U256::ZERO, &[scam, usdc], at)), unknown);
    let venue = cage.venue;
    let enter = Venue::enterCall { market: lending(), asset: scam, amount: one(), data: Bytes::new() };
    assert_eq!(cage.stop(venue, &enter), unknown);
    assert_eq!(cage.stop(venue, &Venue::claimCall { market: lending(), asset: scam, to: at }), unknown);
    let stranger = error(PolicyCage::ProtocolNotApproved { protocol: named("stranger") });
    assert_eq!(cage.stop(named("stranger"), &Weth::depositCall {}), stranger);
    assert_eq!(cage.stop(at, &PolicyCage::haltCall {}), error(PolicyCage::ProtocolNotApproved { protocol: at }));
    // A vault whose shares are not approved.
    cage.chain.send(OWNER, at, PolicyCage::setAssetCall { asset: cage.vault, kind: 0, decimals: 0, base: false, priceUsd8: 0 });
    let vault = cage.vault;
    let deposit = Vault::depositCall { assets: units(1, 6), receiver: at };
    assert_eq!(cage.stop(vault, &deposit), error(PolicyCage::AssetNotApproved { asset: vault }));
    // Without the native coin there is no sending of it.
    cage.chain.send(OWNER, at, PolicyCage::setAssetCall { asset: NATIVE, kind: 0, decimals: 0, base: false, priceUsd8: 0 });
    let ether = PolicyCage::executeCall { target: named("bob"), value: one(), data: Bytes::new() };
    assert_eq!(cage.chain.refuse(operator(), at, ether), error(PolicyCage::AssetNotApproved { asset: NATIVE }));
    let wrap = execute(call(weth, one(), &Weth::depositCall {}));
    assert_eq!(cage.chain.refuse(operator(), at, wrap), error(PolicyCage::AssetNotApproved { asset: NATIVE }));
}

#[test]
fn unknown_functions_need_the_owners_word() {
    let mut cage = cage();
    let (usdc, registry, router, at) = (cage.usdc, cage.registry, cage.router, cage.at);
    let register = IdentityRegistry::registerCall { uri: "ipfs://me".into() };
    let refused = |selector: [u8; 4]| error(PolicyCage::SelectorNotAllowed { selector: selector.into() });
    assert_eq!(cage.stop(registry, &register), refused(IdentityRegistry::registerCall::SELECTOR));
    assert_eq!(cage.stop(usdc, &Token::mintCall { to: at, value: one() }), refused(Token::mintCall::SELECTOR));
    assert_eq!(cage.stop(router, &AmmRouter::wethCall {}), refused(AmmRouter::wethCall::SELECTOR));
    cage.chain.send(OWNER, at, PolicyCage::setSelectorCall { selector: IdentityRegistry::registerCall::SELECTOR.into(), allowed: true });
    let done = cage.run(registry, &register);
    assert_eq!(done.event::<IdentityRegistry::Registered>().owner, at);
    assert_eq!(cage.stop(router, &AmmRouter::wethCall {}), refused(AmmRouter::wethCall::SELECTOR));
    cage.chain.send(OWNER, at, PolicyCage::setAllowArbitraryCalldataCall { allowed: true });
    cage.run(router, &AmmRouter::wethCall {});
    // Not even so: minting belongs to a token, and tokens that are no protocols have only their known functions.
    assert_eq!(cage.stop(usdc, &Token::mintCall { to: at, value: one() }), refused(Token::mintCall::SELECTOR));
}

#[test]
fn calldata_that_makes_no_sense_is_refused() {
    let mut cage = cage();
    let (usdc, router, at) = (cage.usdc, cage.router, cage.at);
    let malformed = error(PolicyCage::MalformedCalldata {});
    let mut dirty = pay(named("bob"), one()).abi_encode();
    dirty[4] = 1;
    let short = pay(named("bob"), one()).abi_encode()[..30].to_vec();
    let mut cases = vec![(usdc, dirty), (usdc, short), (usdc, vec![1, 2, 3])];
    for (at_word, value) in [(2, U256::from(33)), (2, U256::MAX), (5, U256::MAX), (5, one()), (5, U256::from(3))] {
        let mut data = exact_in(one(), U256::ZERO, &[usdc, cage.weth], at).abi_encode();
        data[4 + 32 * at_word..4 + 32 * (at_word + 1)].copy_from_slice(&value.to_be_bytes::<32>());
        cases.push((router, data));
    }
    for (target, data) in cases {
        let call = PolicyCage::executeCall { target, value: U256::ZERO, data: data.clone().into() };
        assert_eq!(cage.chain.refuse(operator(), at, call), malformed, "{}", Bytes::from(data));
    }
}

#[test]
fn the_reason_of_an_inner_failure_comes_out_unchanged() {
    let mut cage = cage();
    let (router, usdc, weth, at) = (cage.router, cage.usdc, cage.weth, cage.at);
    let mut swap = exact_in(units(1, 6), U256::ZERO, &[usdc, weth], at);
    swap.deadline = U256::ZERO;
    assert_eq!(cage.stop(router, &swap), error(AmmRouter::Expired { deadline: U256::ZERO }));
    assert_eq!(
        cage.stop(usdc, &pay(named("bob"), units(300_000, 6))),
        error(Token::InsufficientBalance { account: at, balance: units(200_000, 6), needed: units(300_000, 6) })
    );
}

#[test]
fn a_fair_swap_passes_and_an_unfair_one_does_not() {
    let mut cage = cage();
    let (router, usdc, weth, at) = (cage.router, cage.usdc, cage.weth, cage.at);
    let swap = |to| exact_in(units(3_000, 6), U256::ZERO, &[usdc, weth], to);
    let done = cage.run(router, &swap(at));
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(3_000));
    // For somebody else: a payment, but at a fair price all the same.
    cage.run(router, &swap(named("bob")));
    assert!(cage.chain.balance(weth, named("bob")) > units(99, 16));
    cage.push_price(30_000);
    for to in [at, named("bob")] {
        let answer = cage.stop(router, &swap(to));
        let (selector, rest) = split(&answer);
        assert_eq!(selector, selector_of::<PolicyCage::SlippageExceeded>());
        assert!(U256::from_be_slice(&rest[..32]) > U256::from(200) && U256::from_be_slice(&rest[..32]) < U256::from(300));
        assert_eq!(U256::from_be_slice(&rest[32..]), U256::from(100));
    }
    cage.set(|limits| limits.maxSlippageBps = 300);
    cage.run(router, &swap(at));
    // The other way round the same price is a gift.
    cage.run(router, &exact_in(units(1, 18), U256::ZERO, &[weth, usdc], at));
    let native = exact_in(units(1, 18), U256::ZERO, &[NATIVE, usdc], at);
    cage.chain.send(operator(), at, execute(call(router, units(1, 18), &native)));
    cage.run(router, &exact_in(units(3_000, 6), U256::ZERO, &[usdc, NATIVE], at));
}

#[test]
fn liquidity_goes_in_and_out_at_a_fair_price() {
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
    let done = cage.run(router, &add);
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
    let done = cage.run(router, &remove);
    assert!(done.event::<PolicyCage::Executed>().spentUsd < usd(1), "one's own money costs nothing");
    // Trading against the pair does not make its shares dearer.
    cage.run(router, &add);
    let before = cage.nav();
    cage.push_price(1_000_000);
    let after = cage.nav();
    assert!(after - before < usd(20), "{before} {after}");
}

#[test]
fn a_vault_and_back_costs_only_the_way_in() {
    let mut cage = cage();
    let (usdc, vault, at, bob) = (cage.usdc, cage.vault, cage.at, named("bob"));
    let done = cage.run(vault, &Vault::depositCall { assets: units(9_000, 6), receiver: at });
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(9_000));
    assert_eq!(cage.nav(), usd(305_000));
    let done = cage.run(vault, &Vault::withdrawCall { assets: units(4_000, 6), receiver: at, owner_: at });
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, U256::ZERO);
    // To somebody else it is a payment, and so is giving the shares away or depositing for somebody else.
    let done = cage.run(vault, &Vault::withdrawCall { assets: units(1_000, 6), receiver: bob, owner_: at });
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(1_000));
    let done = cage.run(vault, &pay(bob, units(500, 9)));
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(500));
    let done = cage.run(vault, &Vault::depositCall { assets: units(2_000, 6), receiver: bob });
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(2_000));
    assert_eq!(cage.chain.balance(usdc, at), units(193_000, 6));
    assert_eq!(cage.nav(), usd(305_000 - 3_500));
}

#[test]
fn what_leaves_by_a_venue_is_measured_too() {
    let mut cage = cage();
    let (usdc, dai, venue, at, bob) = (cage.usdc, cage.dai, cage.venue, cage.at, named("bob"));
    let spent = |done: Done<Bytes>| done.event::<PolicyCage::Executed>().spentUsd;
    let enter = Venue::enterCall { market: lending(), asset: usdc, amount: units(9_000, 6), data: Bytes::new() };
    assert_eq!(spent(cage.run(venue, &enter)), usd(9_000));
    assert_eq!(cage.nav(), usd(305_000));
    let exit = |amount, to| Venue::exitCall { market: lending(), asset: usdc, amount, to };
    assert_eq!(spent(cage.run(venue, &exit(units(1_000, 6), at))), U256::ZERO);
    assert_eq!(spent(cage.run(venue, &exit(units(1_000, 6), bob))), usd(1_000));
    let borrow = |amount, to| Venue::borrowCall { market: lending(), asset: dai, amount, to };
    assert_eq!(spent(cage.run(venue, &borrow(units(1_000, 18), at))), U256::ZERO);
    assert_eq!(spent(cage.run(venue, &borrow(units(1_000, 18), bob))), usd(1_000));
    assert_eq!(spent(cage.run(venue, &Venue::repayCall { market: lending(), asset: dai, amount: U256::MAX })), usd(2_000));
    let convert = Venue::convertCall { market: lending(), assetIn: usdc, amountIn: units(500, 6), assetOut: dai, minOut: one(), to: at };
    assert_eq!(spent(cage.run(venue, &convert)), usd(500));
    cage.chain.mint(usdc, OWNER, units(10, 6));
    cage.chain.allow(OWNER, usdc, venue);
    cage.chain.send(OWNER, venue, Venue::fundRewardCall { account: at, market: lending(), asset: usdc, amount: units(10, 6) });
    assert_eq!(spent(cage.run(venue, &Venue::claimCall { market: lending(), asset: usdc, to: at })), U256::ZERO);
    let bridge = Venue::bridgeOutCall { asset: usdc, amount: units(300, 6), dstChain: U256::from(10), to: at };
    assert_eq!(spent(cage.run(venue, &bridge)), usd(300));
    assert_eq!(
        cage.stop(venue, &Venue::setPriceCall { asset: dai, priceUsd8: 1, decimals: 18 }),
        error(PolicyCage::SelectorNotAllowed { selector: Venue::setPriceCall::SELECTOR.into() })
    );
}

/// A venue that loses its approval and gets it back still holds what the account put there, and what it owes.
#[test]
fn a_venue_approved_again_is_still_looked_at() {
    let mut cage = cage();
    let (usdc, dai, venue, at) = (cage.usdc, cage.dai, cage.venue, cage.at);
    cage.run(venue, &Venue::enterCall { market: lending(), asset: usdc, amount: units(9_000, 6), data: Bytes::new() });
    cage.run(venue, &Venue::borrowCall { market: lending(), asset: dai, amount: units(1_000, 18), to: at });
    let before = cage.nav();
    cage.chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol: venue, kind: 0 });
    assert_eq!(cage.nav(), before - usd(8_000));
    cage.chain.send(OWNER, at, PolicyCage::setProtocolCall { protocol: venue, kind: VENUE });
    assert_eq!(cage.nav(), before);
}

#[test]
fn loans_keep_the_owners_ratio() {
    let mut cage = cage();
    let (usdc, dai, venue, at) = (cage.usdc, cage.dai, cage.venue, cage.at);
    cage.run(venue, &Venue::enterCall { market: lending(), asset: usdc, amount: units(10_000, 6), data: Bytes::new() });
    let borrow = |amount| Venue::borrowCall { market: lending(), asset: dai, amount, to: at };
    // The venue would lend up to 110 %, the cage wants 125 %.
    assert_eq!(
        cage.stop(venue, &borrow(units(8_001, 18))),
        error(PolicyCage::CollateralRatioTooLow { bps: U256::from(12_498), min: U256::from(12_500) })
    );
    cage.run(venue, &borrow(units(8_000, 18)));
    let check = cage.chain.view(at, PolicyCage::checkCollateralRatioCall { venue });
    assert_eq!((check.ok, check.bps), (true, U256::from(12_500)));
    // Below by a change of prices: paying back is allowed, taking out is not.
    cage.chain.send(OWNER, at, PolicyCage::setAssetCall { asset: dai, kind: PLAIN, decimals: 18, base: false, priceUsd8: 105_000_000 });
    assert!(!cage.chain.view(at, PolicyCage::checkCollateralRatioCall { venue }).ok);
    let exit = Venue::exitCall { market: lending(), asset: usdc, amount: units(1, 6), to: at };
    let (selector, _) = split(&cage.stop(venue, &exit)).to_owned();
    assert_eq!(selector, selector_of::<PolicyCage::CollateralRatioTooLow>());
    cage.run(venue, &Venue::repayCall { market: lending(), asset: dai, amount: units(100, 18) });
}

#[test]
fn no_asset_and_no_position_grows_too_large() {
    let mut cage = cage();
    let (usdc, dai, router, vault, venue, at) = (cage.usdc, cage.dai, cage.router, cage.vault, cage.venue, cage.at);
    cage.set(|limits| limits.maxConcentrationBps = 1_700);
    let buy = |amount| exact_in(units(amount, 6), U256::ZERO, &[usdc, dai], at);
    cage.run(router, &buy(1_000));
    let answer = cage.stop(router, &buy(2_000));
    let (selector, rest) = split(&answer);
    assert_eq!(selector, selector_of::<PolicyCage::ConcentrationExceeded>());
    assert_eq!(Address::from_slice(&rest[12..32]), dai);
    // Selling is always allowed, also when it is too much already.
    cage.set(|limits| limits.maxConcentrationBps = 500);
    let check = cage.chain.view(at, PolicyCage::checkConcentrationCall { asset: dai });
    assert_eq!((check.ok, check.bps), (false, U256::from(1_672)));
    assert!(cage.chain.view(at, PolicyCage::checkConcentrationCall { asset: usdc }).ok, "cash has no limit");
    cage.run(router, &exact_in(units(1_000, 18), U256::ZERO, &[dai, usdc], at));

    cage.set(|limits| limits.maxPositionBps = 300);
    let deposit = |amount| Vault::depositCall { assets: units(amount, 6), receiver: at };
    cage.run(vault, &deposit(9_000));
    let answer = cage.stop(vault, &deposit(1_000));
    assert_eq!(split(&answer).0, selector_of::<PolicyCage::PositionExceeded>());
    let enter = |amount| Venue::enterCall { market: lending(), asset: usdc, amount: units(amount, 6), data: Bytes::new() };
    cage.run(venue, &enter(9_000));
    let answer = cage.stop(venue, &enter(1_000));
    assert_eq!(split(&answer).0, selector_of::<PolicyCage::PositionExceeded>());
    assert_eq!(Address::from_slice(&split(&answer).1[12..32]), venue);
}

#[test]
fn a_loss_of_value_stops_the_operator_until_the_owner_acknowledges() {
    let mut cage = cage();
    let (usdc, weth, at, bob) = (cage.usdc, cage.weth, cage.at, named("bob"));
    // Payments are no losses: a third of the account may be paid out.
    for _ in 0..5 {
        cage.run(usdc, &pay(bob, units(10_000, 6)));
    }
    assert_eq!(cage.chain.view(at, PolicyCage::checkDrawdownCall {}).bps, U256::ZERO);
    // 255,000 left, 30,000 of it in WETH; it loses half: 5.88 %.
    let price = |usd: u128| PolicyCage::setAssetCall { asset: weth, kind: PLAIN, decimals: 18, base: false, priceUsd8: usd * 100_000_000 };
    cage.chain.send(OWNER, at, price(1_500));
    let check = cage.chain.view(at, PolicyCage::checkDrawdownCall {});
    assert_eq!((check.ok, check.bps), (true, U256::from(588)));
    cage.set(|limits| limits.maxDrawdownBps = 500);
    cage.chain.send(OWNER, at, PolicyCage::startSessionCall {});
    let stopped = error(PolicyCage::DrawdownExceeded { bps: U256::from(588), max: U256::from(500) });
    let approve = Token::approveCall { spender: cage.router, value: one() };
    assert_eq!(cage.stop(usdc, &approve), stopped);
    // Waiting does not help.
    cage.chain.now += 2 * DAY;
    assert_eq!(cage.stop(usdc, &approve), stopped);
    assert_eq!(
        cage.chain.refuse(operator(), at, PolicyCage::acknowledgeDrawdownCall {}),
        error(PolicyCage::NotOwner { caller: operator() })
    );
    cage.chain.send(OWNER, at, PolicyCage::acknowledgeDrawdownCall {});
    cage.run(usdc, &approve);
    // A smaller loss is forgotten a day after it was first seen.
    cage.chain.send(OWNER, at, price(1_000));
    cage.run(usdc, &approve);
    cage.chain.send(OWNER, at, price(500));
    cage.run(usdc, &approve);
    cage.chain.send(OWNER, at, price(100));
    assert_eq!(split(&cage.stop(usdc, &approve)).0, selector_of::<PolicyCage::DrawdownExceeded>());
    cage.chain.now += DAY;
    cage.run(usdc, &approve);
    assert!(cage.chain.view(at, PolicyCage::checkDrawdownCall {}).bps > U256::ZERO);
}

#[test]
fn what_others_pull_is_seen_as_a_loss_later() {
    let mut cage = cage();
    let (usdc, at) = (cage.usdc, cage.at);
    cage.run(usdc, &pay(named("bob"), one()));
    cage.chain.send(at, usdc, pay(villain(), units(60_000, 6)));
    assert_eq!(split(&cage.stop(usdc, &pay(named("bob"), one()))).0, selector_of::<PolicyCage::DrawdownExceeded>());
    // What the owner takes is no loss.
    cage.chain.send(OWNER, at, PolicyCage::acknowledgeDrawdownCall {});
    cage.run(usdc, &pay(named("bob"), one()));
    let done = cage.chain.send(OWNER, at, PolicyCage::withdrawCall { asset: usdc, amount: units(60_000, 6), to: OWNER });
    assert_eq!(done.event::<PolicyCage::Withdrawn>().amount, units(60_000, 6));
    cage.chain.send(OWNER, at, PolicyCage::withdrawCall { asset: NATIVE, amount: units(1, 18), to: OWNER });
    cage.run(usdc, &pay(named("bob"), one()));
}

#[test]
fn rebalancing_has_a_pace_if_the_owner_wants_one() {
    let mut cage = cage();
    let (usdc, dai, router, at) = (cage.usdc, cage.dai, cage.router, cage.at);
    let swap = exact_in(units(10, 6), U256::ZERO, &[usdc, dai], at);
    cage.run(router, &swap);
    cage.run(router, &swap);
    cage.set(|limits| {
        limits.minRebalanceInterval = 3_600;
        limits.maxRebalancesPerDay = 4;
    });
    assert_eq!(cage.stop(router, &swap), error(PolicyCage::RebalanceTooSoon { notBefore: U256::from(START + HOUR) }));
    cage.run(usdc, &pay(named("bob"), one()));
    cage.chain.now += HOUR;
    // The legs of a batch are one rebalance.
    let calls = vec![call(router, U256::ZERO, &swap); 2];
    cage.chain.send(operator(), at, PolicyCage::executeBatchCall { calls });
    cage.chain.now += HOUR;
    cage.run(router, &swap);
    cage.chain.now += HOUR;
    assert_eq!(cage.stop(router, &swap), error(PolicyCage::RebalanceLimitExceeded { max: U256::from(4) }));
    cage.chain.now = START + DAY;
    cage.run(router, &swap);
}

#[test]
fn wrapping_is_a_fair_trade() {
    let mut cage = cage();
    let (weth, at) = (cage.weth, cage.at);
    let wrap = execute(call(weth, units(1, 18), &Weth::depositCall {}));
    let done = cage.chain.send(operator(), at, wrap);
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, usd(3_000));
    let done = cage.run(weth, &Weth::withdrawCall { value: units(2, 18) });
    assert_eq!(done.event::<PolicyCage::Received>().amount, units(2, 18));
    assert_eq!((cage.chain.ether(at), cage.chain.balance(weth, at)), (units(6, 18), units(9, 18)));
}

#[test]
fn tokens_that_call_back_find_the_door_shut() {
    let mut cage = cage();
    let (hook, usdc, at) = (cage.hook, cage.usdc, cage.at);
    // The worst case: the token itself is the operator, and then even the owner.
    cage.chain.send(OWNER, at, PolicyCage::setOperatorCall { operator_: hook });
    let inner = execute(call(usdc, U256::ZERO, &pay(villain(), units(9_000, 6))));
    cage.chain.send(OWNER, hook, HookToken::setHookCall { target: at, data: inner.abi_encode().into() });
    let outer = execute(call(hook, U256::ZERO, &pay(named("bob"), units(1, 18))));
    let ran = cage.chain.send(hook, at, outer.clone()).event::<HookToken::HookRan>();
    assert_eq!((ran.ok, ran.answer), (false, error(PolicyCage::Reentered {})));
    assert_eq!(cage.chain.balance(usdc, villain()), U256::ZERO);
    cage.chain.send(OWNER, at, PolicyCage::setOwnerCall { owner_: hook });
    let inner = PolicyCage::startSessionCall {};
    cage.chain.send(OWNER, hook, HookToken::setHookCall { target: at, data: inner.abi_encode().into() });
    let ran = cage.chain.send(hook, at, outer).event::<HookToken::HookRan>();
    assert_eq!((ran.ok, ran.answer), (false, error(PolicyCage::Reentered {})));
}

#[test]
fn only_the_owner_configures_and_only_the_operator_acts() {
    let mut cage = cage();
    let (usdc, at, bob) = (cage.usdc, cage.at, named("bob"));
    let stranger = error(PolicyCage::NotOwner { caller: operator() });
    let calls: Vec<Vec<u8>> = vec![
        PolicyCage::setOwnerCall { owner_: bob }.abi_encode(),
        PolicyCage::setOperatorCall { operator_: bob }.abi_encode(),
        PolicyCage::setGuardianCall { guardian_: bob }.abi_encode(),
        PolicyCage::setAssetCall { asset: bob, kind: PLAIN, decimals: 18, base: false, priceUsd8: 0 }.abi_encode(),
        PolicyCage::setProtocolCall { protocol: bob, kind: GENERIC }.abi_encode(),
        PolicyCage::setLimitsCall { limits_: defaults() }.abi_encode(),
        PolicyCage::setSelectorCall { selector: FixedBytes::ZERO, allowed: true }.abi_encode(),
        PolicyCage::setAllowArbitraryCalldataCall { allowed: true }.abi_encode(),
        PolicyCage::setSanctionedCall { account: bob, sanctioned_: true }.abi_encode(),
        PolicyCage::setSanctionsOracleCall { oracle: bob }.abi_encode(),
        PolicyCage::startSessionCall {}.abi_encode(),
        PolicyCage::acknowledgeDrawdownCall {}.abi_encode(),
        PolicyCage::resumeCall {}.abi_encode(),
        PolicyCage::withdrawCall { asset: usdc, amount: one(), to: operator() }.abi_encode(),
    ];
    for data in calls {
        let revm::context::result::ExecutionResult::Revert { output, .. } = cage.chain.raw(operator(), at, U256::ZERO, data.into(), true)
        else {
            panic!("the operator changed the cage");
        };
        assert_eq!(output, stranger);
    }
    let act = execute(call(usdc, U256::ZERO, &pay(bob, one())));
    for who in [OWNER, guardian(), bob] {
        assert_eq!(cage.chain.refuse(who, at, act.clone()), error(PolicyCage::NotOperator { caller: who }));
    }
    let again = PolicyCage::initCall { owner_: bob, operator_: bob };
    assert_eq!(cage.chain.refuse(bob, at, again), error(PolicyCage::AlreadyInitialised {}));
}

#[test]
fn limits_have_limits() {
    let mut cage = cage();
    let at = cage.at;
    let fresh = cage.chain.view(at, PolicyCage::limitsCall {});
    assert_eq!(SolValue::abi_encode(&fresh), SolValue::abi_encode(&defaults()));
    let changes: [fn(&mut CageConfig::Limits); 4] = [
        |limits| limits.maxPositionBps = 10_001,
        |limits| limits.maxConcentrationBps = 10_001,
        |limits| limits.maxSlippageBps = 10_001,
        |limits| limits.maxDrawdownBps = 10_001,
    ];
    for change in changes {
        let mut limits = defaults();
        change(&mut limits);
        assert_eq!(cage.chain.refuse(OWNER, at, PolicyCage::setLimitsCall { limits_: limits }), error(PolicyCage::LimitOutOfRange {}));
    }
    let asset = |n: u64, decimals| PolicyCage::setAssetCall {
        asset: named(&format!("asset {n}")),
        kind: PLAIN,
        decimals,
        base: false,
        priceUsd8: 1,
    };
    assert_eq!(cage.chain.refuse(OWNER, at, asset(0, 37)), error(PolicyCage::LimitOutOfRange {}));
    for n in 0..3 {
        cage.chain.send(OWNER, at, asset(n, 18));
    }
    assert_eq!(cage.chain.refuse(OWNER, at, asset(3, 18)), error(PolicyCage::TooManyAssets { max: U256::from(10) }));
    assert_eq!(cage.chain.view(at, PolicyCage::assetsCall {}).len(), 10);
}

#[test]
fn the_policy_hash_follows_every_change_and_comes_back_with_it() {
    let mut cage = cage();
    let (at, usdc, router, bob) = (cage.at, cage.usdc, cage.router, named("bob"));
    let hash = |cage: &mut Cage| cage.chain.view(at, PolicyCage::policyHashCall {});
    let first = hash(&mut cage);
    let set_asset = |kind, price| PolicyCage::setAssetCall { asset: usdc, kind, decimals: 6, base: true, priceUsd8: price }.abi_encode();
    let set_protocol = |kind| PolicyCage::setProtocolCall { protocol: router, kind }.abi_encode();
    let set_limits = |assets| PolicyCage::setLimitsCall { limits_: CageConfig::Limits { maxAssets: assets, ..defaults() } }.abi_encode();
    let selector = FixedBytes([1, 2, 3, 4]);
    let changes: Vec<(Vec<u8>, Vec<u8>)> = vec![
        (set_asset(PLAIN, 1), set_asset(PLAIN, 100_000_000)),
        (set_asset(0, 0), set_asset(PLAIN, 100_000_000)),
        (set_protocol(GENERIC), set_protocol(ROUTER)),
        (set_protocol(0), set_protocol(ROUTER)),
        (set_limits(11), set_limits(10)),
        (PolicyCage::setOperatorCall { operator_: bob }.abi_encode(), PolicyCage::setOperatorCall { operator_: operator() }.abi_encode()),
        (PolicyCage::setGuardianCall { guardian_: bob }.abi_encode(), PolicyCage::setGuardianCall { guardian_: guardian() }.abi_encode()),
        (
            PolicyCage::setSelectorCall { selector, allowed: true }.abi_encode(),
            PolicyCage::setSelectorCall { selector, allowed: false }.abi_encode(),
        ),
        (
            PolicyCage::setAllowArbitraryCalldataCall { allowed: true }.abi_encode(),
            PolicyCage::setAllowArbitraryCalldataCall { allowed: false }.abi_encode(),
        ),
        (
            PolicyCage::setSanctionedCall { account: bob, sanctioned_: true }.abi_encode(),
            PolicyCage::setSanctionedCall { account: bob, sanctioned_: false }.abi_encode(),
        ),
        (
            PolicyCage::setSanctionsOracleCall { oracle: bob }.abi_encode(),
            PolicyCage::setSanctionsOracleCall { oracle: Address::ZERO }.abi_encode(),
        ),
    ];
    let mut seen = vec![first];
    for (there, back) in changes {
        assert!(cage.chain.raw(OWNER, at, U256::ZERO, there.into(), true).is_success());
        let now = hash(&mut cage);
        assert!(!seen.contains(&now));
        seen.push(now);
        assert!(cage.chain.raw(OWNER, at, U256::ZERO, back.into(), true).is_success());
        assert_eq!(hash(&mut cage), first);
    }
    cage.run(usdc, &pay(bob, one()));
    cage.chain.send(OWNER, at, PolicyCage::haltCall {});
    assert_eq!(hash(&mut cage), first, "what happens is no policy");
    cage.chain.send(OWNER, at, PolicyCage::setOwnerCall { owner_: bob });
    assert_ne!(hash(&mut cage), first);
}

#[test]
fn the_operator_signs_for_the_account() {
    let mut cage = cage();
    let at = cage.at;
    let hash = keccak256("anything");
    let signature = Signer::new("operator").sign(hash);
    let ask =
        |cage: &mut Cage, signature: &Bytes| cage.chain.view(at, PolicyCage::isValidSignatureCall { hash, signature: signature.clone() });
    assert_eq!(ask(&mut cage, &signature), FixedBytes([0x16, 0x26, 0xba, 0x7e]));
    let no = FixedBytes([0xff; 4]);
    assert_eq!(ask(&mut cage, &Signer::new("thief").sign(hash)), no);
    assert_eq!(ask(&mut cage, &Bytes::new()), no);
    let mut halted = cage.clone();
    halted.chain.send(OWNER, at, PolicyCage::haltCall {});
    assert_eq!(ask(&mut halted, &signature), no);
    // A signature from nobody recovers to the zero address, which must not be the operator.
    cage.chain.send(OWNER, at, PolicyCage::setOperatorCall { operator_: Address::ZERO });
    assert_eq!(ask(&mut cage, &Bytes::from([0; 65])), no);
}

#[test]
fn the_views_say_beforehand_what_would_happen() {
    let mut cage = cage();
    let (usdc, weth, router, at, bob) = (cage.usdc, cage.weth, cage.router, cage.at, named("bob"));
    assert!(cage.chain.view(at, PolicyCage::isApprovedAssetCall { asset: usdc }));
    assert!(!cage.chain.view(at, PolicyCage::isApprovedAssetCall { asset: bob }));
    assert!(cage.chain.view(at, PolicyCage::isApprovedProtocolCall { protocol: router }));
    assert!(!cage.chain.view(at, PolicyCage::isApprovedProtocolCall { protocol: bob }));
    assert_eq!(cage.chain.view(at, PolicyCage::usdValueCall { asset: weth, amount: units(2, 18) }), usd(6_000));
    cage.run(usdc, &pay(bob, units(4_000, 6)));
    let check = cage.chain.view(at, PolicyCage::checkSpendingLimitCall { usd: usd(10_001) });
    assert_eq!((check.ok, check.remaining), (false, usd(10_000)));
    cage.set(|limits| limits.perSessionUsd8 = 5_000 * 100_000_000);
    assert_eq!(cage.chain.view(at, PolicyCage::checkSpendingLimitCall { usd: usd(1) }).remaining, usd(1_000));
    cage.set(|limits| *limits = defaults());

    let trade = || PolicyCage::validateTradeCall {
        protocol: router,
        assetIn: usdc,
        amountIn: units(3_000, 6),
        assetOut: weth,
        minOut: units(99, 16),
        recipient: at,
    };
    assert_eq!(cage.chain.view(at, trade()), usd(3_000));
    let mut refuse = |call| cage.chain.refuse(bob, at, call);
    assert_eq!(
        refuse(PolicyCage::validateTradeCall { protocol: bob, ..trade() }),
        error(PolicyCage::ProtocolNotApproved { protocol: bob })
    );
    assert_eq!(refuse(PolicyCage::validateTradeCall { assetIn: bob, ..trade() }), error(PolicyCage::AssetNotApproved { asset: bob }));
    assert_eq!(refuse(PolicyCage::validateTradeCall { assetOut: bob, ..trade() }), error(PolicyCage::AssetNotApproved { asset: bob }));
    assert_eq!(refuse(PolicyCage::validateTradeCall { amountIn: units(10_001, 6), ..trade() }), over(0, usd(10_001), 10_000));
    assert_eq!(
        refuse(PolicyCage::validateTradeCall { minOut: units(98, 16), ..trade() }),
        error(PolicyCage::SlippageExceeded { lossBps: U256::from(200), maxBps: U256::from(100) })
    );
    cage.set(|limits| limits.maxConcentrationBps = 1_000);
    let answer = cage.chain.refuse(bob, at, PolicyCage::validateTradeCall { minOut: units(1, 18), assetOut: weth, ..trade() });
    assert_eq!(split(&answer).0, selector_of::<PolicyCage::ConcentrationExceeded>());
    assert_eq!(cage.chain.view(at, PolicyCage::validateTradeCall { minOut: units(1, 18), recipient: bob, ..trade() }), usd(3_000));
    cage.chain.send(OWNER, at, PolicyCage::setSanctionedCall { account: bob, sanctioned_: true });
    assert_eq!(
        cage.chain.refuse(named("carol"), at, PolicyCage::validateTradeCall { recipient: bob, ..trade() }),
        error(PolicyCage::SanctionedAddress { account: bob })
    );
    cage.chain.send(OWNER, at, PolicyCage::haltCall {});
    assert_eq!(cage.chain.refuse(named("carol"), at, trade()), error(PolicyCage::Halted {}));
    assert_eq!(
        cage.chain.refuse(named("carol"), at, PolicyCage::usdValueCall { asset: bob, amount: one() }),
        error(PolicyCage::AssetNotApproved { asset: bob })
    );
    assert_eq!(
        cage.chain.refuse(named("carol"), at, PolicyCage::checkCollateralRatioCall { venue: bob }),
        error(PolicyCage::ProtocolNotApproved { protocol: bob })
    );
}

#[test]
fn a_lying_token_spends_nothing_and_the_cage_is_not_fooled() {
    let mut cage = cage();
    let at = cage.at;
    let lie = cage.chain.token_of("LyingToken", "LIE", 18);
    cage.chain.mint(lie, at, units(100, 18));
    let asset = PolicyCage::setAssetCall { asset: lie, kind: PLAIN, decimals: 18, base: false, priceUsd8: 100_000_000 };
    cage.chain.send(OWNER, at, asset);
    cage.chain.send(OWNER, lie, LyingToken::setModeCall { mode_: 3 });
    let done = cage.run(lie, &pay(named("bob"), units(50, 18)));
    assert_eq!(done.event::<PolicyCage::Executed>().spentUsd, U256::ZERO);
    assert_eq!(done.events::<Token::Transfer>().len(), 1);
    assert_eq!(cage.chain.balance(lie, at), units(100, 18));
}

#[test]
fn an_asset_worth_more_than_a_number_holds_stops_everything() {
    let mut cage = cage();
    let (at, usdc) = (cage.at, cage.usdc);
    let vast = cage.chain.token_of("Token", "VAST", 0);
    let asset = PolicyCage::setAssetCall { asset: vast, kind: PLAIN, decimals: 0, base: true, priceUsd8: 1 };
    cage.chain.send(OWNER, at, asset);
    for amount in [U256::MAX, U256::MAX >> 1] {
        let held = cage.chain.balance(vast, at);
        cage.chain.send(OWNER, vast, Token::burnCall { from: at, value: held });
        cage.chain.mint(vast, at, amount);
        assert_eq!(cage.stop(usdc, &pay(named("bob"), one())), error(PolicyCage::ValueOutOfRange {}));
        assert_eq!(cage.chain.refuse(named("bob"), at, PolicyCage::navCall {}), error(PolicyCage::ValueOutOfRange {}));
    }
}
