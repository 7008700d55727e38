//! Permit2: expiring allowances and signature transfers, for keys and ERC-1271 contracts.

use alloy_primitives::aliases::{U48, U160};
use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::{Eip712Domain, SolStruct, eip712_domain};

use bardo_eval_world::chain::bindings::typed_data::{PermitTransferFrom, TokenPermissions};

use crate::contracts::harness::*;

struct Permit2Fixture {
    chain: TestChain,
    permit2: Address,
    usdc: Address,
    signer: TestSigner,
    owner: Address,
    spender: Address,
}

fn setup() -> Permit2Fixture {
    let mut chain = TestChain::new();
    let usdc = chain.token("USDC", 6);
    let permit2 = address_named("permit2");
    chain.etch("Permit2", permit2);
    let signer = TestSigner::new("signer");
    let owner = signer.address();
    chain.mint(usdc, owner, units(100, 6));
    chain.allow(owner, usdc, permit2);
    Permit2Fixture { chain, permit2, usdc, signer, owner, spender: address_named("spender") }
}

fn domain(permit2: Address) -> Eip712Domain {
    eip712_domain! { name: "Permit2", chain_id: CHAIN_ID, verifying_contract: permit2, }
}

fn transfer_hash(permit2: Address, token: Address, spender: Address, nonce: u64) -> B256 {
    let permitted = TokenPermissions { token, amount: units(10, 6) };
    let typed = PermitTransferFrom { permitted, spender, nonce: U256::from(nonce), deadline: U256::from(START) };
    typed.eip712_signing_hash(&domain(permit2))
}

fn transfer(token: Address, owner: Address, nonce: u64, amount: U256, signature: Bytes) -> Permit2::permitTransferFromCall {
    Permit2::permitTransferFromCall {
        permitted: Permit2::PermitTransferFrom {
            permitted: Permit2::TokenPermissions { token, amount: units(10, 6) },
            nonce: U256::from(nonce),
            deadline: U256::from(START),
        },
        details: Permit2::SignatureTransferDetails { to: address_named("bob"), requestedAmount: amount },
        owner,
        signature,
    }
}

fn single(token: Address, amount: u64, nonce: u64, spender: Address) -> Permit2::PermitSingle {
    let (amount, expiration, nonce) = (U160::from(amount), U48::from(START + 100), U48::from(nonce));
    let details = Permit2::PermitDetails { token, amount, expiration, nonce };
    Permit2::PermitSingle { details, spender, sigDeadline: U256::from(START) }
}

#[test]
fn permit2_allowance_has_amount_and_expiry() {
    let Permit2Fixture { mut chain, permit2, usdc, owner, spender, .. } = setup();
    let pull = |amount: u64| Permit2::transferFromCall { from: owner, to: spender, amount: U160::from(amount), token: usdc };
    assert_eq!(chain.expect_revert(spender, permit2, pull(1)), revert_data(Permit2::AllowanceExpired { deadline: U256::ZERO }));
    let approve = |amount: U160, end: u64| Permit2::approveCall { token: usdc, spender, amount, expiration: U48::from(end) };
    let event = chain.send(owner, permit2, approve(U160::from(30), START + 10)).event::<Permit2::Approval>();
    assert_eq!((event.owner, event.token, event.spender, event.amount), (owner, usdc, spender, U160::from(30)));
    chain.send(spender, permit2, pull(10));
    assert_eq!(chain.balance(usdc, spender), U256::from(10));
    assert_eq!(chain.expect_revert(spender, permit2, pull(21)), revert_data(Permit2::InsufficientAllowance { amount: U256::from(20) }));
    let kept = chain.view(permit2, Permit2::allowanceCall { _0: owner, _1: usdc, _2: spender });
    assert_eq!((kept.amount, kept.expiration, kept.nonce), (U160::from(20), U48::from(START + 10), U48::ZERO));
    chain.now += 10;
    chain.send(spender, permit2, pull(1));
    chain.now += 1;
    assert_eq!(chain.expect_revert(spender, permit2, pull(1)), revert_data(Permit2::AllowanceExpired { deadline: U256::from(START + 10) }));

    // The maximum amount is not reduced; expiration zero means this block.
    chain.send(owner, permit2, approve(U160::MAX, 0));
    chain.send(spender, permit2, pull(5));
    assert_eq!(chain.view(permit2, Permit2::allowanceCall { _0: owner, _1: usdc, _2: spender }).amount, U160::MAX);
    let lockdown = Permit2::lockdownCall { approvals: vec![Permit2::TokenSpenderPair { token: usdc, spender }] };
    assert_eq!(chain.send(owner, permit2, lockdown).event::<Permit2::Lockdown>().spender, spender);
    assert_eq!(chain.expect_revert(spender, permit2, pull(1)), revert_data(Permit2::InsufficientAllowance { amount: U256::ZERO }));
}

