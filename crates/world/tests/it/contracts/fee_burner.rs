//! Fee burner: releases fees to callers that burn UNI.

use alloy_primitives::{Address, Bytes, U256};

use crate::contracts::harness::*;

fn jar(contract: &str) -> (TestChain, Address, Address, Address) {
    let mut chain = TestChain::new();
    let (uni, usdc) = (chain.token_of(contract, "UNI", 18), chain.token("USDC", 6));
    let jar = address_named("jar");
    chain.etch("FeeBurner", jar);
    chain.send(OWNER, jar, FeeBurner::initCall { token_: uni, burnAmount_: units(4_000, 18) });
    chain.mint(uni, address_named("alice"), units(8_000, 18));
    chain.allow(address_named("alice"), uni, jar);
    chain.mint(usdc, jar, units(30_000, 6));
    chain.give_ether(OWNER, units(2, 18));
    assert!(chain.transact(OWNER, jar, units(2, 18), Bytes::new(), true).is_success());
    (chain, jar, uni, usdc)
}

fn release(nonce: u64, assets: &[Address], recipient: Address) -> FeeBurner::releaseCall {
    FeeBurner::releaseCall { nonce_: U256::from(nonce), assets: assets.to_vec(), recipient }
}

#[test]
fn release_burns_and_pays_once() {
    let (mut chain, jar, uni, usdc) = jar("Token");
    let (alice, bob) = (address_named("alice"), address_named("bob"));
    let done = chain.send(alice, jar, release(0, &[usdc, NATIVE, usdc], bob));
    assert_eq!((chain.balance(usdc, bob), chain.ether(bob)), (units(30_000, 6), units(2, 18)));
    assert_eq!(chain.balance(uni, alice), units(4_000, 18));
    let grave = chain.view(jar, FeeBurner::GRAVECall {});
    assert_eq!(chain.balance(uni, grave), units(4_000, 18));
    assert_eq!(done.event::<FeeBurner::Burned>().amount, units(4_000, 18));
    assert_eq!(done.events::<FeeBurner::Released>().len(), 2);
    assert_eq!(chain.view(jar, FeeBurner::nonceCall {}), U256::from(1));
    assert_eq!(
        chain.expect_revert(alice, jar, release(0, &[usdc], bob)),
        revert_data(FeeBurner::NonceMismatch { expected: U256::from(1), given: U256::ZERO })
    );
    chain.send(alice, jar, release(1, &[], bob));
    assert_eq!(
        chain.expect_revert(alice, jar, release(2, &[], bob)),
        revert_data(Token::InsufficientBalance { account: alice, balance: U256::ZERO, needed: units(4_000, 18) })
    );
}

#[test]
fn fee_burner_reverts() {
    let (mut chain, jar_at, uni, usdc) = jar("Token");
    let (alice, bob) = (address_named("alice"), address_named("bob"));
    for to in [Address::ZERO, jar_at] {
        assert_eq!(chain.expect_revert(alice, jar_at, release(0, &[usdc], to)), revert_data(FeeBurner::InvalidRecipient { to }));
    }
    assert_eq!(
        chain.expect_revert(bob, jar_at, release(0, &[usdc], bob)),
        revert_data(Token::InsufficientAllowance { spender: jar_at, allowance: U256::ZERO, needed: units(4_000, 18) })
    );
    assert_eq!(chain.expect_revert(alice, jar_at, release(0, &[NATIVE], usdc)), revert_data(FeeBurner::EtherTransferFailed { to: usdc }));
    let again = FeeBurner::initCall { token_: uni, burnAmount_: U256::ZERO };
    assert_eq!(chain.expect_revert(alice, jar_at, again), revert_data(FeeBurner::AlreadyInitialised {}));

    let (mut chain, jar_at, uni, usdc) = jar("LyingToken");
    chain.send(OWNER, uni, LyingToken::setModeCall { mode_: 1 });
    assert_eq!(
        chain.expect_revert(alice, jar_at, release(0, &[usdc], bob)),
        revert_data(FeeBurner::BurnShortfall { burnt: U256::ZERO, needed: units(4_000, 18) })
    );
    chain.send(OWNER, uni, LyingToken::setModeCall { mode_: 2 });
    assert_eq!(chain.expect_revert(alice, jar_at, release(0, &[usdc], bob)), revert_data(FeeBurner::TransferFailed { token: uni }));
}

#[test]
fn fee_burner_blocks_reentrancy() {
    let (mut chain, jar, uni, _) = jar("HookToken");
    let data = alloy_sol_types::SolCall::abi_encode(&release(1, &[], address_named("bob"))).into();
    chain.send(OWNER, uni, HookToken::setHookCall { target: jar, data });
    let ran = chain.send(address_named("alice"), jar, release(0, &[], address_named("bob"))).event::<HookToken::HookRan>();
    assert_eq!((ran.ok, ran.answer), (false, revert_data(FeeBurner::Reentered {})));
}
