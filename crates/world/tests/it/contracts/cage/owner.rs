//! Owner settings, operator signatures and the check views.

use super::*;

#[test]
fn owner_configures_and_operator_executes() {
    let mut cage = cage();
    let (usdc, at, bob) = (cage.usdc, cage.at, address_named("bob"));
    let stranger = revert_data(PolicyCage::NotOwner { caller: operator() });
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
        PolicyCage::withdrawCall { asset: usdc, amount: one_ether(), to: operator() }.abi_encode(),
    ];
    for data in calls {
        let revm::context::result::ExecutionResult::Revert { output, .. } =
            cage.chain.transact(operator(), at, U256::ZERO, data.into(), true)
        else {
            panic!("the operator changed the cage");
        };
        assert_eq!(output, stranger);
    }
    let act = execute(call(usdc, U256::ZERO, &pay(bob, one_ether())));
    for who in [OWNER, guardian(), bob] {
        assert_eq!(cage.chain.expect_revert(who, at, act.clone()), revert_data(PolicyCage::NotOperator { caller: who }));
    }
    let again = PolicyCage::initCall { owner_: bob, operator_: bob };
    assert_eq!(cage.chain.expect_revert(bob, at, again), revert_data(PolicyCage::AlreadyInitialised {}));
}

#[test]
fn set_limits_rejects_out_of_range_values() {
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
        assert_eq!(
            cage.chain.expect_revert(OWNER, at, PolicyCage::setLimitsCall { limits_: limits }),
            revert_data(PolicyCage::LimitOutOfRange {})
        );
    }
    let asset = |n: u64, decimals| PolicyCage::setAssetCall {
        asset: address_named(&format!("asset {n}")),
        kind: PLAIN,
        decimals,
        base: false,
        priceUsd8: 1,
    };
    assert_eq!(cage.chain.expect_revert(OWNER, at, asset(0, 37)), revert_data(PolicyCage::LimitOutOfRange {}));
    for n in 0..3 {
        cage.chain.send(OWNER, at, asset(n, 18));
    }
    assert_eq!(cage.chain.expect_revert(OWNER, at, asset(3, 18)), revert_data(PolicyCage::TooManyAssets { max: U256::from(10) }));
    assert_eq!(cage.chain.view(at, PolicyCage::assetsCall {}).len(), 10);
}

#[test]
fn policy_hash_follows_every_config_change() {
    let mut cage = cage();
    let (at, usdc, router, bob) = (cage.at, cage.usdc, cage.router, address_named("bob"));
    let hash = |cage: &mut CageFixture| cage.chain.view(at, PolicyCage::policyHashCall {});
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
        assert!(cage.chain.transact(OWNER, at, U256::ZERO, there.into(), true).is_success());
        let now = hash(&mut cage);
        assert!(!seen.contains(&now));
        seen.push(now);
        assert!(cage.chain.transact(OWNER, at, U256::ZERO, back.into(), true).is_success());
        assert_eq!(hash(&mut cage), first);
    }
    cage.execute_ok(usdc, &pay(bob, one_ether()));
    cage.chain.send(OWNER, at, PolicyCage::haltCall {});
    assert_eq!(hash(&mut cage), first, "activity does not change the policy hash");
    cage.chain.send(OWNER, at, PolicyCage::setOwnerCall { owner_: bob });
    assert_ne!(hash(&mut cage), first);
}

#[test]
fn erc1271_accepts_the_operator_signature() {
    let mut cage = cage();
    let at = cage.at;
    let hash = keccak256("anything");
    let signature = TestSigner::new("operator").sign(hash);
    let ask = |cage: &mut CageFixture, signature: &Bytes| {
        cage.chain.view(at, PolicyCage::isValidSignatureCall { hash, signature: signature.clone() })
    };
    assert_eq!(ask(&mut cage, &signature), FixedBytes([0x16, 0x26, 0xba, 0x7e]));
    let no = FixedBytes([0xff; 4]);
    assert_eq!(ask(&mut cage, &TestSigner::new("thief").sign(hash)), no);
    assert_eq!(ask(&mut cage, &Bytes::new()), no);
    let mut halted = cage.clone();
    halted.chain.send(OWNER, at, PolicyCage::haltCall {});
    assert_eq!(ask(&mut halted, &signature), no);
    // An invalid signature recovers to the zero address, which must not count as the operator.
    cage.chain.send(OWNER, at, PolicyCage::setOperatorCall { operator_: Address::ZERO });
    assert_eq!(ask(&mut cage, &Bytes::from([0; 65])), no);
}

