//! Overhead of the provider stack over a bare HTTP client, with the same calls and server.

use crate::providers::vendor_cases::{KEY, ReplyScenario, VendorCase, WireName, hello};
use model::Money;
use run::ledger::{CallId, CallRole, MemoryLedger};
use run::providers::{ApiKey, CassetteMode, ModelCall, Provider, ProviderConfig, build_provider};
use run::{Budget, Clock};
use std::sync::Arc;
use std::time::Duration;
use testkit::LoopbackServer;
use testkit::bare_client::bare_client;
use tokio::sync::Semaphore;
use tokio::time::Instant;

const CALLS: usize = 640;
const AT_ONCE: usize = 64;

/// Loose bound, because tests run as debug builds on busy machines. The run benchmark checks the tight one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn provider_stack_overhead_over_bare_client_is_bounded() {
    let vendor = VendorCase { wire: WireName::Compatible, stream: false };
    let server = LoopbackServer::slow_model(Duration::from_millis(50), vendor.reply_body(ReplyScenario::Hello)).await;
    let ask = |n: usize| {
        let plain = crate::providers::vendor_cases::model_call(0, hello());
        let call = CallId { trial: model::ContentHash::of_text(&n.to_string()), role: CallRole::Subject, n: 0 };
        ModelCall::new(call, n as u64, plain.request().clone())
    };
    let terms = ProviderConfig::new(Budget::new(Some(Money::from_dollars(1000))), Arc::new(MemoryLedger::default()), Clock::system());
    let ours = build_provider(&vendor.subject_file(&server.url), ApiKey::new(KEY), &terms, CassetteMode::Off).unwrap();
    ours.ask(&ask(CALLS)).await.unwrap();
    let body = server.requests()[0].raw.clone();
    let bare = bare_client(&format!("{}{}", server.url, vendor.path()), &body, CALLS, AT_ONCE).await;

    let gate = Arc::new(Semaphore::new(AT_ONCE));
    let began = Instant::now();
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
    let (wall, reported) = (began.elapsed().as_secs_f64() / bare.wall.as_secs_f64(), reported as f64 / CALLS as f64);
    let latency = reported / (bare.mean_latency().as_secs_f64() * 1000.0);
    println!("{CALLS} calls, {AT_ONCE} at once: wall {wall:.3} x the bare client's, reported latency {latency:.3} x, {reported:.1} ms");
    assert!(reported >= 50.0 && wall < 3.0 && latency < 2.0);
}
