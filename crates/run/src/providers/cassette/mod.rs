//! Recorded replies: played back without a network, recorded on the way through, and never quietly replaced by a live call.

mod difference;
mod file;
mod secrets;
mod tape;

pub use difference::Flat;
pub use file::FileTape;
pub use tape::{Lines, MemoryTape, Tape, TapeFault};

use super::Provider;
use super::fault::{FaultKind, ProviderFault};
use super::names::Accepts;
use super::talk::{Ask, Reply};
use async_trait::async_trait;
use std::sync::Arc;

/// What a run does about recordings.
#[derive(Debug, Clone, Default)]
pub enum Cassette {
    /// Live, and nothing is kept.
    #[default]
    Off,
    /// Live, and everything is recorded anew.
    Record(Arc<dyn Tape>),
    /// Recordings alone; what is not recorded is an error.
    Replay(Arc<dyn Tape>),
    /// Recordings, and live only what is not recorded.
    RecordMissing(Arc<dyn Tape>),
}

impl Cassette {
    /// Whether a request may leave the machine.
    pub fn may_ask(&self) -> bool {
        match self {
            Cassette::Off | Cassette::Record(_) | Cassette::RecordMissing(_) => true,
            Cassette::Replay(_) => false,
        }
    }
}

#[derive(Debug)]
pub(super) struct Recorder<P> {
    pub(super) inner: P,
    pub(super) cassette: Cassette,
}

#[async_trait]
impl<P: Provider> Provider for Recorder<P> {
    fn accepts(&self) -> Accepts {
        self.inner.accepts()
    }

    async fn ask(&self, ask: &Ask) -> Result<Reply, ProviderFault> {
        match &self.cassette {
            Cassette::Off => self.inner.ask(ask).await,
            Cassette::Record(tape) => self.record(ask, tape.as_ref()).await,
            Cassette::Replay(tape) => replay(ask, tape.as_ref())?.ok_or_else(|| missing(ask, tape.as_ref())),
            Cassette::RecordMissing(tape) => match replay(ask, tape.as_ref())? {
                Some(reply) => Ok(reply),
                None => self.record(ask, tape.as_ref()).await,
            },
        }
    }
}

impl<P: Provider> Recorder<P> {
    async fn record(&self, ask: &Ask, tape: &dyn Tape) -> Result<Reply, ProviderFault> {
        let reply = self.inner.ask(ask).await?;
        // What is recorded is what is played from now on, in this run too.
        let reply = secrets::scrubbed(reply)?;
        tape.keep(ask, &reply).map_err(|fault| ProviderFault::new(FaultKind::Harness, fault.to_string()))?;
        Ok(reply)
    }
}

fn replay(ask: &Ask, tape: &dyn Tape) -> Result<Option<Reply>, ProviderFault> {
    tape.find(ask.key()).map_err(|fault| ProviderFault::new(FaultKind::Harness, fault.to_string()))
}

/// Says what was recorded instead, so that a changed prompt is seen at once.
fn missing(ask: &Ask, tape: &dyn Tape) -> ProviderFault {
    let asked = difference::flat(ask.seed(), ask.request());
    let nearest =
        tape.recorded().into_iter().map(|recorded| difference::between(&recorded, &asked)).min_by_key(difference::Difference::size);
    let why = match nearest {
        Some(difference) => format!("this request was never recorded; the nearest recording differs in {difference}"),
        None => "there are no recordings".to_owned(),
    };
    ProviderFault::new(FaultKind::NotRecorded, format!("{why}; record it with --record-missing"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::example::{self, Scripted};
    use crate::providers::talk::Block;

    fn recorder(vendor: &Arc<Scripted>, cassette: Cassette) -> Recorder<Arc<Scripted>> {
        Recorder { inner: vendor.clone(), cassette }
    }

    #[tokio::test]
    async fn what_was_recorded_is_played_back_and_nobody_is_asked() {
        let tape: Arc<dyn Tape> = Arc::new(MemoryTape::default());
        let vendor = Arc::new(Scripted::answering("yes"));
        let first = recorder(&vendor, Cassette::Record(tape.clone())).ask(&example::ask("a")).await.unwrap();
        let again = recorder(&vendor, Cassette::Replay(tape.clone())).ask(&example::ask("a")).await.unwrap();
        assert_eq!((first, vendor.asked()), (again, 1));
    }

    #[tokio::test]
    async fn a_miss_is_an_error_that_shows_the_nearest_recording_and_never_a_live_call() {
        let tape: Arc<dyn Tape> = Arc::new(MemoryTape::default());
        let vendor = Arc::new(Scripted::answering("yes"));
        let empty = recorder(&vendor, Cassette::Replay(tape.clone())).ask(&example::ask("a")).await.unwrap_err();
        assert!(empty.to_string().contains("there are no recordings"), "{empty}");
        let record = recorder(&vendor, Cassette::Record(tape.clone()));
        for text in ["something else altogether", "sell 250 USDC for ether"] {
            record.ask(&example::ask(text)).await.unwrap();
        }
        let changed = example::with_system("sell 250 USDC for ether", "Be long.");
        let miss = recorder(&vendor, Cassette::Replay(tape.clone())).ask(&changed).await.unwrap_err();
        assert_eq!(miss.kind, FaultKind::NotRecorded);
        let why = miss.to_string();
        assert!(why.contains("system") && why.contains("Be brief.") && why.contains("Be long.") && !why.contains("altogether"), "{why}");
        assert_eq!(vendor.asked(), 2);
    }

    #[tokio::test]
    async fn only_what_is_missing_is_recorded() {
        let tape: Arc<dyn Tape> = Arc::new(MemoryTape::default());
        let vendor = Arc::new(Scripted::answering("yes"));
        let some = recorder(&vendor, Cassette::RecordMissing(tape.clone()));
        for text in ["a", "a", "b"] {
            some.ask(&example::ask(text)).await.unwrap();
        }
        assert_eq!(vendor.asked(), 2);
    }

    #[tokio::test]
    async fn what_looks_like_a_secret_is_not_recorded() {
        let tape = Arc::new(MemoryTape::default());
        let secret = format!("sk-{}", "notarealkey".repeat(3));
        let vendor = Arc::new(Scripted::answering(Box::leak(format!("my key is {secret}!").into_boxed_str())));
        let reply = recorder(&vendor, Cassette::Record(tape.clone())).ask(&example::ask("a")).await.unwrap();
        assert_eq!(reply.blocks, [Block::text("my key is [secret]!")]);
        assert!(!tape.text().contains(&secret));
        let asked = example::with_system("b", &format!("use {secret}"));
        let refused = recorder(&vendor, Cassette::Record(tape.clone())).ask(&asked).await.unwrap_err();
        assert!(refused.to_string().contains("secret") && !refused.to_string().contains(&secret), "{refused}");
        assert!(!tape.text().contains(&secret));
    }
}
