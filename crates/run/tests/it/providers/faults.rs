//! Table of faults for every provider: kind, retry delay, cost and retries.

use crate::providers::vendor_cases::{ProviderFixture, ReplyScenario, VendorCase, all_vendors, hello, model_call};
use model::Money;
use run::ledger::MemoryLedger;
use run::providers::{ApiKey, CassetteMode, FaultKind, Provider, ProviderConfig, build_provider, ceiling};
use run::{Budget, Clock};
use std::sync::Arc;
use std::time::Duration;
use testkit::{ReplyBody, VendorReply};
use tokio::time::Instant;

struct FaultRow {
    name: &'static str,
    answer: fn(VendorCase) -> VendorReply,
    kind: FaultKind,
    wait: Option<f64>,
}

const ERROR: &str = r#"{"type":"error","error":{"type":"some_error","message":"a message of the vendor"}}"#;

fn first_half(vendor: VendorCase) -> Vec<u8> {
    let body = vendor.reply_body(ReplyScenario::Hello).into_bytes();
    body[..body.len() / 2].to_vec()
}

/// Stream that is valid HTTP but ends before the end marker of the reply.
fn truncated_stream(vendor: VendorCase) -> Vec<u8> {
    let body = vendor.reply_body(ReplyScenario::Hello);
    let pieces: Vec<&str> = body.split_inclusive('\n').collect();
    pieces[..pieces.len().saturating_sub(4).max(1)].concat().into_bytes()
}

