//! Calls that revert before execution, with their custom errors.

use super::*;

#[test]
fn halted_cage_reverts_every_call() {
    let mut cage = cage();
    let (usdc, at) = (cage.usdc, cage.at);
    assert_eq!(
        cage.chain.expect_revert(operator(), at, PolicyCage::haltCall {}),
        revert_data(PolicyCage::NotGuardian { caller: operator() })
    );
    for by in [guardian(), OWNER] {
        assert_eq!(cage.chain.send(by, at, PolicyCage::haltCall {}).event::<PolicyCage::EmergencyHalt>().by, by);
        assert!(cage.chain.view(at, PolicyCage::haltedCall {}));
        assert_eq!(cage.execute_reverted(usdc, &pay(address_named("bob"), one_ether())), revert_data(PolicyCage::Halted {}));
        let calls = vec![call(usdc, U256::ZERO, &pay(address_named("bob"), one_ether()))];
        assert_eq!(cage.chain.expect_revert(operator(), at, PolicyCage::executeBatchCall { calls }), revert_data(PolicyCage::Halted {}));
        assert_eq!(
            cage.chain.expect_revert(guardian(), at, PolicyCage::resumeCall {}),
            revert_data(PolicyCage::NotOwner { caller: guardian() })
        );
        cage.chain.send(OWNER, at, PolicyCage::resumeCall {});
        cage.execute_ok(usdc, &pay(address_named("bob"), one_ether()));
    }
}

#[test]
fn sanctioned_addresses_are_rejected() {
    let mut cage = cage();
    let (usdc, at, bad) = (cage.usdc, cage.at, attacker());
    assert!(cage.chain.view(at, PolicyCage::checkSanctionsCall { account: bad }));
    cage.chain.send(OWNER, at, PolicyCage::setSanctionedCall { account: bad, sanctioned_: true });
    assert!(!cage.chain.view(at, PolicyCage::checkSanctionsCall { account: bad }));
    let named_bad = revert_data(PolicyCage::SanctionedAddress { account: bad });
    assert_eq!(cage.execute_reverted(usdc, &pay(bad, one_ether())), named_bad);
    assert_eq!(cage.execute_reverted(usdc, &Token::transferFromCall { from: bad, to: at, value: one_ether() }), named_bad);
    assert_eq!(cage.execute_reverted(usdc, &Token::transferFromCall { from: at, to: bad, value: one_ether() }), named_bad);
    let ether = PolicyCage::executeCall { target: bad, value: one_ether(), data: Bytes::new() };
    assert_eq!(cage.chain.expect_revert(operator(), at, ether), named_bad);
    let (router, vault, venue, permit2, weth, dai) = (cage.router, cage.vault, cage.venue, cage.permit2, cage.weth, cage.dai);
    assert_eq!(cage.execute_reverted(router, &exact_in(units(1, 6), U256::ZERO, &[usdc, weth], bad)), named_bad);
    assert_eq!(cage.execute_reverted(vault, &Vault::depositCall { assets: units(1, 6), receiver: bad }), named_bad);
    assert_eq!(cage.execute_reverted(vault, &Vault::redeemCall { shares: one_ether(), receiver: bad, owner_: at }), named_bad);
    assert_eq!(cage.execute_reverted(vault, &Vault::withdrawCall { assets: one_ether(), receiver: at, owner_: bad }), named_bad);
    assert_eq!(cage.execute_reverted(venue, &Venue::exitCall { market: lending(), asset: usdc, amount: one_ether(), to: bad }), named_bad);
    assert_eq!(
        cage.execute_reverted(venue, &Venue::borrowCall { market: lending(), asset: usdc, amount: one_ether(), to: bad }),
        named_bad
    );
    assert_eq!(cage.execute_reverted(venue, &Venue::claimCall { market: lending(), asset: usdc, to: bad }), named_bad);
    let bridge = Venue::bridgeOutCall { asset: usdc, amount: one_ether(), dstChain: one_ether(), to: bad };
    assert_eq!(cage.execute_reverted(venue, &bridge), named_bad);
    let convert =
        Venue::convertCall { market: lending(), assetIn: usdc, amountIn: one_ether(), assetOut: dai, minOut: one_ether(), to: bad };
    assert_eq!(cage.execute_reverted(venue, &convert), named_bad);
    let pull = Permit2::transferFromCall { from: at, to: bad, amount: U160::from(1), token: usdc };
    assert_eq!(cage.execute_reverted(permit2, &pull), named_bad);
    // A protocol that was sanctioned after it was approved: as target and as spender.
    cage.chain.send(OWNER, at, PolicyCage::setSanctionedCall { account: router, sanctioned_: true });
    let named_router = revert_data(PolicyCage::SanctionedAddress { account: router });
    assert_eq!(cage.execute_reverted(router, &exact_in(units(1, 6), U256::ZERO, &[usdc, weth], at)), named_router);
    assert_eq!(cage.execute_reverted(usdc, &Token::approveCall { spender: router, value: one_ether() }), named_router);
    cage.execute_ok(usdc, &Token::approveCall { spender: router, value: U256::ZERO });
    // Undecodable calldata is searched for sanctioned addresses.
    let registry = cage.registry;
    cage.chain.send(OWNER, at, PolicyCage::setAllowArbitraryCalldataCall { allowed: true });
    assert_eq!(cage.execute_reverted(registry, &IdentityRegistry::approveCall { to: bad, agentId: one_ether() }), named_bad);
    cage.chain.send(OWNER, at, PolicyCage::setSanctionedCall { account: bad, sanctioned_: false });
    cage.execute_ok(usdc, &pay(bad, one_ether()));
}

