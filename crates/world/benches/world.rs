//! Benchmarks trials in a live world (ten calls with two writes), and the memory of many worlds at once.
//!
//! `cargo bench -p bardo-eval-world --bench world`

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark reads the clock and prints")]

use bardo_eval_world::{ActingAgent, ChainKind, LiveWorld, World, WorldSettings, WorldTemplate};
use model::transcript::{EventKind, ReviewDecision, ToolAnswer, TxOutcome};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

const TRIALS: usize = 2_000;
const ALIVE: usize = 2_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(bench());
}

async fn bench() {
    let workspace = testkit::reference_workspace();
    let template = WorldTemplate::new(workspace, "defi_small", ChainKind::Embedded).expect("a world template");
    let since = Instant::now();
    trial(&template).await;
    println!("first trial, including chain set-up: {:.1} ms", since.elapsed().as_secs_f64() * 1e3);

    let mut times: Vec<Duration> = vec![];
    for _ in 0..TRIALS {
        let since = Instant::now();
        trial(&template).await;
        times.push(since.elapsed());
    }
    times.sort();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    println!("ten calls with two writes, world included: {TRIALS} trials, median {:.3} ms, p90 {:.3} ms; target 2 ms", at(50), at(90));

    measure_parts(&template).await;

    let before = resident_mb();
    let mut alive: Vec<LiveWorld> = vec![];
    for _ in 0..ALIVE {
        let mut world = LiveWorld::new(&template, WorldSettings::default());
        swap(&mut world, "10").await;
        alive.push(world);
    }
    let after = resident_mb();
    println!("{} worlds alive, one write each: resident {before:.1} MB before, {after:.1} MB after; limit 1,024 MB", alive.len());
}

/// Two swaps (quote, simulate, review, execute) with two reads in between.
async fn trial(template: &Arc<WorldTemplate>) -> Vec<model::Event> {
    let mut world = LiveWorld::new(template, WorldSettings::default());
    swap(&mut world, "250").await;
    world.think();
    call(&mut world, "data_get_token_price", json!({ "token": "WETH", "chain": "base" })).await;
    call(&mut world, "wallet_get_status", json!({ "chain": "base" })).await;
    world.think();
    swap(&mut world, "100").await;
    let events = world.take_events();
    let mined =
        events.iter().filter(|event| matches!(&event.happened, EventKind::Mined { what, .. } if what.outcome == TxOutcome::Success));
    assert_eq!(mined.count(), 2);
    events
}

async fn swap(world: &mut LiveWorld, amount: &str) {
    let mut args = json!({ "token_in": "USDC", "token_out": "WETH", "amount": amount, "chain": "base" });
    let quote = call(world, "uniswap_get_quote", args.clone()).await;
    call(world, "safety_simulate_transaction", json!({ "action_id": quote["action_id"] })).await;
    let params: Map<String, Value> = [("action_id".to_owned(), quote["action_id"].clone())].into_iter().collect();
    let verdict = world.ask_peer(&who(), "safety-guardian", &params).await.expect("a guardian");
    assert_eq!(verdict.decision, ReviewDecision::Approve, "{}", verdict.reason);
    args["action_id"] = quote["action_id"].clone();
    call(world, "uniswap_execute_swap", args).await;
}

async fn call(world: &mut LiveWorld, tool: &str, args: Value) -> Value {
    let who = who();
    let call = world.record_call(&who, tool, &args);
    match world.call(&who, call, tool, &args).await {
        ToolAnswer::Result(value) => value,
        ToolAnswer::Error { code, message } => panic!("{tool}: {code} {message}"),
    }
}

/// Measures the steps of a trial separately.
async fn measure_parts(template: &Arc<WorldTemplate>) {
    let mut times: Vec<(&str, Vec<Duration>)> =
        ["open", "quote", "simulate", "guardian", "swap", "price", "balances"].iter().map(|name| (*name, vec![])).collect();
    for _ in 0..TRIALS {
        let mut n = 0;
        let mut since = Instant::now();
        let mut lap = || {
            times[n].1.push(since.elapsed());
            n += 1;
            since = Instant::now();
        };
        let mut world = LiveWorld::new(template, WorldSettings::default());
        lap();
        let mut args = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" });
        let quote = call(&mut world, "uniswap_get_quote", args.clone()).await;
        lap();
        call(&mut world, "safety_simulate_transaction", json!({ "action_id": quote["action_id"] })).await;
        lap();
        let params: Map<String, Value> = [("action_id".to_owned(), quote["action_id"].clone())].into_iter().collect();
        world.ask_peer(&who(), "safety-guardian", &params).await.expect("a guardian");
        lap();
        args["action_id"] = quote["action_id"].clone();
        call(&mut world, "uniswap_execute_swap", args).await;
        lap();
        call(&mut world, "data_get_token_price", json!({ "token": "WETH", "chain": "base" })).await;
        lap();
        call(&mut world, "wallet_get_status", json!({ "chain": "base" })).await;
        lap();
    }
    let shown: Vec<String> = times
        .iter_mut()
        .map(|(name, times)| {
            times.sort();
            format!("{name} {:.0}", times[times.len() / 2].as_secs_f64() * 1e6)
        })
        .collect();
    println!("  medians in µs: {}", shown.join(", "));
}

fn who() -> ActingAgent {
    ActingAgent::new("trade-executor", 0)
}

fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}