#[test]
fn signed_allowance_works_once_and_in_nonce_order() {
    let Permit2Fixture { mut chain, permit2, usdc, signer, owner, spender } = setup();
    let sent = single(usdc, 40, 0, spender);
    let signature = signer.sign(sent.eip712_signing_hash(&domain(permit2)));
    let call =
        |sent: &Permit2::PermitSingle, signature: &Bytes| Permit2::permitCall { owner, single: sent.clone(), signature: signature.clone() };
    let mut late = chain.clone();
    late.now += 1;
    assert_eq!(
        late.expect_revert(spender, permit2, call(&sent, &signature)),
        revert_data(Permit2::SignatureExpired { signatureDeadline: U256::from(START) })
    );
    let other = single(usdc, 41, 0, spender);
    assert_eq!(chain.expect_revert(spender, permit2, call(&other, &signature)), revert_data(Permit2::InvalidSigner {}));
    let event = chain.send(address_named("relayer"), permit2, call(&sent, &signature)).event::<Permit2::Permit>();
    assert_eq!((event.owner, event.spender, event.amount, event.nonce), (owner, spender, U160::from(40), U48::ZERO));
    assert_eq!(chain.expect_revert(spender, permit2, call(&sent, &signature)), revert_data(Permit2::InvalidNonce {}));
    chain.send(spender, permit2, Permit2::transferFromCall { from: owner, to: spender, amount: U160::from(40), token: usdc });
    assert_eq!(chain.balance(usdc, spender), U256::from(40));
}

#[test]
fn signed_transfer_works_once_in_any_nonce_order() {
    let Permit2Fixture { mut chain, permit2, usdc, signer, owner, spender } = setup();
    for nonce in [700, 3] {
        let signature = signer.sign(transfer_hash(permit2, usdc, spender, nonce));
        let call = |amount| transfer(usdc, owner, nonce, amount, signature.clone());
        assert_eq!(
            chain.expect_revert(spender, permit2, call(units(11, 6))),
            revert_data(Permit2::InvalidAmount { maxAmount: units(10, 6) })
        );
        assert_eq!(chain.expect_revert(address_named("thief"), permit2, call(units(10, 6))), revert_data(Permit2::InvalidSigner {}));
        let mut late = chain.clone();
        late.now += 1;
        assert_eq!(
            late.expect_revert(spender, permit2, call(units(1, 6))),
            revert_data(Permit2::SignatureExpired { signatureDeadline: U256::from(START) })
        );
        chain.send(spender, permit2, call(units(4, 6)));
        assert_eq!(chain.expect_revert(spender, permit2, call(units(4, 6))), revert_data(Permit2::InvalidNonce {}));
    }
    assert_eq!(chain.balance(usdc, address_named("bob")), units(8, 6));
    // 700 is bit 188 of word 2.
    assert_eq!(chain.view(permit2, Permit2::nonceBitmapCall { _0: owner, _1: U256::from(2) }), U256::from(1) << 188);
}

