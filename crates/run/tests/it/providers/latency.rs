//! Latency that the provider stack reports for many calls at once.

use crate::providers::vendor_cases::{KEY, ReplyScenario, VendorCase, WireName, hello};
use model::Money;
use run::ledger::{CallId, CallRole, MemoryLedger};
use run::providers::{ApiKey, CassetteMode, ModelCall, Provider, ProviderConfig, build_provider};
use run::{Budget, Clock};
use std::sync::Arc;
use std::time::Duration;
use testkit::LoopbackServer;
use tokio::sync::Semaphore;

const CALLS: usize = 640;
const AT_ONCE: usize = 64;

/// The run benchmark compares the stack with a bare HTTP client; a debug build on a busy machine cannot.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reported_latency_includes_the_time_of_the_vendor() {
    let vendor = VendorCase { wire: WireName::Compatible, stream: false };
    let server = LoopbackServer::slow_model(Duration::from_millis(50), vendor.reply_body(ReplyScenario::Hello)).await;
    let ask = |n: usize| {
        let plain = crate::providers::vendor_cases::model_call(0, hello());
        let call = CallId { trial: model::ContentHash::of_text(&n.to_string()), role: CallRole::Subject, n: 0 };
        ModelCall::new(call, n as u64, plain.request().clone())
    };
    let terms = ProviderConfig::new(Budget::new(Some(Money::from_dollars(1000))), Arc::new(MemoryLedger::default()), Clock::system());
    let ours = build_provider(&vendor.subject_file(&server.url), ApiKey::new(KEY), &terms, CassetteMode::Off).unwrap();
    let gate = Arc::new(Semaphore::new(AT_ONCE));
    let all: Vec<_> = (0..CALLS)
        .map(|n| {
            let (ours, gate, ask) = (ours.clone(), gate.clone(), ask(n));
            tokio::spawn(async move {
                let _turn = gate.acquire().await.unwrap();
                ours.ask(&ask).await.unwrap().latency_ms
            })
        })
        .collect();
    let mut reported = 0;
    for one in all {
        reported += one.await.unwrap();
    }
    let mean = reported as f64 / CALLS as f64;
    assert!(mean >= 50.0, "{mean:.1} ms");
}