#[test]
fn failing_sanctions_oracle_reverts_every_call() {
    let mut cage = cage();
    let (usdc, at, sanctions, bob) = (cage.usdc, cage.at, cage.sanctions, address_named("bob"));
    cage.chain.send(OWNER, at, PolicyCage::setSanctionsOracleCall { oracle: sanctions });
    cage.execute_ok(usdc, &pay(bob, one_ether()));
    cage.chain.send(OWNER, sanctions, SanctionsList::setSanctionedCall { account: bob, sanctioned: true });
    assert_eq!(cage.execute_reverted(usdc, &pay(bob, one_ether())), revert_data(PolicyCage::SanctionedAddress { account: bob }));
    cage.execute_ok(usdc, &pay(address_named("carol"), one_ether()));
    cage.chain.send(OWNER, sanctions, SanctionsList::setDownCall { down_: true });
    assert_eq!(
        cage.chain.expect_revert(bob, sanctions, SanctionsList::isSanctionedCall { account: bob }),
        revert_data(SanctionsList::OutOfService {})
    );
    let unavailable = revert_data(PolicyCage::SanctionsOracleUnavailable {});
    assert_eq!(cage.execute_reverted(usdc, &pay(address_named("carol"), one_ether())), unavailable);
    // An address without code, and contracts without `isSanctioned`.
    for oracle in [address_named("no code"), at, cage.weth] {
        cage.chain.send(OWNER, at, PolicyCage::setSanctionsOracleCall { oracle });
        assert_eq!(cage.execute_reverted(usdc, &pay(address_named("carol"), one_ether())), unavailable, "{oracle}");
    }
    for stranger in [
        SanctionsList::setDownCall { down_: true }.abi_encode(),
        SanctionsList::setSanctionedCall { account: bob, sanctioned: true }.abi_encode(),
    ] {
        assert!(!cage.chain.transact(bob, sanctions, U256::ZERO, stranger.into(), true).is_success());
    }
    assert_eq!(
        cage.chain.expect_revert(bob, sanctions, SanctionsList::initCall { owner_: bob }),
        revert_data(SanctionsList::AlreadyInitialised {})
    );
}

#[test]
fn only_approved_protocols_get_allowances() {
    let mut cage = cage();
    let (usdc, router, permit2, at, bob) = (cage.usdc, cage.router, cage.permit2, cage.at, address_named("bob"));
    cage.execute_ok(usdc, &Token::approveCall { spender: router, value: U256::MAX });
    assert_eq!(cage.chain.allowance(usdc, at, router), U256::MAX);
    let not_approved = revert_data(PolicyCage::ProtocolNotApproved { protocol: bob });
    assert_eq!(cage.execute_reverted(usdc, &Token::approveCall { spender: bob, value: one_ether() }), not_approved);
    assert_eq!(cage.execute_reverted(usdc, &Token::increaseAllowanceCall { spender: bob, added: one_ether() }), not_approved);
    cage.execute_ok(usdc, &Token::approveCall { spender: bob, value: U256::ZERO });
    cage.execute_ok(usdc, &Token::decreaseAllowanceCall { spender: router, removed: one_ether() });
    let approve = |spender, amount| Permit2::approveCall { token: usdc, spender, amount, expiration: U48::MAX };
    assert_eq!(cage.execute_reverted(permit2, &approve(bob, U160::MAX)), not_approved);
    cage.execute_ok(permit2, &approve(router, U160::MAX));
    assert_eq!(cage.chain.view(permit2, Permit2::allowanceCall { _0: at, _1: usdc, _2: router }).amount, U160::MAX);
    cage.execute_ok(permit2, &approve(bob, U160::ZERO));
    cage.execute_ok(permit2, &Permit2::lockdownCall { approvals: vec![Permit2::TokenSpenderPair { token: usdc, spender: router }] });
    cage.execute_ok(permit2, &Permit2::invalidateUnorderedNoncesCall { word: U256::ZERO, mask: one_ether() });
    let strange = Permit2::approveCall { token: bob, spender: router, amount: U160::from(1), expiration: U48::ZERO };
    assert_eq!(cage.execute_reverted(permit2, &strange), revert_data(PolicyCage::AssetNotApproved { asset: bob }));
}