#[test]
fn nonce_can_be_invalidated_before_use() {
    let Permit2Fixture { mut chain, permit2, usdc, signer, owner, spender } = setup();
    let signature = signer.sign(transfer_hash(permit2, usdc, spender, 5));
    let mask = U256::from(1) << 5;
    let event = chain.send(owner, permit2, Permit2::invalidateUnorderedNoncesCall { word: U256::ZERO, mask });
    assert_eq!(event.event::<Permit2::UnorderedNonceInvalidation>().mask, mask);
    assert_eq!(
        chain.expect_revert(spender, permit2, transfer(usdc, owner, 5, units(1, 6), signature)),
        revert_data(Permit2::InvalidNonce {})
    );
}

#[test]
fn malleable_signature_is_rejected() {
    let Permit2Fixture { mut chain, permit2, usdc, signer, owner, spender } = setup();
    let order: U256 = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141".parse().unwrap();
    let mut signature = signer.sign(transfer_hash(permit2, usdc, spender, 5)).to_vec();
    let s = order - U256::from_be_slice(&signature[32..64]);
    signature[32..64].copy_from_slice(&s.to_be_bytes::<32>());
    signature[64] = 55 - signature[64];
    let call = transfer(usdc, owner, 5, units(1, 6), signature.into());
    assert_eq!(chain.expect_revert(spender, permit2, call), revert_data(Permit2::InvalidSigner {}));
}

#[test]
fn permit2_accepts_cage_signature_until_halt() {
    let Permit2Fixture { mut chain, permit2, usdc, signer, owner: operator, spender } = setup();
    let cage = address_named("cage");
    chain.etch("PolicyCage", cage);
    chain.send(OWNER, cage, PolicyCage::initCall { owner_: OWNER, operator_: operator });
    chain.mint(usdc, cage, units(100, 6));
    chain.send(cage, usdc, Token::approveCall { spender: permit2, value: U256::MAX });
    let hash = transfer_hash(permit2, usdc, spender, 1);
    let call = transfer(usdc, cage, 1, units(1, 6), signer.sign(hash));
    let stranger = transfer(usdc, cage, 1, units(1, 6), TestSigner::new("thief").sign(hash));
    assert_eq!(chain.expect_revert(spender, permit2, stranger), revert_data(Permit2::InvalidSigner {}));
    let mut halted = chain.clone();
    halted.send(OWNER, cage, PolicyCage::haltCall {});
    assert_eq!(halted.expect_revert(spender, permit2, call.clone()), revert_data(Permit2::InvalidSigner {}));
    chain.send(spender, permit2, call);
    assert_eq!(chain.balance(usdc, address_named("bob")), units(1, 6));
    // A contract without ERC-1271, and a signature of the wrong length.
    let call = transfer(usdc, usdc, 1, units(1, 6), signer.sign(hash));
    assert_eq!(chain.expect_revert(spender, permit2, call), revert_data(Permit2::InvalidSigner {}));
    let call = transfer(usdc, cage, 2, units(1, 6), Bytes::from([7; 64]));
    assert_eq!(chain.expect_revert(spender, permit2, call), revert_data(Permit2::InvalidSigner {}));
}

#[test]
fn permit2_rejects_lying_token() {
    let Permit2Fixture { mut chain, permit2, owner, spender, .. } = setup();
    let lie = chain.token_of("LyingToken", "LIE", 18);
    chain.send(OWNER, lie, LyingToken::setModeCall { mode_: 2 });
    chain.send(owner, permit2, Permit2::approveCall { token: lie, spender, amount: U160::MAX, expiration: U48::MAX });
    let pull = Permit2::transferFromCall { from: owner, to: spender, amount: U160::from(1), token: lie };
    assert_eq!(chain.expect_revert(spender, permit2, pull), revert_data(Permit2::TransferFailed { token: lie }));
}
