//! Runs one script on three chain backends and requires identical bytes and gas.

use crate::chain::plain_revm::PlainRevm;
use crate::chain::recorder::{ChainRecorder, RecordedStep};
use crate::chain::{CHAIN, START, anvil, config, contracts_setup, program, script};
use alloy_primitives::{Address, B256, Bytes, U256};
use bardo_eval_world::chain::genesis::KEEPER;
use bardo_eval_world::chain::{Anvil, AnvilConfig, ChainBackend, ChainError, EmbeddedChain, Tx};
use std::path::Path;

async fn set_up(chain: &mut dyn ChainBackend) -> Vec<RecordedStep> {
    let mut recorder = ChainRecorder::new(chain);
    contracts_setup::set_up(&mut recorder).await;
    recorder.steps
}

async fn act(chain: &mut dyn ChainBackend) -> Vec<RecordedStep> {
    let mut recorder = ChainRecorder::new(chain);
    script::run_script(&mut recorder).await;
    recorder.steps
}

async fn on_revm() -> [Vec<RecordedStep>; 2] {
    let mut chain = EmbeddedChain::new(CHAIN, START);
    let seen = [set_up(&mut chain).await, act(&mut chain).await];
    assert!(seen.iter().map(Vec::len).sum::<usize>() > 120, "the script has too few steps");
    seen
}

fn assert_same_steps(ours: &[RecordedStep], theirs: &[RecordedStep]) {
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!(ours.what, theirs.what);
        assert!(ours.outcome == theirs.outcome, "{}\n--- revm\n{}\n--- other\n{}", ours.what, ours.outcome, theirs.outcome);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[tokio::test]
async fn embedded_chain_equals_plain_revm() {
    let mut plain = PlainRevm::new(START);
    let [setting, acts] = on_revm().await;
    assert_same_steps(&setting, &set_up(&mut plain).await);
    assert_same_steps(&acts, &act(&mut plain).await);
    let (mut plain, mut ours) = (PlainRevm::new(START), EmbeddedChain::new(CHAIN, START));
    let (mut theirs, mut ours) = (ChainRecorder::new(&mut plain), ChainRecorder::new(&mut ours));
    script::odd_creations(&mut theirs).await;
    script::odd_creations(&mut ours).await;
    assert_same_steps(&ours.steps, &theirs.steps);
}

#[tokio::test]
async fn script_gives_equal_results_on_revm_and_anvil() {
    let mut node = anvil(&config()).await;
    let [setting, acts] = on_revm().await;
    assert_same_steps(&setting, &set_up(&mut node).await);
    assert_same_steps(&acts, &act(&mut node).await);
}

#[tokio::test]
async fn script_gives_equal_results_on_anvil_fork() {
    let mut upstream = anvil(&config()).await;
    let [setting, acts] = on_revm().await;
    assert_same_steps(&setting, &set_up(&mut upstream).await);
    let mut fork = anvil(&AnvilConfig { fork: Some(upstream.url().to_owned()), ..config() }).await;
    let before = upstream.latest().await.unwrap();
    assert_same_steps(&acts, &act(&mut fork).await);
    assert_eq!(upstream.latest().await.unwrap(), before, "a fork must not change its upstream");
}

#[tokio::test]
async fn script_gives_equal_results_on_thawed_chain() {
    let mut chain = EmbeddedChain::new(CHAIN, START);
    set_up(&mut chain).await;
    let [_, acts] = on_revm().await;
    let frozen = chain.freeze();
    assert_same_steps(&acts, &act(&mut frozen.thaw()).await);
    assert_same_steps(&acts, &act(&mut frozen.thaw()).await);
}

#[tokio::test]
async fn script_gives_equal_results_on_foreign_anvil() {
    let folder = tempfile::tempdir().unwrap();
    let owner = anvil(&foreign_anvil_config(folder.path(), "prague")).await;
    let mut guest = Anvil::connect(owner.url(), CHAIN, config().timeout).await.unwrap();
    let [setting, acts] = on_revm().await;
    assert_same_steps(&setting, &set_up(&mut guest).await);
    assert_same_steps(&acts, &act(&mut guest).await);
}

#[tokio::test]
async fn odd_creations_give_equal_results() {
    let (mut node, mut chain) = (anvil(&config()).await, EmbeddedChain::new(CHAIN, START));
    let (mut theirs, mut ours) = (ChainRecorder::new(&mut node), ChainRecorder::new(&mut chain));
    script::odd_creations(&mut theirs).await;
    script::odd_creations(&mut ours).await;
    assert_same_steps(&ours.steps, &theirs.steps);
}

/// Anvil started by a script with other settings: auto-mining, funded accounts and a deployed contract.
fn foreign_anvil_config(folder: &Path, hardfork: &str) -> AnvilConfig {
    let real = config().find().unwrap();
    // Anvil stores old states in its home directory.
    let line = format!(
        "exec env HOME={} {} --port 0 --chain-id {CHAIN} --timestamp {START} --hardfork {hardfork}",
        folder.display(),
        real.display()
    );
    AnvilConfig { program: Some(program(folder, &line)), ..config() }
}

#[tokio::test]
async fn anvil_of_another_hardfork_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let error = Anvil::start(&foreign_anvil_config(folder.path(), "cancun")).await.unwrap_err();
    assert!(matches!(&error, ChainError::Unsupported(why) if why.contains("start it with --hardfork prague")), "{error}");
}

#[tokio::test]
async fn anvil_of_another_chain_id_is_rejected() {
    let node = anvil(&config()).await;
    let error = Anvil::connect(node.url(), 1, config().timeout).await.unwrap_err();
    let ChainError::Unsupported(why) = &error else { panic!("{error}") };
    assert!(why.contains("serves chain 8453, not 1"), "{error}");
}

/// A fork has contracts of its own at well-known addresses. Ours must not read their storage.
#[tokio::test]
async fn storage_of_replaced_contracts_is_cleared() {
    let mut node = anvil(&config()).await;
    let at = Address::repeat_byte(0x77);
    // Adds 1 to slot 0.
    let counter = Bytes::from_static(&[0x60, 0x01, 0x5f, 0x54, 0x01, 0x5f, 0x55, 0x00]);
    let add = Tx::call(KEEPER, at, vec![]);
    node.set_balance(KEEPER, U256::from(10).pow(U256::from(18))).await.unwrap();
    node.etch(at, counter.clone()).await.unwrap();
    node.send(&add).await.unwrap();
    let mut claimed = Anvil::claim(node.url(), CHAIN, AnvilConfig::DEFAULT_TIMEOUT).await.unwrap();
    assert_eq!(claimed.storage(at, U256::ZERO).await.unwrap(), B256::from(U256::ONE), "of the user's contract");
    claimed.etch(at, counter.clone()).await.unwrap();
    assert_eq!(claimed.storage(at, U256::ZERO).await.unwrap(), B256::ZERO);
    // A trial may replace its own code and keep the storage.
    claimed.send(&add).await.unwrap();
    claimed.etch(at, counter).await.unwrap();
    assert_eq!(claimed.storage(at, U256::ZERO).await.unwrap(), B256::from(U256::ONE));
}
