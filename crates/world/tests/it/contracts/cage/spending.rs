//! How much the operator may spend in a transaction, a session and a day, and how often it may write.

use super::*;

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
