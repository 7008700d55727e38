//! An API key appears only in one request header, never in anything written or displayed.

use crate::providers::vendor_cases::{KEY, ReplyScenario, WireName, all_vendors, hello, model_call};
use model::Money;
use run::ledger::MemoryLedger;
use run::providers::cassette::MemoryCassette;
use run::providers::{ApiKey, CassetteMode, Provider, ProviderBuildError, ProviderConfig, RetryPolicy, build_provider};
use run::{Budget, Clock};
use serde_json::json;
use std::sync::Arc;
use testkit::{LoopbackServer, VendorReply, find_secret_trace, secret_echoes};

#[tokio::test]
async fn echoed_api_key_is_scrubbed_everywhere() {
    for vendor in all_vendors() {
        for status in [200, 400, 500] {
            // The server echoes the key in every encoding in its text, in an unknown field and in a header. A stream is split inside one.
            let escaped: String = KEY.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
            let all = secret_echoes(KEY).iter().map(|echo| echo.text.as_str()).collect::<Vec<_>>().join(" and ");
            let (head, tail) = all.split_at(KEY.len() / 2);
            let body = match status {
                200 => vendor
                    .reply_body(ReplyScenario::Hello)
                    .replace("\"Hello\"", &json!(all).to_string())
                    .replace("\"He\"", &json!(head).to_string())
                    .replace("\"llo\"", &json!(tail).to_string())
                    .replace("some-model-20261115", KEY),
                _ => format!("{{\"error\":{{\"message\":{}}}}}", json!(format!("{escaped} and {all} are wrong"))),
            };
            assert!(body.contains(head), "{vendor:?} does not echo the key: {body}");
            let server = LoopbackServer::start(move |_, _| {
                VendorReply::status(status, body.clone()).with_header("request-id", KEY).with_header("x-request-id", KEY)
            })
            .await;
            let (budget, ledger, tape) =
                (Budget::new(Some(Money::from_dollars(9))), Arc::new(MemoryLedger::default()), Arc::new(MemoryCassette::default()));
            let terms = ProviderConfig::new(budget, ledger.clone(), Clock::system());
            let terms = ProviderConfig { retry_policy: RetryPolicy { attempts: 1, ..terms.retry_policy }, cache: true, ..terms };
            let file = vendor.subject_file(&server.url);
            for cassette in [CassetteMode::Off, CassetteMode::Record(tape.clone())] {
                let provider = build_provider(&file, ApiKey::new(KEY), &terms, cassette).unwrap();
                let outcome = provider.ask(&model_call(0, hello())).await;
                let shown = match &outcome {
                    Ok(reply) => format!("{reply:?} {}", reply.to_json()),
                    Err(fault) => format!("{fault:?} {fault}"),
                };
                assert_eq!(outcome.is_ok(), status == 200, "{vendor:?} {shown}");
                let written = format!("{shown} {:?} {:?} {:?} {}", ledger.entries(), terms, tape, tape.text());
                assert_eq!(find_secret_trace(written.as_bytes(), KEY), None, "{vendor:?} {status}: {written}");
                assert!(server.requests()[0].headers.iter().any(|(_, value)| value.contains(KEY)), "the key was never sent");
            }
        }
    }
}

