//! Which calls are refused before they are made, and by what name.

use super::*;

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
