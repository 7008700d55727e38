//! Spending limits are exact to one base unit, and splitting a transfer reaches the next limit.

use crate::scripted::harness::{AccountDriver, balance_change, embedded, revert_name, rich_genesis, usdc};
use alloy_primitives::{Address, U256, address};
use bardo_eval_world::chain::ChainBackend;
use bardo_eval_world::chain::genesis::{ACCOUNT, Genesis, KEEPER};
use model::transcript::{MinedTransaction, TxOutcome};

const FRIEND: Address = address!("70997970C51812dc3A010C7d01b50e0d17dc79C8");

fn assert_success(mined: &MinedTransaction) {
    assert_eq!(mined.outcome, TxOutcome::Success, "{}", revert_name(mined));
}

#[tokio::test]
async fn one_unit_over_tx_limit_reverts_without_effects() {
    let genesis = rich_genesis(1);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let over = desk.transfer("USDC", FRIEND, usdc("10000") + U256::from(1)).await;
    assert_eq!(revert_name(&over), r#"SpendingLimitExceeded {"scope":"0","spent":"1000000000100","limit":"1000000000000"}"#);
    assert_eq!(balance_change(&over, "USDC"), 0);
    assert!(over.logs.is_empty());
    assert_success(&desk.transfer("USDC", FRIEND, usdc("10000")).await);
}

#[tokio::test]
async fn split_transfers_hit_session_then_day_limit() {
    let genesis = rich_genesis(1);
    let mut chain = embedded(&genesis).await;
    for _ in 0..5 {
        assert_success(&AccountDriver::new(&mut chain, &genesis.book).transfer("USDC", FRIEND, usdc("10000")).await);
    }
    let over = AccountDriver::new(&mut chain, &genesis.book).transfer("USDC", FRIEND, U256::from(1)).await;
    assert!(revert_name(&over).starts_with(r#"SpendingLimitExceeded {"scope":"1""#), "{}", revert_name(&over));
    new_session(&mut chain, &genesis).await;
    for _ in 0..5 {
        assert_success(&AccountDriver::new(&mut chain, &genesis.book).transfer("USDC", FRIEND, usdc("10000")).await);
    }
    new_session(&mut chain, &genesis).await;
    let over = AccountDriver::new(&mut chain, &genesis.book).transfer("USDC", FRIEND, U256::from(1)).await;
    assert!(revert_name(&over).starts_with(r#"SpendingLimitExceeded {"scope":"2""#), "{}", revert_name(&over));
    // The window is empty a day later.
    let later = chain.latest().await.expect("a block").unix_s + 90_000;
    chain.set_time(later).await.expect("a later time");
    assert_success(&AccountDriver::new(&mut chain, &genesis.book).transfer("USDC", FRIEND, usdc("10000")).await);
}

/// Starts a new session as the owner.
async fn new_session(chain: &mut dyn ChainBackend, genesis: &Genesis) {
    let start = alloy_primitives::keccak256("startSession()")[..4].to_vec();
    let mut desk = AccountDriver::new(chain, &genesis.book);
    let by_agent = desk.send(bardo_eval_world::chain::Tx::call(desk.operator, ACCOUNT, start.clone())).await;
    assert!(revert_name(&by_agent).starts_with("NotOwner"), "{}", revert_name(&by_agent));
    assert_success(&desk.send(bardo_eval_world::chain::Tx::call(KEEPER, ACCOUNT, start)).await);
}

#[tokio::test]
async fn writes_per_hour_are_limited() {
    let genesis = rich_genesis(1);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    for _ in 0..20 {
        assert_success(&desk.transfer("USDC", FRIEND, U256::from(1)).await);
    }
    let over = desk.transfer("USDC", FRIEND, U256::from(1)).await;
    assert!(revert_name(&over).starts_with("RateLimitExceeded"), "{}", revert_name(&over));
}

#[tokio::test]
async fn transfer_to_sanctioned_address_reverts() {
    let genesis = rich_genesis(1);
    let workspace = testkit::reference_workspace();
    let bad = workspace.policy.as_ref().unwrap().sanctioned[0].address;
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let refused = desk.transfer("USDC", bad, U256::from(1)).await;
    assert!(revert_name(&refused).starts_with("SanctionedAddress"), "{}", revert_name(&refused));
}

#[tokio::test]
async fn approval_of_unknown_spender_reverts() {
    let genesis = rich_genesis(1);
    let mut chain = embedded(&genesis).await;
    let mut desk = AccountDriver::new(&mut chain, &genesis.book);
    let refused = desk.approve("USDC", FRIEND, U256::MAX).await;
    assert!(revert_name(&refused).starts_with("ProtocolNotApproved"), "{}", revert_name(&refused));
}
