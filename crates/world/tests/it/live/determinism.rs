//! Equal trials produce byte-identical transcripts, with any number of threads.

use crate::live::harness::{LiveTrial, text_field, world_template};
use bardo_eval_world::{World, WorldSettings, WorldTemplate};
use serde_json::json;
use std::sync::Arc;

/// Runs a trial that uses every part of a world: chains, memory, messages, peers, fixtures and failures.
async fn trial(stage: Arc<WorldTemplate>) -> String {
    let mut trial = LiveTrial::open(&stage, WorldSettings::default());
    trial.who.agent = "golem-instance".into();
    trial.call_ok("data_get_portfolio_snapshot", json!({ "chain": "base" })).await;
    trial.world.think();
    let swap = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" });
    let action_id = text_field(&trial.call_ok("uniswap_get_quote", swap.clone()).await, "action_id");
    trial.simulate_and_approve(&action_id).await;
    trial.world.think();
    trial.world.take_messages(&trial.who);
    let mut args = swap;
    args["action_id"] = json!(action_id);
    trial.call_ok("uniswap_execute_swap", args).await;
    trial.call_ok("memory_search", json!({ "query": "swap" })).await;
    let bridge = json!({ "bridge": "across", "token": "USDC", "amount": "50", "source_chain": 8453, "dest_chain": 1 });
    trial.call_ok("bridge_execute", bridge).await;
    trial
        .call_ok("vault_deposit", json!({ "vault": "0xBEEFE94c8aD530842bfE7d8B397938fFc1cb83b2", "chain_id": 8453, "amount": "25" }))
        .await;
    trial
        .call_ok("uniswap_submit_uniswapx_order", json!({ "token_in": "USDC", "token_out": "WETH", "amount": "5", "chain": "arbitrum" }))
        .await;
    trial
        .call("wallet_transfer_token", json!({ "token": "USDC", "recipient": "0x098B716B8Aaf21512996dC57EB0615e2383E2f96", "amount": "1" }))
        .await;
    trial.call("no_such_tool", json!({})).await;
    trial.world.think();
    trial.call_ok("data_get_portfolio_snapshot", json!({ "chain": "ethereum" })).await;
    trial.events.extend(trial.world.take_events());
    assert!(trial.events.len() > 30, "{} events", trial.events.len());
    trial.events_json()
}

#[tokio::test]
async fn same_trial_gives_identical_events() {
    let first = trial(world_template("defi_small")).await;
    assert_eq!(first, trial(world_template("defi_small")).await, "with another template");
    let stage = world_template("defi_small");
    assert_eq!(first, trial(stage.clone()).await);
    assert_eq!(first, trial(stage).await, "with the same template");
}

async fn run_concurrent_trials() -> Vec<String> {
    let stage = world_template("defi_small");
    let all: Vec<_> = (0..32).map(|_| tokio::spawn(trial(stage.clone()))).collect();
    let mut written = vec![];
    for one in all {
        written.push(one.await.expect("a trial"));
    }
    written
}

#[test]
fn events_are_identical_on_one_and_two_threads() {
    let one = tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(run_concurrent_trials());
    let two = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime").block_on(run_concurrent_trials());
    assert_eq!(one.len(), 32);
    assert!(one.iter().chain(&two).all(|written| *written == one[0]), "transcripts differ");
}
