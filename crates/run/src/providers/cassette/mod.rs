//! Cassettes: records replies and replays them without a network. A missing recording is never silently replaced by a live call.

mod cassette_store;
mod file_cassette;
mod request_diff;
mod secrets;
mod shared_parts;

pub use cassette_store::{CassetteFault, CassetteLines, CassetteStore, MemoryCassette};
pub use file_cassette::{FileCassette, has_recordings};
pub use request_diff::FlatRequest;

use super::Provider;
use super::chat::{ModelCall, ModelReply};
use super::fault::{FaultKind, ProviderFault};
use super::tool_names::VendorLimits;
use async_trait::async_trait;
use std::sync::Arc;

/// Recording mode of a run.
#[derive(Debug, Clone, Default)]
pub enum CassetteMode {
    /// Live, without recording.
    #[default]
    Off,
    /// Live; records every reply.
    Record(Arc<dyn CassetteStore>),
    /// Recordings only; a missing recording is an error.
    Replay(Arc<dyn CassetteStore>),
    /// Recordings; missing ones are requested live and recorded.
    RecordMissing(Arc<dyn CassetteStore>),
}

impl CassetteMode {
    /// Reports whether live requests are allowed.
    pub fn allows_network(&self) -> bool {
        match self {
            CassetteMode::Off | CassetteMode::Record(_) | CassetteMode::RecordMissing(_) => true,
            CassetteMode::Replay(_) => false,
        }
    }
}

#[derive(Debug)]
pub(super) struct CassetteProvider<P> {
    pub(super) inner: P,
    pub(super) cassette: CassetteMode,
}

#[async_trait]
impl<P: Provider> Provider for CassetteProvider<P> {
    fn vendor_limits(&self) -> VendorLimits {
        self.inner.vendor_limits()
    }

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault> {
        match &self.cassette {
            CassetteMode::Off => self.inner.ask(ask).await,
            CassetteMode::Record(tape) => self.record(ask, tape.as_ref()).await,
            CassetteMode::Replay(tape) => replay(ask, tape.as_ref())?.ok_or_else(|| not_recorded(ask, tape.as_ref())),
            CassetteMode::RecordMissing(tape) => match replay(ask, tape.as_ref())? {
                Some(reply) => Ok(reply),
                None => self.record(ask, tape.as_ref()).await,
            },
        }
    }
}

impl<P: Provider> CassetteProvider<P> {
    async fn record(&self, ask: &ModelCall, tape: &dyn CassetteStore) -> Result<ModelReply, ProviderFault> {
        let reply = self.inner.ask(ask).await?;
        // Use the scrubbed reply in this run too, so that a replay gives the same result.
        let reply = secrets::scrub_reply(reply)?;
        tape.save(ask, &reply).map_err(|fault| ProviderFault::new(FaultKind::Harness, fault.to_string()))?;
        Ok(reply)
    }
}

fn replay(ask: &ModelCall, tape: &dyn CassetteStore) -> Result<Option<ModelReply>, ProviderFault> {
    tape.find(ask.key()).map_err(|fault| ProviderFault::new(FaultKind::Harness, fault.to_string()))
}

/// Describes the difference to the nearest recording, so that a changed prompt is easy to spot.
fn not_recorded(ask: &ModelCall, tape: &dyn CassetteStore) -> ProviderFault {
    let asked = request_diff::flatten_request(ask.seed(), ask.request());
    let nearest = tape.nearest_request(ask).map(|recorded| request_diff::diff_requests(&recorded, &asked));
    let why = match nearest {
        Some(difference) => format!("this request was never recorded; the nearest recording differs in {difference}"),
        None => "there are no recordings".to_owned(),
    };
    ProviderFault::new(FaultKind::NotRecorded, format!("{why}; record it with --record-missing"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::chat::ContentBlock;
    use crate::providers::fixtures::{self, ScriptedProvider};

    fn recorder(vendor: &Arc<ScriptedProvider>, cassette: CassetteMode) -> CassetteProvider<Arc<ScriptedProvider>> {
        CassetteProvider { inner: vendor.clone(), cassette }
    }

    #[tokio::test]
    async fn replay_returns_the_recorded_reply_without_a_call() {
        let tape: Arc<dyn CassetteStore> = Arc::new(MemoryCassette::default());
        let vendor = Arc::new(ScriptedProvider::always("yes"));
        let first = recorder(&vendor, CassetteMode::Record(tape.clone())).ask(&fixtures::model_call("a")).await.unwrap();
        let again = recorder(&vendor, CassetteMode::Replay(tape.clone())).ask(&fixtures::model_call("a")).await.unwrap();
        assert_eq!((first, vendor.call_count()), (again, 1));
    }

    #[tokio::test]
    async fn replay_miss_is_an_error_with_the_nearest_recording() {
        let tape: Arc<dyn CassetteStore> = Arc::new(MemoryCassette::default());
        let vendor = Arc::new(ScriptedProvider::always("yes"));
        let empty = recorder(&vendor, CassetteMode::Replay(tape.clone())).ask(&fixtures::model_call("a")).await.unwrap_err();
        assert!(empty.to_string().contains("there are no recordings"), "{empty}");
        let record = recorder(&vendor, CassetteMode::Record(tape.clone()));
        for text in ["something else altogether", "sell 250 USDC for ether"] {
            record.ask(&fixtures::model_call(text)).await.unwrap();
        }
        let changed = fixtures::model_call_with_system("sell 250 USDC for ether", "Be long.");
        let miss = recorder(&vendor, CassetteMode::Replay(tape.clone())).ask(&changed).await.unwrap_err();
        assert_eq!(miss.kind, FaultKind::NotRecorded);
        let why = miss.to_string();
        assert!(why.contains("system") && why.contains("Be brief.") && why.contains("Be long.") && !why.contains("altogether"), "{why}");
        assert_eq!(vendor.call_count(), 2);
    }

    #[tokio::test]
    async fn record_missing_sends_only_unrecorded_requests() {
        let tape: Arc<dyn CassetteStore> = Arc::new(MemoryCassette::default());
        let vendor = Arc::new(ScriptedProvider::always("yes"));
        let some = recorder(&vendor, CassetteMode::RecordMissing(tape.clone()));
        for text in ["a", "a", "b"] {
            some.ask(&fixtures::model_call(text)).await.unwrap();
        }
        assert_eq!(vendor.call_count(), 2);
    }

    #[tokio::test]
    async fn secrets_are_not_recorded() {
        let tape = Arc::new(MemoryCassette::default());
        let secret = format!("sk-{}", "notarealkey".repeat(3));
        let vendor = Arc::new(ScriptedProvider::always(Box::leak(format!("my key is {secret}!").into_boxed_str())));
        let reply = recorder(&vendor, CassetteMode::Record(tape.clone())).ask(&fixtures::model_call("a")).await.unwrap();
        assert_eq!(reply.blocks, [ContentBlock::text("my key is [secret]!")]);
        assert!(!tape.text().contains(&secret));
        let asked = fixtures::model_call_with_system("b", &format!("use {secret}"));
        let refused = recorder(&vendor, CassetteMode::Record(tape.clone())).ask(&asked).await.unwrap_err();
        assert!(refused.to_string().contains("secret") && !refused.to_string().contains(&secret), "{refused}");
        assert!(!tape.text().contains(&secret));
    }
}
