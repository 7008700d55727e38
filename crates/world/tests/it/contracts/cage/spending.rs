//! Spending limits per transaction, session and day, and limits on writes and rebalances.

use super::*;

#[test]
fn transfer_within_limits_succeeds() {
    let mut cage = cage();
    let (usdc, bob) = (cage.usdc, address_named("bob"));
    assert_eq!(cage.nav(), usd(305_000));
    let done = cage.execute_ok(usdc, &pay(bob, units(10_000, 6)));
    let event = done.event::<PolicyCage::Executed>();
    assert_eq!((event.target, event.selector.0, event.spentUsd), (usdc, Token::transferCall::SELECTOR, usd(10_000)));
    assert!(Token::transferCall::abi_decode_returns(&done.value).unwrap());
    assert_eq!(cage.chain.balance(usdc, bob), units(10_000, 6));
    assert_eq!(cage.spent(), (usd(10_000), usd(10_000)));
    assert_eq!(cage.chain.view(cage.at, PolicyCage::writesLastHourCall {}), one_ether());
}

#[test]
fn one_unit_over_tx_limit_reverts() {
    let mut cage = cage();
    let (usdc, weth, bob) = (cage.usdc, cage.weth, address_named("bob"));
    assert_eq!(
        cage.execute_reverted(usdc, &pay(bob, units(10_000, 6) + one_ether())),
        over_limit_error(0, usd(10_000) + U256::from(100), 10_000)
    );
    cage.set_limits(|limits| limits.perTxUsd8 = 6_000 * 100_000_000);
    cage.execute_ok(weth, &pay(bob, units(2, 18)));
    // One wei is worth less than the smallest USD unit, but still exceeds the limit.
    assert_eq!(cage.execute_reverted(weth, &pay(bob, units(2, 18) + one_ether())), over_limit_error(0, usd(6_000) + one_ether(), 6_000));
    let ether = PolicyCage::executeCall { target: bob, value: units(2, 18) + one_ether(), data: Bytes::new() };
    assert_eq!(cage.chain.expect_revert(operator(), cage.at, ether.clone()), over_limit_error(0, usd(6_000) + one_ether(), 6_000));
    cage.chain.send(operator(), cage.at, PolicyCage::executeCall { value: units(2, 18), ..ether });
    assert_eq!(cage.chain.ether(bob), units(2, 18));
}

#[test]
fn split_transfers_hit_session_then_day_limit() {
    let mut cage = cage();
    let (usdc, bob) = (cage.usdc, address_named("bob"));
    for _ in 0..5 {
        cage.execute_ok(usdc, &pay(bob, units(10_000, 6)));
        cage.chain.now += 60;
    }
    assert_eq!(cage.execute_reverted(usdc, &pay(bob, one_ether())), over_limit_error(1, usd(50_000) + U256::from(100), 50_000));
    let at = cage.at;
    assert_eq!(cage.chain.send(OWNER, at, PolicyCage::startSessionCall {}).event::<PolicyCage::SessionStarted>().session, one_ether());
    for _ in 0..5 {
        cage.execute_ok(usdc, &pay(bob, units(10_000, 6)));
    }
    cage.chain.send(OWNER, at, PolicyCage::startSessionCall {});
    assert_eq!(cage.execute_reverted(usdc, &pay(bob, one_ether())), over_limit_error(2, usd(100_000) + U256::from(100), 100_000));
    // The first payment counts for exactly one day.
    cage.chain.now = START + DAY - 1;
    assert_eq!(cage.execute_reverted(usdc, &pay(bob, one_ether())), over_limit_error(2, usd(100_000) + U256::from(100), 100_000));
    cage.chain.now = START + DAY;
    assert_eq!(cage.spent(), (U256::ZERO, usd(90_000)));
    cage.execute_ok(usdc, &pay(bob, units(10_000, 6)));
    assert_eq!(cage.execute_reverted(usdc, &pay(bob, one_ether())), over_limit_error(2, usd(100_000) + U256::from(100), 100_000));
}

