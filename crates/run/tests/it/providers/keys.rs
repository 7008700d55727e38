//! A key is in one header of a request and nowhere else: everything that is written or shown is searched for it.

use crate::providers::vendors::{KEY, Says, WireName, all, ask, hello};
use model::Money;
use run::ledger::MemoryLedger;
use run::providers::cassette::MemoryTape;
use run::providers::{Cassette, Key, NoProvider, Patience, Provider, Terms, provider};
use run::{Budget, Clock};
use std::sync::Arc;
use testkit::{LoopbackServer, VendorReply};

#[tokio::test]
async fn a_server_that_echoes_the_key_gets_it_into_nothing() {
    for vendor in all() {
        for status in [200, 400, 500] {
            // It says the key as text, in an unknown field, in a header and, escaped, where only a JSON parser sees it.
            let escaped: String = KEY.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
            let body = match status {
                200 => vendor.says(Says::Hello).replace("Hel", &format!("{KEY}Hel{escaped}")).replace("some-model-20261115", KEY),
                _ => format!("{{\"error\":{{\"message\":\"{KEY} and {escaped} are wrong\"}}}}"),
            };
            let server = LoopbackServer::start(move |_, _| {
                VendorReply::status(status, body.clone()).with("request-id", KEY).with("x-request-id", KEY)
            })
            .await;
            let (budget, ledger, tape) =
                (Budget::new(Some(Money::dollars(9))), Arc::new(MemoryLedger::default()), Arc::new(MemoryTape::default()));
            let terms = Terms::new(budget, ledger.clone(), Clock::system());
            let terms = Terms { patience: Patience { attempts: 1, ..terms.patience }, cache: true, ..terms };
            let file = vendor.file(&server.url);
            for cassette in [Cassette::Off, Cassette::Record(tape.clone())] {
                let provider = provider(&file, Key::new(KEY), &terms, cassette).unwrap();
                let outcome = provider.ask(&ask(0, hello())).await;
                let shown = match &outcome {
                    Ok(reply) => format!("{reply:?} {}", reply.to_json()),
                    Err(fault) => format!("{fault:?} {fault}"),
                };
                assert_eq!(outcome.is_ok(), status == 200, "{vendor:?} {shown}");
                let written = format!("{shown} {:?} {:?} {:?} {}", ledger.books(), terms, tape, tape.text());
                assert!(!written.contains(KEY), "{vendor:?} {status}: {written}");
                assert!(server.requests()[0].headers.iter().any(|(_, value)| value.contains(KEY)), "the key was never sent");
            }
        }
    }
}

#[test]
fn without_a_key_or_a_price_there_is_no_provider_and_no_key_goes_out_in_the_clear() {
    let vendor = all()[0];
    let terms = |budget| Terms::new(Budget::new(budget), Arc::new(MemoryLedger::default()), Clock::system());
    let build = |file: &model::SubjectFile, key, terms: &Terms| provider(file, key, terms, Cassette::Off).map(|_| ());
    let funded = terms(Some(Money::dollars(1)));
    let mut file = vendor.file("http://127.0.0.1:1");
    assert_eq!(build(&file, None, &funded), Err(NoProvider::NoKey("SOME_KEY".into())));
    assert_eq!(build(&file, Key::new(KEY), &funded), Ok(()));
    file.price = None;
    assert_eq!(build(&file, Key::new(KEY), &funded), Err(NoProvider::NoPrice));
    assert_eq!(build(&file, Key::new(KEY), &terms(None)), Ok(()));
    for url in ["http://example.com", "ftp://example.com", "not a url", "https://user:word@example.com"] {
        let file = vendor.file(url);
        assert!(matches!(build(&file, Key::new(KEY), &funded), Err(NoProvider::BadUrl(_))), "{url}");
    }
    assert_eq!(build(&vendor.file("https://example.com"), Key::new(KEY), &funded), Ok(()));
}

#[tokio::test]
async fn recordings_alone_need_no_key_and_open_no_connection() {
    for vendor in all().into_iter().filter(|vendor| vendor.wire != WireName::Compatible) {
        let body = vendor.says(Says::Hello);
        let server = LoopbackServer::start(move |_, _| VendorReply::ok(body.clone())).await;
        let tape = Arc::new(MemoryTape::default());
        let terms = Terms::new(Budget::new(None), Arc::new(MemoryLedger::default()), Clock::system());
        let file = vendor.file(&server.url);
        let live = provider(&file, Key::new(KEY), &terms, Cassette::Record(tape.clone())).unwrap();
        let first = live.ask(&ask(0, hello())).await.unwrap();
        let replay = provider(&file, None, &terms, Cassette::Replay(tape.clone())).unwrap();
        assert_eq!(replay.ask(&ask(0, hello())).await.unwrap(), first);
        let miss = replay.ask(&ask(0, vec![])).await.expect_err("never recorded");
        assert!(miss.to_string().contains("nearest recording"), "{miss}");
        assert_eq!(server.count(), 1);
    }
}
