//! The collector killed at any moment: no acknowledged span is lost, and none is counted twice.

use super::collecting::CollectProcess;
use crate::harness::TestFolder;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const KILLS: u64 = 20;
const SPANS: u64 = 20;

/// Returns a request with spans of one trace that never ends, so that its spans stay.
fn request(n: u64) -> String {
    let span = |id: u64| {
        json!({
            "traceId": format!("{:032x}", n + 1), "spanId": format!("{:016x}", id + 1), "parentSpanId": "00000000000000ff",
            "name": "execute_tool quote", "attributes": [{ "key": "gen_ai.tool.name", "value": { "stringValue": "quote" } }],
        })
    };
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": (0..SPANS).map(span).collect::<Vec<_>>() }] }] }).to_string()
}

#[test]
fn acknowledged_spans_survive_twenty_kills_and_count_once() {
    let folder = TestFolder::with_minimal();
    let mut acknowledged: BTreeSet<u64> = BTreeSet::new();
    let mut next = 0;
    for kill in 0..KILLS {
        let mut collector = CollectProcess::start(&folder, &[]);
        let at = collector.at.clone();
        let dead = AtomicBool::new(false);
        let sent = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..4)
                .map(|client| {
                    let (at, dead) = (&at, &dead);
                    scope.spawn(move || {
                        let probe = Probe { at };
                        let mut done = vec![];
                        // Requests without an answer are sent again, as SDKs do.
                        let mut n = next + client;
                        while !dead.load(Ordering::Relaxed) {
                            if probe.post(&request(n)) == 200 {
                                done.push(n);
                                n += 4;
                            }
                        }
                        (done, n)
                    })
                })
                .collect();
            // Moments are spread by a fixed rule, so that failures can be reproduced.
            std::thread::sleep(Duration::from_millis(20 + kill * 7919 % 180));
            collector.kill();
            dead.store(true, Ordering::Relaxed);
            clients.into_iter().map(|client| client.join().unwrap()).collect::<Vec<_>>()
        });
        // The next clients begin with the requests that got no answer.
        acknowledged.extend(sent.iter().flat_map(|(done, _)| done));
        next = sent.iter().map(|(_, n)| *n).min().unwrap() / 4 * 4;
    }
    let collector = CollectProcess::start(&folder, &[]);
    for n in 0..next + 8 {
        assert_eq!(collector.post(&request(n)).0, 200);
        acknowledged.insert(n);
    }
    let metrics = collector.get("/metrics");
    drop(collector);
    let file = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    let check: String = file.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let count = |trace: u64| -> u64 {
        let id = u128::from(trace + 1).to_be_bytes();
        file.query_row("SELECT count(*) FROM spans WHERE trace = ?1", [&id[..]], |row| row.get(0)).unwrap()
    };
    assert!(acknowledged.len() > 100, "{} requests", acknowledged.len());
    for trace in &acknowledged {
        assert_eq!(count(*trace), SPANS, "trace {trace}");
    }
    let stored: u64 = file.query_row("SELECT count(*) FROM spans", [], |row| row.get(0)).unwrap();
    let counted: u64 = file.query_row("SELECT n FROM counters WHERE what = 'spans_stored'", [], |row| row.get(0)).unwrap();
    assert_eq!(stored, counted, "{metrics}");
    assert!(stored >= acknowledged.len() as u64 * SPANS);
}

/// Client of a collector that may die.
struct Probe<'a> {
    at: &'a str,
}

impl Probe<'_> {
    fn post(&self, body: &str) -> u16 {
        super::collecting::post_to(self.at, body).0
    }
}