#[test]
fn batch_is_atomic_and_shares_the_tx_limit() {
    let mut cage = cage();
    let (usdc, dai, at, bob) = (cage.usdc, cage.dai, cage.at, address_named("bob"));
    let batch = |second| PolicyCage::executeBatchCall {
        calls: vec![call(usdc, U256::ZERO, &pay(bob, units(6_000, 6))), call(dai, U256::ZERO, &pay(bob, second))],
    };
    assert_eq!(cage.chain.expect_revert(operator(), at, batch(units(6_000, 18))), over_limit_error(0, usd(12_000), 10_000));
    assert_eq!(cage.chain.balance(usdc, bob), U256::ZERO);
    let done = cage.chain.send(operator(), at, batch(units(4_000, 18)));
    assert_eq!((done.value.len(), done.events::<PolicyCage::Executed>().len()), (2, 2));
    assert_eq!(cage.chain.view(at, PolicyCage::writesLastHourCall {}), U256::from(2));
    assert_eq!(
        cage.chain.expect_revert(operator(), at, PolicyCage::executeBatchCall { calls: vec![] }),
        revert_data(PolicyCage::EmptyBatch {})
    );
}

// The operator may be a contract that calls twice, here another cage.
#[test]
fn two_executes_in_one_tx_share_its_limit() {
    let mut cage = cage();
    let (usdc, at, bob, other) = (cage.usdc, cage.at, address_named("bob"), address_named("other cage"));
    cage.chain.etch("PolicyCage", other);
    cage.chain.send(OWNER, other, PolicyCage::initCall { owner_: OWNER, operator_: operator() });
    cage.chain.send(OWNER, other, PolicyCage::setProtocolCall { protocol: at, kind: GENERIC });
    cage.chain.send(OWNER, other, PolicyCage::setSelectorCall { selector: PolicyCage::executeCall::SELECTOR.into(), allowed: true });
    cage.chain.send(OWNER, at, PolicyCage::setOperatorCall { operator_: other });
    let inner = execute(call(usdc, U256::ZERO, &pay(bob, units(6_000, 6))));
    let calls = vec![call(at, U256::ZERO, &inner), call(at, U256::ZERO, &inner)];
    assert_eq!(
        cage.chain.expect_revert(operator(), other, PolicyCage::executeBatchCall { calls: calls.clone() }),
        over_limit_error(0, usd(12_000), 10_000)
    );
    cage.chain.send(operator(), other, PolicyCage::executeBatchCall { calls: calls[..1].to_vec() });
}

#[test]
fn writes_per_hour_are_limited() {
    let mut cage = cage();
    let (usdc, at) = (cage.usdc, cage.at);
    let write = pay(address_named("bob"), one_ether());
    cage.execute_ok(usdc, &write);
    cage.chain.now += 10;
    let calls = vec![call(usdc, U256::ZERO, &write); 19];
    cage.chain.send(operator(), at, PolicyCage::executeBatchCall { calls });
    let limited = revert_data(PolicyCage::RateLimitExceeded {});
    assert_eq!(cage.execute_reverted(usdc, &write), limited);
    cage.chain.now = START + HOUR - 1;
    assert_eq!(cage.execute_reverted(usdc, &write), limited);
    cage.chain.now = START + HOUR;
    cage.execute_ok(usdc, &write);
    assert_eq!(cage.execute_reverted(usdc, &write), limited);
    cage.chain.now = START + HOUR + 10;
    cage.execute_ok(usdc, &write);
    let calls = vec![call(usdc, U256::ZERO, &write); 19];
    assert_eq!(cage.chain.expect_revert(operator(), at, PolicyCage::executeBatchCall { calls }), limited);
}