#[test]
fn check_views_predict_the_result() {
    let mut cage = cage();
    let (usdc, weth, router, at, bob) = (cage.usdc, cage.weth, cage.router, cage.at, address_named("bob"));
    assert!(cage.chain.view(at, PolicyCage::isApprovedAssetCall { asset: usdc }));
    assert!(!cage.chain.view(at, PolicyCage::isApprovedAssetCall { asset: bob }));
    assert!(cage.chain.view(at, PolicyCage::isApprovedProtocolCall { protocol: router }));
    assert!(!cage.chain.view(at, PolicyCage::isApprovedProtocolCall { protocol: bob }));
    assert_eq!(cage.chain.view(at, PolicyCage::usdValueCall { asset: weth, amount: units(2, 18) }), usd(6_000));
    cage.execute_ok(usdc, &pay(bob, units(4_000, 6)));
    let check = cage.chain.view(at, PolicyCage::checkSpendingLimitCall { usd: usd(10_001) });
    assert_eq!((check.ok, check.remaining), (false, usd(10_000)));
    cage.set_limits(|limits| limits.perSessionUsd8 = 5_000 * 100_000_000);
    assert_eq!(cage.chain.view(at, PolicyCage::checkSpendingLimitCall { usd: usd(1) }).remaining, usd(1_000));
    cage.set_limits(|limits| *limits = defaults());

    let trade = || PolicyCage::validateTradeCall {
        protocol: router,
        assetIn: usdc,
        amountIn: units(3_000, 6),
        assetOut: weth,
        minOut: units(99, 16),
        recipient: at,
    };
    assert_eq!(cage.chain.view(at, trade()), usd(3_000));
    let mut refuse = |call| cage.chain.expect_revert(bob, at, call);
    assert_eq!(
        refuse(PolicyCage::validateTradeCall { protocol: bob, ..trade() }),
        revert_data(PolicyCage::ProtocolNotApproved { protocol: bob })
    );
    assert_eq!(refuse(PolicyCage::validateTradeCall { assetIn: bob, ..trade() }), revert_data(PolicyCage::AssetNotApproved { asset: bob }));
    assert_eq!(
        refuse(PolicyCage::validateTradeCall { assetOut: bob, ..trade() }),
        revert_data(PolicyCage::AssetNotApproved { asset: bob })
    );
    assert_eq!(refuse(PolicyCage::validateTradeCall { amountIn: units(10_001, 6), ..trade() }), over_limit_error(0, usd(10_001), 10_000));
    assert_eq!(
        refuse(PolicyCage::validateTradeCall { minOut: units(98, 16), ..trade() }),
        revert_data(PolicyCage::SlippageExceeded { lossBps: U256::from(200), maxBps: U256::from(100) })
    );
    cage.set_limits(|limits| limits.maxConcentrationBps = 1_000);
    let answer = cage.chain.expect_revert(bob, at, PolicyCage::validateTradeCall { minOut: units(1, 18), assetOut: weth, ..trade() });
    assert_eq!(split_revert(&answer).0, selector_of::<PolicyCage::ConcentrationExceeded>());
    assert_eq!(cage.chain.view(at, PolicyCage::validateTradeCall { minOut: units(1, 18), recipient: bob, ..trade() }), usd(3_000));
    cage.chain.send(OWNER, at, PolicyCage::setSanctionedCall { account: bob, sanctioned_: true });
    assert_eq!(
        cage.chain.expect_revert(address_named("carol"), at, PolicyCage::validateTradeCall { recipient: bob, ..trade() }),
        revert_data(PolicyCage::SanctionedAddress { account: bob })
    );
    cage.chain.send(OWNER, at, PolicyCage::haltCall {});
    assert_eq!(cage.chain.expect_revert(address_named("carol"), at, trade()), revert_data(PolicyCage::Halted {}));
    assert_eq!(
        cage.chain.expect_revert(address_named("carol"), at, PolicyCage::usdValueCall { asset: bob, amount: one_ether() }),
        revert_data(PolicyCage::AssetNotApproved { asset: bob })
    );
    assert_eq!(
        cage.chain.expect_revert(address_named("carol"), at, PolicyCage::checkCollateralRatioCall { venue: bob }),
        revert_data(PolicyCage::ProtocolNotApproved { protocol: bob })
    );
}