const TABLE: &[FaultRow] = &[
    FaultRow { name: "429", answer: |_| VendorReply::status(429, ERROR), kind: FaultKind::RateLimited, wait: None },
    FaultRow {
        name: "429, seconds",
        answer: |_| VendorReply::status(429, ERROR).with_header("retry-after", "2"),
        kind: FaultKind::RateLimited,
        wait: Some(2.0),
    },
    FaultRow {
        name: "429, date",
        answer: |_| {
            VendorReply::status(429, ERROR)
                .with_header("date", "Sun, 15 Nov 2026 12:00:00 GMT")
                .with_header("retry-after", "Sun, 15 Nov 2026 12:00:03 GMT")
        },
        kind: FaultKind::RateLimited,
        wait: Some(3.0),
    },
    FaultRow {
        name: "429, milliseconds",
        answer: |_| VendorReply::status(429, ERROR).with_header("retry-after-ms", "250"),
        kind: FaultKind::RateLimited,
        wait: Some(0.25),
    },
    FaultRow {
        name: "429, empty account",
        answer: |_| VendorReply::status(429, r#"{"error":{"code":"insufficient_quota","message":"pay first"}}"#),
        kind: FaultKind::Rejected,
        wait: None,
    },
    FaultRow { name: "500", answer: |_| VendorReply::status(500, "<html>oops"), kind: FaultKind::Server, wait: None },
    FaultRow {
        name: "503",
        answer: |_| VendorReply::status(503, ERROR).with_header("retry-after", "1"),
        kind: FaultKind::Overloaded,
        wait: Some(1.0),
    },
    FaultRow { name: "529", answer: |_| VendorReply::status(529, ERROR), kind: FaultKind::Overloaded, wait: None },
    FaultRow { name: "400", answer: |_| VendorReply::status(400, ERROR), kind: FaultKind::Rejected, wait: None },
    FaultRow { name: "401", answer: |_| VendorReply::status(401, ERROR), kind: FaultKind::Rejected, wait: None },
    FaultRow {
        name: "redirect",
        answer: |_| VendorReply::status(307, "").with_header("location", "http://127.0.0.1:1/elsewhere"),
        kind: FaultKind::Redirected,
        wait: None,
    },
    FaultRow {
        name: "cut off",
        answer: |vendor| VendorReply::with_body(ReplyBody::Truncated(first_half(vendor))),
        kind: FaultKind::Dropped,
        wait: None,
    },
    FaultRow { name: "reset", answer: |_| VendorReply::with_body(ReplyBody::Reset), kind: FaultKind::Dropped, wait: None },
    FaultRow { name: "10 MB", answer: |_| VendorReply::with_body(ReplyBody::Endless(10 << 20)), kind: FaultKind::TooLarge, wait: None },
    FaultRow { name: "10 MB, announced", answer: |_| VendorReply::ok(vec![b'x'; 10 << 20]), kind: FaultKind::TooLarge, wait: None },
    FaultRow {
        name: "slow drip",
        answer: |vendor| {
            VendorReply::with_body(ReplyBody::Drip(vendor.reply_body(ReplyScenario::Hello).into_bytes(), Duration::from_millis(100)))
        },
        kind: FaultKind::TooSlow,
        wait: None,
    },
    FaultRow { name: "not UTF-8", answer: |_| VendorReply::ok(vec![0xff, 0xfe, b'{']), kind: FaultKind::Garbled, wait: None },
];

#[tokio::test]
async fn every_vendor_fault_has_kind_wait_and_cost() {
    let rows = all_vendors().into_iter().map(|vendor| tokio::spawn(check_vendor(vendor))).collect::<Vec<_>>();
    let mut checked = 0;
    for row in rows {
        checked += row.await.expect("all rows of a vendor");
    }
    assert_eq!(checked, 10 * TABLE.len());
}

async fn check_vendor(vendor: VendorCase) -> usize {
    for row in TABLE {
        let answer = (row.answer)(vendor);
        let bench = ProviderFixture::open(vendor, 1, move |_, _| answer.clone()).await;
        let began = Instant::now();
        let fault = bench.provider.ask(&model_call(0, hello())).await.expect_err(row.name);
        let place = format!("{vendor:?}, {}: {fault}", row.name);
        assert_eq!(fault.kind, row.kind, "{place}");
        assert_eq!(fault.wait.map(|wait| wait.as_secs_f64()), row.wait, "{place}");
        assert!(began.elapsed() < Duration::from_secs(15), "{place}");
        // Faults that may be billed are charged the ceiling, others nothing.
        let sent = bench.server.requests().first().map_or(0, |seen| seen.raw.len() as u64);
        let paid = if row.kind.may_be_billed() { ceiling(&crate::providers::vendor_cases::price(), sent, 500) } else { Money::ZERO };
        assert_eq!(bench.budget.spent(), paid, "{place}");
        assert_eq!(bench.ledger.entries().spent(), paid, "{place}");
        assert_eq!(bench.ledger.entries().failed.len(), 1, "{place}");
        assert_eq!(bench.server.count(), 1, "{place}");
    }
    TABLE.len()
}

/// Garbled bodies of streamed and whole replies.
#[tokio::test]
async fn garbled_replies_differ_from_dropped_ones() {
    for vendor in all_vendors() {
        let (body, kind) = match vendor.stream {
            true => (truncated_stream(vendor), FaultKind::Dropped),
            false => (b"{\"a\": nonsense".to_vec(), FaultKind::Garbled),
        };
        let bench = ProviderFixture::open(vendor, 1, move |_, _| VendorReply::ok(body.clone())).await;
        let fault = bench.provider.ask(&model_call(0, hello())).await.expect_err("no reply");
        assert_eq!(fault.kind, kind, "{vendor:?}: {fault}");
        for nonsense in [
            "[]",
            "{}",
            "null",
            "\"text\"",
            "data: {\"type\": nonsense}\n\n",
            "data: []\n\n",
            "{\"choices\":[],\"content\":3,\"output\":{}}",
        ] {
            let bench = ProviderFixture::open(vendor, 1, move |_, _| VendorReply::ok(nonsense)).await;
            let fault = bench.provider.ask(&model_call(0, hello())).await.expect_err("no reply");
            assert!(matches!(fault.kind, FaultKind::Garbled | FaultKind::Dropped), "{vendor:?} {nonsense}: {fault}");
        }
    }
}

#[tokio::test]
async fn stream_error_event_is_a_dropped_reply() {
    for vendor in all_vendors().into_iter().filter(|vendor| vendor.stream) {
        let body = match vendor.path() {
            "/v1/messages" => {
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
            }
            "/api/chat" => "{\"error\":\"Overloaded\"}\n",
            "/v1/responses" => "data: {\"type\":\"error\",\"message\":\"Overloaded\"}\n\n",
            _ => "data: {\"error\":{\"message\":\"Overloaded\"}}\n\n",
        };
        let bench = ProviderFixture::open(vendor, 1, move |_, _| VendorReply::ok(body)).await;
        let fault = bench.provider.ask(&model_call(0, hello())).await.expect_err("no reply");
        assert_eq!(fault.kind, FaultKind::Dropped, "{vendor:?}");
        assert!(fault.to_string().contains("Overloaded"), "{fault}");
    }
}

#[tokio::test]
async fn transient_faults_are_retried_after_the_wait() {
    for vendor in all_vendors() {
        let body = vendor.reply_body(ReplyScenario::Hello);
        let bench = ProviderFixture::open(vendor, 4, move |n, _| match n {
            0 => VendorReply::status(429, ERROR).with_header("retry-after-ms", "300"),
            1 => VendorReply::with_body(ReplyBody::Reset),
            2 => VendorReply::status(529, ERROR),
            _ => VendorReply::ok(body.clone()),
        })
        .await;
        let began = Instant::now();
        let reply = bench.provider.ask(&model_call(0, hello())).await.unwrap_or_else(|fault| panic!("{vendor:?}: {fault}"));
        assert_eq!((reply.text().as_str(), bench.server.count()), ("Hello", 4), "{vendor:?}");
        assert!(began.elapsed() >= Duration::from_millis(300), "{vendor:?}");
        let entries = bench.ledger.entries();
        assert_eq!((entries.failed.len(), entries.settled.len(), entries.open.len()), (3, 1, 0), "{vendor:?}");
        // The dropped attempt may be billed, so it stays charged besides the successful one.
        assert!(bench.budget.spent() > Money::from_nanos(1_000_000) && bench.budget.spent() == entries.spent(), "{vendor:?}");
        assert!(Duration::from_millis(300 + reply.latency_ms) <= began.elapsed(), "the retry delay must not count as latency: {vendor:?}");
    }
}

#[tokio::test]
async fn retries_are_bounded_and_permanent_faults_not_retried() {
    let vendor = all_vendors()[0];
    let bench = ProviderFixture::open(vendor, 3, |_, _| VendorReply::status(500, ERROR)).await;
    assert_eq!(bench.provider.ask(&model_call(0, hello())).await.expect_err("no reply").kind, FaultKind::Server);
    assert_eq!(bench.server.count(), 3);
    let bench = ProviderFixture::open(vendor, 3, |_, _| VendorReply::status(401, ERROR)).await;
    assert_eq!(bench.provider.ask(&model_call(0, hello())).await.expect_err("no reply").kind, FaultKind::Rejected);
    assert_eq!(bench.server.count(), 1);
    let bench = ProviderFixture::open(vendor, 3, |_, _| VendorReply::status(429, ERROR).with_header("retry-after", "9999")).await;
    assert_eq!(bench.provider.ask(&model_call(0, hello())).await.expect_err("no reply").kind, FaultKind::RateLimited);
    assert_eq!(bench.server.count(), 1, "a delay above the maximum is not waited for");
}

#[tokio::test]
async fn unreachable_vendor_costs_nothing() {
    for vendor in all_vendors() {
        let (budget, ledger) = (Budget::new(Some(Money::from_dollars(1))), Arc::new(MemoryLedger::default()));
        let terms = ProviderConfig::new(budget.clone(), ledger, Clock::system());
        let terms = ProviderConfig { retry_policy: run::providers::RetryPolicy { attempts: 1, ..terms.retry_policy }, ..terms };
        let unreachable = build_provider(
            &vendor.subject_file("http://127.0.0.1:1"),
            ApiKey::new(crate::providers::vendor_cases::KEY),
            &terms,
            CassetteMode::Off,
        )
        .unwrap();
        let fault = unreachable.ask(&model_call(0, hello())).await.expect_err("no reply");
        assert_eq!((fault.kind, budget.spent()), (FaultKind::Unreachable, Money::ZERO), "{vendor:?}: {fault}");
    }
}
