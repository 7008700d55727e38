//! The jar of fees that opens for whoever burns.

use alloy_primitives::{Address, Bytes, U256};

use crate::contracts::harness::*;

fn jar(contract: &str) -> (Chain, Address, Address, Address) {
    let mut chain = Chain::new();
    let (uni, usdc) = (chain.token_of(contract, "UNI", 18), chain.token("USDC", 6));
    let jar = named("jar");
    chain.etch("FeeBurner", jar);
    chain.send(OWNER, jar, FeeBurner::initCall { token_: uni, burnAmount_: units(4_000, 18) });
    chain.mint(uni, named("alice"), units(8_000, 18));
    chain.allow(named("alice"), uni, jar);
    chain.mint(usdc, jar, units(30_000, 6));
    chain.give_ether(OWNER, units(2, 18));
    assert!(chain.raw(OWNER, jar, units(2, 18), Bytes::new(), true).is_success());
    (chain, jar, uni, usdc)
}

fn release(nonce: u64, assets: &[Address], recipient: Address) -> FeeBurner::releaseCall {
    FeeBurner::releaseCall { nonce_: U256::from(nonce), assets: assets.to_vec(), recipient }
}

#[test]
fn burning_opens_the_jar_once() {
    let (mut chain, jar, uni, usdc) = jar("Token");
    let (alice, bob) = (named("alice"), named("bob"));
    let done = chain.send(alice, jar, release(0, &[usdc, NATIVE, usdc], bob));
    assert_eq!((chain.balance(usdc, bob), chain.ether(bob)), (units(30_000, 6), units(2, 18)));
    assert_eq!(chain.balance(uni, alice), units(4_000, 18));
    let grave = chain.view(jar, FeeBurner::GRAVECall {});
    assert_eq!(chain.balance(uni, grave), units(4_000, 18));
    assert_eq!(done.event::<FeeBurner::Burned>().amount, units(4_000, 18));
    assert_eq!(done.events::<FeeBurner::Released>().len(), 2);
    assert_eq!(chain.view(jar, FeeBurner::nonceCall {}), U256::from(1));
    assert_eq!(
        chain.refuse(alice, jar, release(0, &[usdc], bob)),
        error(FeeBurner::NonceMismatch { expected: U256::from(1), given: U256::ZERO })
    );
    chain.send(alice, jar, release(1, &[], bob));
    assert_eq!(
        chain.refuse(alice, jar, release(2, &[], bob)),
        error(Token::InsufficientBalance { account: alice, balance: U256::ZERO, needed: units(4_000, 18) })
    );
}

#[test]
fn what_the_jar_refuses() {
    let (mut chain, jar_at, uni, usdc) = jar("Token");
    let (alice, bob) = (named("alice"), named("bob"));
    for to in [Address::ZERO, jar_at] {
        assert_eq!(chain.refuse(alice, jar_at, release(0, &[usdc], to)), error(FeeBurner::InvalidRecipient { to }));
    }
    assert_eq!(
        chain.refuse(bob, jar_at, release(0, &[usdc], bob)),
        error(Token::InsufficientAllowance { spender: jar_at, allowance: U256::ZERO, needed: units(4_000, 18) })
    );
    assert_eq!(chain.refuse(alice, jar_at, release(0, &[NATIVE], usdc)), error(FeeBurner::EtherTransferFailed { to: usdc }));
    let again = FeeBurner::initCall { token_: uni, burnAmount_: U256::ZERO };
    assert_eq!(chain.refuse(alice, jar_at, again), error(FeeBurner::AlreadyInitialised {}));

    let (mut chain, jar_at, uni, usdc) = jar("LyingToken");
    chain.send(OWNER, uni, LyingToken::setModeCall { mode_: 1 });
    assert_eq!(
        chain.refuse(alice, jar_at, release(0, &[usdc], bob)),
        error(FeeBurner::BurnShortfall { burnt: U256::ZERO, needed: units(4_000, 18) })
    );
    chain.send(OWNER, uni, LyingToken::setModeCall { mode_: 2 });
    assert_eq!(chain.refuse(alice, jar_at, release(0, &[usdc], bob)), error(FeeBurner::TransferFailed { token: uni }));
}

#[test]
fn a_token_that_calls_back_finds_the_door_shut() {
    let (mut chain, jar, uni, _) = jar("HookToken");
    let data = alloy_sol_types::SolCall::abi_encode(&release(1, &[], named("bob"))).into();
    chain.send(OWNER, uni, HookToken::setHookCall { target: jar, data });
    let ran = chain.send(named("alice"), jar, release(0, &[], named("bob"))).event::<HookToken::HookRan>();
    assert_eq!((ran.ok, ran.answer), (false, error(FeeBurner::Reentered {})));
}
