//! One base unit over a limit is over the limit; splitting it runs into the next one.

use crate::scripted::harness::{Desk, embedded, error, gained, rich_genesis, usdc};
use alloy_primitives::{Address, U256, address};
use bardo_eval_world::chain::Chain;
use bardo_eval_world::chain::genesis::{ACCOUNT, Genesis, KEEPER};
use model::transcript::{Mined, TxOutcome};

const FRIEND: Address = address!("70997970C51812dc3A010C7d01b50e0d17dc79C8");

fn succeeded(mined: &Mined) {
    assert_eq!(mined.outcome, TxOutcome::Success, "{}", error(mined));
}

#[tokio::test]
async fn one_unit_over_the_transaction_limit_reverts_by_name_and_changes_nothing() {
    let genesis = rich_genesis(1);
    let mut chain = embedded(&genesis).await;
    let mut desk = Desk::new(&mut chain, &genesis.book);
    let over = desk.transfer("USDC", FRIEND, usdc("10000") + U256::from(1)).await;
    assert_eq!(error(&over), r#"SpendingLimitExceeded {"scope":"0","spent":"1000000000100","limit":"1000000000000"}"#);
    assert_eq!(gained(&over, "USDC"), 0);
    assert!(over.logs.is_empty());
    succeeded(&desk.transfer("USDC", FRIEND, usdc("10000")).await);
}

#[tokio::test]
async fn splitting_hits_the_session_limit_and_then_the_day_limit() {
    let genesis = rich_genesis(1);
    let mut chain = embedded(&genesis).await;
    for _ in 0..5 {
        succeeded(&Desk::new(&mut chain, &genesis.book).transfer("USDC", FRIEND, usdc("10000")).await);
    }
    let over = Desk::new(&mut chain, &genesis.book).transfer("USDC", FRIEND, U256::from(1)).await;
    assert!(error(&over).starts_with(r#"SpendingLimitExceeded {"scope":"1""#), "{}", error(&over));
    new_session(&mut chain, &genesis).await;
    for _ in 0..5 {
        succeeded(&Desk::new(&mut chain, &genesis.book).transfer("USDC", FRIEND, usdc("10000")).await);
    }
    new_session(&mut chain, &genesis).await;
    let over = Desk::new(&mut chain, &genesis.book).transfer("USDC", FRIEND, U256::from(1)).await;
    assert!(error(&over).starts_with(r#"SpendingLimitExceeded {"scope":"2""#), "{}", error(&over));
    // A day later the window is empty again.
    let later = chain.latest().await.expect("a block").unix_s + 90_000;
    chain.set_time(later).await.expect("a later time");
    succeeded(&Desk::new(&mut chain, &genesis.book).transfer("USDC", FRIEND, usdc("10000")).await);
}

/// The owner, never the agent, starts a new session.
async fn new_session(chain: &mut dyn Chain, genesis: &Genesis) {
    let start = alloy_primitives::keccak256("startSession()")[..4].to_vec();
    let mut desk = Desk::new(chain, &genesis.book);
    let by_agent = desk.send(bardo_eval_world::chain::Tx::call(desk.operator, ACCOUNT, start.clone())).await;
    assert!(error(&by_agent).starts_with("NotOwner"), "{}", error(&by_agent));
    succeeded(&desk.send(bardo_eval_world::chain::Tx::call(KEEPER, ACCOUNT, start)).await);
}

#[tokio::test]
async fn writes_per_hour_are_limited() {
    let genesis = rich_genesis(1);
    let mut chain = embedded(&genesis).await;
    let mut desk = Desk::new(&mut chain, &genesis.book);
    for _ in 0..20 {
        succeeded(&desk.transfer("USDC", FRIEND, U256::from(1)).await);
    }
    let over = desk.transfer("USDC", FRIEND, U256::from(1)).await;
    assert!(error(&over).starts_with("RateLimitExceeded"), "{}", error(&over));
}

#[tokio::test]
async fn a_sanctioned_address_never_receives() {
    let genesis = rich_genesis(1);
    let workspace = testkit::reference_workspace();
    let bad = workspace.policy.sanctioned[0].address;
    let mut chain = embedded(&genesis).await;
    let mut desk = Desk::new(&mut chain, &genesis.book);
    let refused = desk.transfer("USDC", bad, U256::from(1)).await;
    assert!(error(&refused).starts_with("SanctionedAddress"), "{}", error(&refused));
}

#[tokio::test]
async fn an_unknown_spender_gets_no_allowance() {
    let genesis = rich_genesis(1);
    let mut chain = embedded(&genesis).await;
    let mut desk = Desk::new(&mut chain, &genesis.book);
    let refused = desk.approve("USDC", FRIEND, U256::MAX).await;
    assert!(error(&refused).starts_with("ProtocolNotApproved"), "{}", error(&refused));
}
