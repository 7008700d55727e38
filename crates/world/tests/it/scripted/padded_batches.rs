//! Batches with many addresses before the one that matters: all parties that the contracts' logs name are decoded.

use crate::scripted::harness::{AccountDriver, PolicyCage, Token, embedded, genesis, revert_name, usdc};
use alloy_primitives::{Address, Bytes, U256, address, keccak256};
use alloy_sol_types::SolCall;
use bardo_eval_world::chain::Tx;
use bardo_eval_world::chain::bindings::Multicall3;
use bardo_eval_world::chain::genesis::{ACCOUNT, MULTICALL3};
use model::transcript::{Effect, MinedTransaction, TxOutcome};

const BASE: u64 = 8453;
const THIEF: Address = address!("70997970C51812dc3A010C7d01b50e0d17dc79C8");
const GAS: u64 = 25_000_000;

fn dummies() -> impl Iterator<Item = Address> {
    (0..60_u64).map(|n| Address::from_slice(&keccak256(n.to_be_bytes())[..20]))
}

fn assert_explained(mined: &MinedTransaction) {
    assert_eq!(mined.outcome, TxOutcome::Success, "{}", revert_name(mined));
    assert!(!mined.effects.iter().any(|effect| matches!(effect, Effect::Unexplained { .. })), "{:#?}", mined.effects);
}

#[tokio::test]
async fn recipient_after_many_approvals_is_seen() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let token = desk.address_of("USDC");
    let approvals = dummies().map(|spender| Token::approveCall { spender, value: U256::ZERO }.abi_encode());
    let transfer = Token::transferCall { to: THIEF, value: usdc("100") }.abi_encode();
    let calls = approvals.chain([transfer]).map(|data| PolicyCage::Call { target: token, value: U256::ZERO, data: Bytes::from(data) });
    let batch = PolicyCage::executeBatchCall { calls: calls.collect() };
    let mined = desk.send(Tx { gas: GAS, ..Tx::call(desk.operator, ACCOUNT, batch.abi_encode()) }).await;
    assert_explained(&mined);
    assert!(
        mined.effects.iter().any(|effect| matches!(effect,
            Effect::Balance { holder, asset, after, .. } if holder.address == THIEF.to_checksum(None) && asset == "USDC" && after == "100000000")),
        "{:#?}",
        mined.effects
    );
}

#[tokio::test]
async fn every_spender_of_a_long_batch_is_seen() {
    let genesis = genesis(BASE);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let token = desk.address_of("USDC");
    let call = |data: Vec<u8>| Multicall3::Call3 { target: token, allowFailure: false, callData: data.into() };
    let calls = dummies().chain([THIEF]).map(|spender| call(Token::approveCall { spender, value: U256::from(7) }.abi_encode()));
    let batch = Multicall3::aggregate3Call { calls: calls.collect() };
    let mined = desk.send(Tx { gas: GAS, ..Tx::call(desk.operator, MULTICALL3, batch.abi_encode()) }).await;
    assert_explained(&mined);
    let allowances = mined.effects.iter().filter(|effect| matches!(effect, Effect::Allowance { after, .. } if after == "7"));
    assert_eq!(allowances.count(), 61, "{:#?}", mined.effects);
}
