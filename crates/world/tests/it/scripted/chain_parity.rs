//! One script on revm, Anvil and an Anvil fork: requires identical decoded effects, gas and logs.

use crate::scripted::harness::{AccountDriver, Vault, Venue, embedded, rich_genesis, usdc};
use alloy_primitives::{Address, Bytes, U256, address};
use alloy_sol_types::SolCall;
use bardo_eval_world::chain::genesis::{ACCOUNT, Genesis, market_id};
use bardo_eval_world::chain::{Anvil, AnvilConfig, ChainBackend, Signer, Tx};
use model::transcript::{MinedTransaction, TxOutcome};
use std::path::PathBuf;

const BASE: u64 = 8453;
const FRIEND: Address = address!("70997970C51812dc3A010C7d01b50e0d17dc79C8");

/// Swap, vault and venue round trips, a Permit2 allowance, transfers at and over the limit, and a key delegation.
async fn run_script(chain: &mut dyn ChainBackend, genesis: &Genesis) -> Vec<MinedTransaction> {
    let mut desk = AccountDriver::new(chain, &genesis.book);
    let (router, vault, pool, token) =
        (desk.address_of("SwapRouter02"), desk.address_of("bbqUSDC"), desk.address_of("AavePool"), desk.address_of("USDC"));
    let permit2 = desk.address_of("Permit2");
    let mut seen = vec![
        desk.approve("USDC", router, usdc("250")).await,
        desk.swap("USDC", "WETH", usdc("250")).await,
        desk.approve("USDC", vault, U256::MAX).await,
        desk.execute(vault, Vault::depositCall { assets: usdc("100"), receiver: ACCOUNT }.abi_encode()).await,
        desk.execute(vault, Vault::redeemCall { shares: U256::from(1_000_000), receiver: ACCOUNT, owner_: ACCOUNT }.abi_encode()).await,
        desk.approve("USDC", pool, usdc("300")).await,
    ];
    let enter = Venue::enterCall { market: market_id("lend"), asset: token, amount: usdc("300"), data: Bytes::new() };
    seen.push(desk.execute(pool, enter.abi_encode()).await);
    let exit = Venue::exitCall { market: market_id("lend"), asset: token, amount: usdc("300"), to: ACCOUNT };
    seen.push(desk.execute(pool, exit.abi_encode()).await);
    seen.push(desk.approve("USDC", permit2, U256::MAX).await);
    seen.push(desk.transfer("USDC", FRIEND, usdc("9000")).await);
    seen.push(desk.transfer("USDC", FRIEND, usdc("10000") + U256::from(1)).await);
    let nonce = desk.chain.nonce(desk.operator).await.expect("a nonce");
    let authorization = Signer::development().authorize(BASE, router, nonce + 1);
    seen.push(desk.send(Tx { authorizations: vec![authorization], ..Tx::call(desk.operator, FRIEND, Bytes::new()) }).await);
    seen
}

fn config() -> AnvilConfig {
    let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools");
    AnvilConfig { tools: Some(tools), ..AnvilConfig::new(BASE, 0) }
}

#[tokio::test]
async fn script_has_equal_effects_on_every_chain() {
    let genesis = rich_genesis(BASE);
    let here = run_script(&mut embedded(&genesis).await, &genesis).await;
    let failed: Vec<usize> = (0..here.len()).filter(|n| here[*n].outcome != TxOutcome::Success).collect();
    assert_eq!(failed, [10], "{:#?}", failed.iter().map(|n| &here[*n].outcome).collect::<Vec<_>>());

    let mut node = Anvil::start(&AnvilConfig { unix_s: genesis.starts_at, ..config() }).await.expect("run scripts/install-test-tools");
    genesis.apply(&mut node).await.expect("the set-up");
    let mut fork = Anvil::start(&AnvilConfig { fork: Some(node.url().to_owned()), ..config() }).await.expect("a fork");
    assert_eq!(run_script(&mut fork, &genesis).await, here, "forked");
    assert_eq!(run_script(&mut node, &genesis).await, here, "plain");
}