/// Every encoding is split over two chunks of a stream, near its beginning, in the middle and near its end.
#[tokio::test]
async fn key_split_over_chunks_of_a_stream_is_scrubbed() {
    for vendor in all_vendors().into_iter().filter(|vendor| vendor.stream) {
        let bodies = secret_echoes(KEY).into_iter().flat_map(|echo| {
            [4, 2, 1].map(|part| {
                let mut at = (echo.text.len() - 3) / part;
                while !echo.text.is_char_boundary(at) {
                    at += 1;
                }
                let (head, tail) = echo.text.split_at(at);
                let body = vendor.reply_body(ReplyScenario::Hello).replace("\"He\"", &json!(head).to_string());
                body.replace("\"llo\"", &json!(tail).to_string()).replace("\"Hello\"", &json!(echo.text).to_string())
            })
        });
        let bodies: Vec<String> = bodies.collect();
        let count = bodies.len();
        let server = LoopbackServer::start(move |n, _| VendorReply::ok(bodies[n % count].clone())).await;
        let (ledger, tape) = (Arc::new(MemoryLedger::default()), Arc::new(MemoryCassette::default()));
        let terms = ProviderConfig::new(Budget::new(Some(Money::from_dollars(99))), ledger.clone(), Clock::system());
        let file = vendor.subject_file(&server.url);
        let provider = build_provider(&file, ApiKey::new(KEY), &terms, CassetteMode::Record(tape.clone())).unwrap();
        for n in 0..u32::try_from(count).unwrap() {
            let reply = provider.ask(&model_call(n, hello())).await.unwrap();
            let written = format!("{reply:?} {} {:?} {:?} {}", reply.to_json(), ledger.entries(), tape, tape.text());
            assert_eq!(find_secret_trace(written.as_bytes(), KEY), None, "{vendor:?} {n}: {}", reply.to_json());
            assert!(reply.to_json().to_string().contains("[secret]"), "{vendor:?} {n}: {}", reply.to_json());
        }
        assert_eq!(server.count(), count);
    }
}

#[test]
fn build_provider_requires_key_price_and_https() {
    let vendor = all_vendors()[0];
    let terms = |budget| ProviderConfig::new(Budget::new(budget), Arc::new(MemoryLedger::default()), Clock::system());
    let build = |file: &model::SubjectFile, key, terms: &ProviderConfig| build_provider(file, key, terms, CassetteMode::Off).map(|_| ());
    let funded = terms(Some(Money::from_dollars(1)));
    let mut file = vendor.subject_file("http://127.0.0.1:1");
    assert_eq!(build(&file, None, &funded), Err(ProviderBuildError::NoKey("SOME_KEY".into())));
    assert_eq!(build(&file, ApiKey::new(KEY), &funded), Ok(()));
    file.price = None;
    assert_eq!(build(&file, ApiKey::new(KEY), &funded), Err(ProviderBuildError::NoPrice));
    assert_eq!(build(&file, ApiKey::new(KEY), &terms(None)), Ok(()));
    for url in ["http://example.com", "ftp://example.com", "not a url", "https://user:word@example.com"] {
        let file = vendor.subject_file(url);
        assert!(matches!(build(&file, ApiKey::new(KEY), &funded), Err(ProviderBuildError::BadUrl(_))), "{url}");
    }
    assert_eq!(build(&vendor.subject_file("https://example.com"), ApiKey::new(KEY), &funded), Ok(()));
}

#[tokio::test]
async fn replay_needs_no_api_key_and_no_connection() {
    for vendor in all_vendors().into_iter().filter(|vendor| vendor.wire != WireName::Compatible) {
        let body = vendor.reply_body(ReplyScenario::Hello);
        let server = LoopbackServer::start(move |_, _| VendorReply::ok(body.clone())).await;
        let tape = Arc::new(MemoryCassette::default());
        let terms = ProviderConfig::new(Budget::new(None), Arc::new(MemoryLedger::default()), Clock::system());
        let file = vendor.subject_file(&server.url);
        let live = build_provider(&file, ApiKey::new(KEY), &terms, CassetteMode::Record(tape.clone())).unwrap();
        let first = live.ask(&model_call(0, hello())).await.unwrap();
        let replay = build_provider(&file, None, &terms, CassetteMode::Replay(tape.clone())).unwrap();
        assert_eq!(replay.ask(&model_call(0, hello())).await.unwrap(), first);
        let miss = replay.ask(&model_call(0, vec![])).await.expect_err("never recorded");
        assert!(miss.to_string().contains("nearest recording"), "{miss}");
        assert_eq!(server.count(), 1);
    }
}
