//! One script, three chains, the same to the last byte and unit of gas.

use crate::chain::plain_revm::PlainRevm;
use crate::chain::recorder::{Recorder, Seen};
use crate::chain::{CHAIN, START, anvil, config, program, script, setting};
use bardo_eval_world::chain::{Anvil, AnvilConfig, Chain, ChainError, Embedded};
use std::path::Path;

async fn set_up(chain: &mut dyn Chain) -> Vec<Seen> {
    let mut recorder = Recorder::new(chain);
    setting::set_up(&mut recorder).await;
    recorder.seen
}

async fn act(chain: &mut dyn Chain) -> Vec<Seen> {
    let mut recorder = Recorder::new(chain);
    script::play(&mut recorder).await;
    recorder.seen
}

async fn on_revm() -> [Vec<Seen>; 2] {
    let mut chain = Embedded::new(CHAIN, START);
    let seen = [set_up(&mut chain).await, act(&mut chain).await];
    assert!(seen.iter().map(Vec::len).sum::<usize>() > 120, "the script has become short");
    seen
}

fn agree(ours: &[Seen], theirs: &[Seen]) {
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!(ours.what, theirs.what);
        assert!(ours.came == theirs.came, "{}\n--- revm\n{}\n--- the other\n{}", ours.what, ours.came, theirs.came);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[tokio::test]
async fn embedded_chain_equals_plain_revm_with_a_cache_db() {
    let mut plain = PlainRevm::new(START);
    let [setting, acts] = on_revm().await;
    agree(&setting, &set_up(&mut plain).await);
    agree(&acts, &act(&mut plain).await);
    let (mut plain, mut ours) = (PlainRevm::new(START), Embedded::new(CHAIN, START));
    let (mut theirs, mut ours) = (Recorder::new(&mut plain), Recorder::new(&mut ours));
    script::odd_creations(&mut theirs).await;
    script::odd_creations(&mut ours).await;
    agree(&ours.seen, &theirs.seen);
}

#[tokio::test]
async fn the_script_plays_alike_on_revm_and_on_anvil() {
    let mut node = anvil(&config()).await;
    let [setting, acts] = on_revm().await;
    agree(&setting, &set_up(&mut node).await);
    agree(&acts, &act(&mut node).await);
}

#[tokio::test]
async fn the_script_plays_alike_on_a_fork_of_another_anvil() {
    let mut upstream = anvil(&config()).await;
    let [setting, acts] = on_revm().await;
    agree(&setting, &set_up(&mut upstream).await);
    let mut fork = anvil(&AnvilConfig { fork: Some(upstream.url().to_owned()), ..config() }).await;
    let before = upstream.latest().await.unwrap();
    agree(&acts, &act(&mut fork).await);
    assert_eq!(upstream.latest().await.unwrap(), before, "what happens on a fork stays there");
}

#[tokio::test]
async fn the_script_plays_alike_on_a_thawed_chain() {
    let mut chain = Embedded::new(CHAIN, START);
    set_up(&mut chain).await;
    let [_, acts] = on_revm().await;
    let frozen = chain.freeze();
    agree(&acts, &act(&mut frozen.thaw()).await);
    agree(&acts, &act(&mut frozen.thaw()).await);
}

#[tokio::test]
async fn the_script_plays_alike_on_somebody_elses_anvil() {
    let folder = tempfile::tempdir().unwrap();
    let owner = anvil(&of_others(folder.path(), "prague")).await;
    let mut guest = Anvil::connect(owner.url(), CHAIN, config().time).await.unwrap();
    let [setting, acts] = on_revm().await;
    agree(&setting, &set_up(&mut guest).await);
    agree(&acts, &act(&mut guest).await);
}

#[tokio::test]
async fn odd_creations_go_alike() {
    let (mut node, mut chain) = (anvil(&config()).await, Embedded::new(CHAIN, START));
    let (mut theirs, mut ours) = (Recorder::new(&mut node), Recorder::new(&mut chain));
    script::odd_creations(&mut theirs).await;
    script::odd_creations(&mut ours).await;
    agree(&ours.seen, &theirs.seen);
}

/// An Anvil with its own settings: it mines by itself, has rich accounts and a contract of its own.
fn of_others(folder: &Path, hardfork: &str) -> AnvilConfig {
    let real = config().find().unwrap();
    // It keeps old states below its home.
    let line = format!(
        "exec env HOME={} {} --port 0 --chain-id {CHAIN} --timestamp {START} --hardfork {hardfork}",
        folder.display(),
        real.display()
    );
    AnvilConfig { program: Some(program(folder, &line)), ..config() }
}

#[tokio::test]
async fn a_node_of_another_hardfork_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let error = Anvil::start(&of_others(folder.path(), "cancun")).await.unwrap_err();
    assert!(matches!(&error, ChainError::Unsupported(why) if why.contains("start it with --hardfork prague")), "{error}");
}

#[tokio::test]
async fn a_node_of_another_chain_is_not_taken() {
    let node = anvil(&config()).await;
    let error = Anvil::connect(node.url(), 1, config().time).await.unwrap_err();
    let ChainError::Unsupported(why) = &error else { panic!("{error}") };
    assert!(why.contains("of chain 8453, not 1"), "{error}");
}