#[test]
fn unapproved_target_or_asset_reverts_by_name() {
    let mut cage = cage();
    let (usdc, router, weth, at) = (cage.usdc, cage.router, cage.weth, cage.at);
    let scam = cage.chain.token("SCAM", 18);
    cage.chain.mint(scam, at, units(1, 18));
    let unknown = revert_data(PolicyCage::AssetNotApproved { asset: scam });
    assert_eq!(cage.execute_reverted(scam, &pay(address_named("bob"), one_ether())), unknown);
    assert_eq!(cage.execute_reverted(scam, &Token::approveCall { spender: router, value: one_ether() }), unknown);
    assert_eq!(cage.execute_reverted(scam, &Token::transferFromCall { from: at, to: at, value: one_ether() }), unknown);
    assert_eq!(cage.execute_reverted(scam, &Token::decreaseAllowanceCall { spender: router, removed: one_ether() }), unknown);
    assert_eq!(cage.execute_reverted(router, &exact_in(one_ether(), U256::ZERO, &[usdc, scam], at)), unknown);
    assert_eq!(cage.execute_reverted(router, &exact_in(one_ether(), U256::ZERO, &[scam, usdc], at)), unknown);
    let venue = cage.venue;
    let enter = Venue::enterCall { market: lending(), asset: scam, amount: one_ether(), data: Bytes::new() };
    assert_eq!(cage.execute_reverted(venue, &enter), unknown);
    assert_eq!(cage.execute_reverted(venue, &Venue::claimCall { market: lending(), asset: scam, to: at }), unknown);
    let stranger = revert_data(PolicyCage::ProtocolNotApproved { protocol: address_named("stranger") });
    assert_eq!(cage.execute_reverted(address_named("stranger"), &Weth::depositCall {}), stranger);
    assert_eq!(cage.execute_reverted(at, &PolicyCage::haltCall {}), revert_data(PolicyCage::ProtocolNotApproved { protocol: at }));
    // A vault whose shares are not approved.
    cage.chain.send(OWNER, at, PolicyCage::setAssetCall { asset: cage.vault, kind: 0, decimals: 0, base: false, priceUsd8: 0 });
    let vault = cage.vault;
    let deposit = Vault::depositCall { assets: units(1, 6), receiver: at };
    assert_eq!(cage.execute_reverted(vault, &deposit), revert_data(PolicyCage::AssetNotApproved { asset: vault }));
    // Without approval of the native coin, it cannot be sent.
    cage.chain.send(OWNER, at, PolicyCage::setAssetCall { asset: NATIVE, kind: 0, decimals: 0, base: false, priceUsd8: 0 });
    let ether = PolicyCage::executeCall { target: address_named("bob"), value: one_ether(), data: Bytes::new() };
    assert_eq!(cage.chain.expect_revert(operator(), at, ether), revert_data(PolicyCage::AssetNotApproved { asset: NATIVE }));
    let wrap = execute(call(weth, one_ether(), &Weth::depositCall {}));
    assert_eq!(cage.chain.expect_revert(operator(), at, wrap), revert_data(PolicyCage::AssetNotApproved { asset: NATIVE }));
}

