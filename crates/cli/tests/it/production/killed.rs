//! The collector killed at any moment: no acknowledged span is lost, and none is counted twice.

use super::collecting::{CollectProcess, tool_trace};
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

fn store(folder: &TestFolder) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap()
}

fn number(folder: &TestFolder, sql: &str) -> u64 {
    store(folder).query_row(sql, [], |row| row.get(0)).unwrap()
}

fn assert_intact(folder: &TestFolder) {
    let check: String = store(folder).pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

/// Starts a collector several times and kills it after a time that grows.
fn kill_often(folder: &TestFolder, times: u64, step_ms: u64) {
    for kill in 0..times {
        let mut collector = CollectProcess::start(folder, &[]);
        std::thread::sleep(Duration::from_millis(5 + kill * step_ms));
        collector.kill();
    }
}

#[test]
fn decisions_and_removals_survive_kills_and_count_once() {
    const TRACES: u64 = 600;
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", super::KEEP_ALL);
    let mut collector = CollectProcess::start(&folder, &[]);
    for n in 0..TRACES {
        assert_eq!(collector.post(&tool_trace(n)).0, 200);
    }
    collector.kill();
    // Every start finds settled traces and begins with its decisions.
    kill_often(&folder, 10, 40);
    let collector = CollectProcess::start(&folder, &[]);
    collector.wait_for("bardo_eval_open_traces 0\n");
    drop(collector);
    assert_intact(&folder);
    assert_eq!(number(&folder, "SELECT count(*) FROM traces"), TRACES);
    assert_eq!(number(&folder, "SELECT n FROM counters WHERE what = 'traces_kept'"), TRACES, "each trace is decided once");
    assert_eq!(number(&folder, "SELECT count(*) FROM spans"), 3 * TRACES);
    // Half of the traces become too old; the first step of a collector removes them.
    store(&folder).execute_batch("UPDATE traces SET decided_ms = decided_ms - 40 * 86400000 WHERE seq % 2 = 0").unwrap();
    kill_often(&folder, 10, 10);
    let collector = CollectProcess::start(&folder, &[]);
    let started = std::time::Instant::now();
    while number(&folder, "SELECT count(*) FROM traces") > TRACES / 2 {
        assert!(started.elapsed() < Duration::from_secs(60), "old traces are still there");
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(collector);
    assert_intact(&folder);
    assert_eq!(number(&folder, "SELECT count(*) FROM traces WHERE seq % 2 = 1"), TRACES / 2, "no other trace is removed");
    assert_eq!(number(&folder, "SELECT count(*) FROM spans WHERE trace NOT IN (SELECT trace FROM traces)"), 0);
}
