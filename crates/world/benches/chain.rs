//! Benchmarks a chain per trial: thaw, swap, decode the effects, drop.
//!
//! `cargo bench -p bardo-eval-world --bench chain`

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark reads the clock and prints")]

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;
use bardo_eval_world::chain::bindings::{AmmRouter, PolicyCage, Token};
use bardo_eval_world::chain::genesis::{ACCOUNT, Genesis};
use bardo_eval_world::chain::{AddressBook, ChainBackend, EmbeddedChain, FrozenChain, Tx, TxStatus, decode_mined, limit_hash_cache};
use std::time::{Duration, Instant};

const BASE: u64 = 8453;

fn main() {
    limit_hash_cache();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(bench());
}

async fn bench() {
    let workspace = testkit::reference_workspace();
    let world = workspace.world("defi_small").expect("the world");
    let since = Instant::now();
    let genesis = Genesis::from_world(&workspace, world, BASE).expect("a genesis");
    let mut chain = EmbeddedChain::new(BASE, genesis.starts_at);
    genesis.apply(&mut chain).await.expect("the set-up");
    chain.send(&approve(&genesis.book)).await.expect("an approval");
    let frozen = chain.freeze();
    println!("set-up (once per process): {:.1} ms", since.elapsed().as_secs_f64() * 1e3);

    let empty = time_each(&[(); 10_000], async |()| drop(frozen.thaw())).await;
    println!("thaw and drop: median {:.2} µs", micros(&empty));
    for (what, tx) in [("with the cage", swap_tx as fn(&AddressBook, u64) -> Tx), ("without the cage", swap_without_cage)] {
        // Every trial swaps a different amount.
        let txs: Vec<Tx> = (0..10_000).map(|more| tx(&genesis.book, more)).collect();
        measure(what, &frozen, &genesis.book, &txs).await;
    }
}

async fn measure(what: &str, frozen: &FrozenChain, book: &AddressBook, txs: &[Tx]) {
    let before = resident_mb();
    let embedded = time_each(txs, async |tx| trial(frozen, book, tx).await).await;
    println!("swap {what}");
    println!(
        "  {} trials, median {:.1} µs; resident {:.1} MB before, {:.1} MB after",
        embedded.len(),
        micros(&embedded),
        before,
        resident_mb()
    );
    let (mut sent, mut decoded, mut gas) = (vec![], vec![], 0);
    for tx in &txs[..2_000] {
        let mut chain = frozen.thaw();
        let since = Instant::now();
        let receipt = chain.send(tx).await.expect("a receipt");
        sent.push(since.elapsed());
        let since = Instant::now();
        gas = decode_mined(book, tx, 0, &receipt).gas_used;
        decoded.push(since.elapsed());
    }
    sent.sort();
    decoded.sort();
    println!("  of which executing {gas} gas {:.1} µs, decoding {:.1} µs", micros(&sent), micros(&decoded));
}

async fn trial(frozen: &FrozenChain, book: &AddressBook, tx: &Tx) {
    let mut chain = frozen.thaw();
    swap(&mut chain, book, tx).await;
}

fn swap_tx(book: &AddressBook, more: u64) -> Tx {
    let path = vec![address_of(book, "USDC"), address_of(book, "WETH")];
    let amount = U256::from(250_000_000_u64 + more);
    let call = AmmRouter::swapExactInCall { amountIn: amount, minOut: U256::ZERO, path, to: ACCOUNT, deadline: U256::MAX };
    execute(book, address_of(book, "SwapRouter02"), call.abi_encode())
}

async fn swap(chain: &mut dyn ChainBackend, book: &AddressBook, tx: &Tx) {
    let receipt = chain.send(tx).await.expect("a receipt");
    assert_eq!(receipt.status, TxStatus::Success);
    let mined = decode_mined(book, tx, 0, &receipt);
    assert!(mined.effects.len() >= 3, "{:#?}", mined.effects);
}

/// Swap of the operator's own coins, sent directly to the router.
fn swap_without_cage(book: &AddressBook, more: u64) -> Tx {
    let value = U256::from(50_000_000_000_000_000_u64 + more);
    let (operator, path) = (address_of(book, "operator"), vec![Address::ZERO, address_of(book, "USDC")]);
    let call = AmmRouter::swapExactInCall { amountIn: value, minOut: U256::ZERO, path, to: operator, deadline: U256::MAX };
    Tx { value, ..Tx::call(operator, address_of(book, "SwapRouter02"), call.abi_encode()) }
}

fn approve(book: &AddressBook) -> Tx {
    execute(
        book,
        address_of(book, "USDC"),
        Token::approveCall { spender: address_of(book, "SwapRouter02"), value: U256::MAX >> 2 }.abi_encode(),
    )
}

fn execute(book: &AddressBook, target: Address, data: Vec<u8>) -> Tx {
    let call = PolicyCage::executeCall { target, value: U256::ZERO, data: Bytes::from(data) };
    Tx::call(address_of(book, "operator"), ACCOUNT, call.abi_encode())
}

fn address_of(book: &AddressBook, name: &str) -> Address {
    book.find(name).expect("a name of the world")
}

async fn time_each<T>(items: &[T], mut once: impl AsyncFnMut(&T)) -> Vec<Duration> {
    let mut times = Vec::with_capacity(items.len());
    for item in items {
        let since = Instant::now();
        once(item).await;
        times.push(since.elapsed());
    }
    times.sort();
    times
}

fn micros(sorted: &[Duration]) -> f64 {
    sorted[sorted.len() / 2].as_secs_f64() * 1e6
}

fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}