#[test]
fn unknown_selector_needs_owner_permission() {
    let mut cage = cage();
    let (usdc, registry, router, at) = (cage.usdc, cage.registry, cage.router, cage.at);
    let register = IdentityRegistry::registerCall { uri: "ipfs://me".into() };
    let refused = |selector: [u8; 4]| revert_data(PolicyCage::SelectorNotAllowed { selector: selector.into() });
    assert_eq!(cage.execute_reverted(registry, &register), refused(IdentityRegistry::registerCall::SELECTOR));
    assert_eq!(cage.execute_reverted(usdc, &Token::mintCall { to: at, value: one_ether() }), refused(Token::mintCall::SELECTOR));
    assert_eq!(cage.execute_reverted(router, &AmmRouter::wethCall {}), refused(AmmRouter::wethCall::SELECTOR));
    cage.chain.send(OWNER, at, PolicyCage::setSelectorCall { selector: IdentityRegistry::registerCall::SELECTOR.into(), allowed: true });
    let done = cage.execute_ok(registry, &register);
    assert_eq!(done.event::<IdentityRegistry::Registered>().owner, at);
    assert_eq!(cage.execute_reverted(router, &AmmRouter::wethCall {}), refused(AmmRouter::wethCall::SELECTOR));
    cage.chain.send(OWNER, at, PolicyCage::setAllowArbitraryCalldataCall { allowed: true });
    cage.execute_ok(router, &AmmRouter::wethCall {});
    // Still refused: tokens that are not protocols allow only their known functions.
    assert_eq!(cage.execute_reverted(usdc, &Token::mintCall { to: at, value: one_ether() }), refused(Token::mintCall::SELECTOR));
}

#[test]
fn malformed_calldata_reverts() {
    let mut cage = cage();
    let (usdc, router, at) = (cage.usdc, cage.router, cage.at);
    let malformed = revert_data(PolicyCage::MalformedCalldata {});
    let mut dirty = pay(address_named("bob"), one_ether()).abi_encode();
    dirty[4] = 1;
    let short = pay(address_named("bob"), one_ether()).abi_encode()[..30].to_vec();
    let mut cases = vec![(usdc, dirty), (usdc, short), (usdc, vec![1, 2, 3])];
    for (at_word, value) in [(2, U256::from(33)), (2, U256::MAX), (5, U256::MAX), (5, one_ether()), (5, U256::from(3))] {
        let mut data = exact_in(one_ether(), U256::ZERO, &[usdc, cage.weth], at).abi_encode();
        data[4 + 32 * at_word..4 + 32 * (at_word + 1)].copy_from_slice(&value.to_be_bytes::<32>());
        cases.push((router, data));
    }
    for (target, data) in cases {
        let call = PolicyCage::executeCall { target, value: U256::ZERO, data: data.clone().into() };
        assert_eq!(cage.chain.expect_revert(operator(), at, call), malformed, "{}", Bytes::from(data));
    }
}

#[test]
fn inner_revert_reason_is_forwarded() {
    let mut cage = cage();
    let (router, usdc, weth, at) = (cage.router, cage.usdc, cage.weth, cage.at);
    let mut swap = exact_in(units(1, 6), U256::ZERO, &[usdc, weth], at);
    swap.deadline = U256::ZERO;
    assert_eq!(cage.execute_reverted(router, &swap), revert_data(AmmRouter::Expired { deadline: U256::ZERO }));
    assert_eq!(
        cage.execute_reverted(usdc, &pay(address_named("bob"), units(300_000, 6))),
        revert_data(Token::InsufficientBalance { account: at, balance: units(200_000, 6), needed: units(300_000, 6) })
    );
}

#[test]
fn cage_blocks_reentrancy() {
    let mut cage = cage();
    let (hook, usdc, at) = (cage.hook, cage.usdc, cage.at);
    // Worst case: the token itself is the operator, then the owner.
    cage.chain.send(OWNER, at, PolicyCage::setOperatorCall { operator_: hook });
    let inner = execute(call(usdc, U256::ZERO, &pay(attacker(), units(9_000, 6))));
    cage.chain.send(OWNER, hook, HookToken::setHookCall { target: at, data: inner.abi_encode().into() });
    let outer = execute(call(hook, U256::ZERO, &pay(address_named("bob"), units(1, 18))));
    let ran = cage.chain.send(hook, at, outer.clone()).event::<HookToken::HookRan>();
    assert_eq!((ran.ok, ran.answer), (false, revert_data(PolicyCage::Reentered {})));
    assert_eq!(cage.chain.balance(usdc, attacker()), U256::ZERO);
    cage.chain.send(OWNER, at, PolicyCage::setOwnerCall { owner_: hook });
    let inner = PolicyCage::startSessionCall {};
    cage.chain.send(OWNER, hook, HookToken::setHookCall { target: at, data: inner.abi_encode().into() });
    let ran = cage.chain.send(hook, at, outer).event::<HookToken::HookRan>();
    assert_eq!((ran.ok, ran.answer), (false, revert_data(PolicyCage::Reentered {})));
}