#[test]
fn approval_in_a_batch_is_not_a_separate_write() {
    let mut cage = cage();
    let (usdc, dai, router, permit2, registry, at) = (cage.usdc, cage.dai, cage.router, cage.permit2, cage.registry, cage.at);
    let approve = call(usdc, U256::ZERO, &Token::approveCall { spender: router, value: units(10, 6) });
    let raise = call(usdc, U256::ZERO, &Token::increaseAllowanceCall { spender: router, added: one_ether() });
    let lower = call(usdc, U256::ZERO, &Token::decreaseAllowanceCall { spender: router, removed: one_ether() });
    let lend = Permit2::approveCall { token: usdc, spender: router, amount: U160::from(1), expiration: U48::ZERO };
    let lend = call(permit2, U256::ZERO, &lend);
    let swap = call(router, U256::ZERO, &exact_in(units(10, 6), U256::ZERO, &[usdc, dai], at));
    let mut counted = |calls: Vec<PolicyCage::Call>| {
        let before = cage.chain.view(at, PolicyCage::writesLastHourCall {});
        cage.chain.send(operator(), at, PolicyCage::executeBatchCall { calls });
        cage.chain.view(at, PolicyCage::writesLastHourCall {}) - before
    };
    assert_eq!(counted(vec![approve.clone(), swap.clone()]), one_ether());
    assert_eq!(
        counted(vec![approve.clone(), raise.clone(), lower.clone(), lend.clone(), swap.clone(), approve.clone(), swap.clone()]),
        U256::from(2)
    );
    // A batch of approvals counts as one write, and so does a single approval.
    assert_eq!(counted(vec![approve.clone(), raise, lower, lend]), one_ether());
    assert_eq!(counted(vec![approve.clone()]), one_ether());
    // `approve` on a contract that is not a token is not an allowance.
    cage.chain.send(OWNER, at, PolicyCage::setAllowArbitraryCalldataCall { allowed: true });
    cage.execute_ok(registry, &IdentityRegistry::registerCall { uri: "ipfs://me".into() });
    let agent = cage.chain.view(at, PolicyCage::writesLastHourCall {});
    let give = call(registry, U256::ZERO, &IdentityRegistry::approveCall { to: address_named("bob"), agentId: one_ether() });
    cage.chain.send(operator(), at, PolicyCage::executeBatchCall { calls: vec![give, approve.clone(), swap] });
    assert_eq!(cage.chain.view(at, PolicyCage::writesLastHourCall {}), agent + U256::from(2));
    // The rate limit applies to approvals too.
    cage.set_limits(|limits| limits.maxWritesPerHour = 1);
    let calls = vec![approve; 2];
    assert_eq!(
        cage.chain.expect_revert(operator(), at, PolicyCage::executeBatchCall { calls }),
        revert_data(PolicyCage::RateLimitExceeded {})
    );
}

#[test]
fn rebalance_interval_and_daily_count_are_limited() {
    let mut cage = cage();
    let (usdc, dai, router, at) = (cage.usdc, cage.dai, cage.router, cage.at);
    let swap = exact_in(units(10, 6), U256::ZERO, &[usdc, dai], at);
    cage.execute_ok(router, &swap);
    cage.execute_ok(router, &swap);
    cage.set_limits(|limits| {
        limits.minRebalanceInterval = 3_600;
        limits.maxRebalancesPerDay = 4;
    });
    assert_eq!(cage.execute_reverted(router, &swap), revert_data(PolicyCage::RebalanceTooSoon { notBefore: U256::from(START + HOUR) }));
    cage.execute_ok(usdc, &pay(address_named("bob"), one_ether()));
    cage.chain.now += HOUR;
    // A batch counts as one rebalance.
    let calls = vec![call(router, U256::ZERO, &swap); 2];
    cage.chain.send(operator(), at, PolicyCage::executeBatchCall { calls });
    cage.chain.now += HOUR;
    cage.execute_ok(router, &swap);
    cage.chain.now += HOUR;
    assert_eq!(cage.execute_reverted(router, &swap), revert_data(PolicyCage::RebalanceLimitExceeded { max: U256::from(4) }));
    cage.chain.now = START + DAY;
    cage.execute_ok(router, &swap);
}
