//! Agents that evade the window or the sample, and windows that lack evidence: never a pass.

use super::KEEP_ALL;
use super::collecting::{CollectProcess, tool_trace, write_trace};
use crate::harness::TestFolder;
use crate::view::page_of;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub(super) const KEEP_BY_RULE: &str = "sampling: { rate: 0 }\nsettle_s: 1\nmax_age_s: 4\n";

/// Workspace in which one gate has a window, which ordinary traces meet.
pub(super) fn one_gate() -> TestFolder {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", KEEP_ALL);
    let gates = folder.read("evals/gates.yaml").replace("    window: 24h\n", "");
    let at = gates.find("- id: agent_behavioral_invariants").unwrap();
    let line = at + gates[at..].find("    tiers:").unwrap();
    let min = gates[at..].find("min_cases:").map(|min| at + min).unwrap();
    let end = min + gates[min..].find('\n').unwrap();
    folder.write("evals/gates.yaml", format!("{}    window: 24h\n{}min_cases: 3{}", &gates[..line], &gates[line..min], &gates[end..]));
    folder
}

pub(super) fn spans(trace: &str) -> Value {
    serde_json::from_str::<Value>(trace).unwrap()["resourceSpans"][0]["scopeSpans"][0]["spans"].clone()
}

pub(super) fn request(spans: Value) -> String {
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string()
}

pub(super) fn collect(folder: &TestFolder, traces: u64) {
    let collector = CollectProcess::start(folder, &[]);
    for n in 0..traces {
        assert_eq!(collector.post(&tool_trace(n)).0, 200);
    }
    collector.wait_for_kept(usize::try_from(traces).unwrap());
    collector.wait_for("bardo_eval_gate_met{gate=\"agent_behavioral_invariants\"");
}

/// Runs a change on the file, requires an exit code and a text, and undoes the change.
pub(super) fn watch_after(folder: &TestFolder, change: &str, undo: &str, exit: i32, text: &str) {
    let file = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    file.execute_batch(change).unwrap();
    folder.run(&["watch", "--once"]).assert_exit(exit).assert_stdout(text);
    file.execute_batch(undo).unwrap();
}

#[test]
fn every_gap_takes_the_pass_away() {
    let folder = one_gate();
    collect(&folder, 3);
    folder.run(&["watch", "--once"]).assert_exit(0);
    let hours = |n: u64| n * 3600;
    let older = |by: u64| format!("UPDATE traces SET at_s = at_s - {by}");
    let newer = |by: u64| format!("UPDATE traces SET at_s = at_s + {by}");
    watch_after(&folder, &older(hours(25)), &newer(hours(25)), 3, "no evidence");
    watch_after(&folder, "UPDATE marks SET at = at - 3600", "UPDATE marks SET at = at + 3600", 3, "no collector has worked since");
    let open = "INSERT INTO open_traces (trace, first_ms, last_ms, spans, bytes, root_ended) VALUES (x'aa', 1, 1, 1, 1, 0)";
    watch_after(&folder, open, "DELETE FROM open_traces", 3, "1 trace should be decided");
    let removed = "INSERT INTO marks SELECT 'removed_until', at FROM marks WHERE what = 'worked'";
    watch_after(&folder, removed, "DELETE FROM marks WHERE what = 'removed_until'", 3, "were removed for their size");
    folder.run(&["watch", "--once"]).assert_exit(0);
    folder.write("evals/production.yaml", format!("{KEEP_ALL}budget_usd_per_day: 1\n"));
    folder
        .run(&["watch", "--once"])
        .assert_exit(3)
        .assert_stdout("the budget of the day cannot be checked: no price or no tokens of made-up-model-1");
    let priced = testkit::chat::subject_file("priced", "http://127.0.0.1:1").replace("model: m\n", "model: made-up-model-1\n");
    folder.write("evals/subjects/priced.yaml", priced);
    folder.run(&["watch", "--once"]).assert_exit(0);
    folder.write("evals/production.yaml", format!("{KEEP_ALL}budget_usd_per_day: 0.0001\n"));
    folder.run(&["watch", "--once"]).assert_exit(1).assert_stdout("budget of the day");
}

#[test]
fn clocks_of_senders_decide_on_no_window() {
    let folder = one_gate();
    let collector = CollectProcess::start(&folder, &[]);
    let hour = 3_600_000_000_000_i128;
    for (n, shift) in (0..).zip([23 * hour, -23 * hour, 24 * 365 * 80 * hour, -24 * 365 * 50 * hour, 0]) {
        let mut spans = spans(&tool_trace(n));
        for span in spans.as_array_mut().unwrap() {
            for key in ["startTimeUnixNano", "endTimeUnixNano"] {
                let at: i128 = span[key].as_str().unwrap().parse().unwrap();
                span[key] = (at + shift).max(0).to_string().into();
            }
        }
        assert_eq!(collector.post(&request(spans)).0, 200);
    }
    collector.wait_for_kept(5);
    drop(collector);
    let report: Value = serde_json::from_str(&folder.run(&["watch", "--once", "--window", "1h", "--format", "json"]).stdout).unwrap();
    assert_eq!(report["traces"]["kept"], 5, "{:#}", report["traces"]);
}

#[test]
fn a_trace_that_never_ends_is_decided_while_spans_still_come() {
    let folder = one_gate();
    let collector = CollectProcess::start(&folder, &[]);
    let all = spans(&tool_trace(0));
    let started = Instant::now();
    // The root never comes, and a span comes before the trace could settle.
    assert_eq!(collector.post(&request(json!([all[1], all[2]]))).0, 200);
    for n in 0_u64.. {
        let mut span = all[2].clone();
        span["spanId"] = format!("{:016x}", 100 + n).into();
        assert_eq!(collector.post(&request(json!([span]))).0, 200);
        if collector.get("/metrics").contains("bardo_eval_traces_kept_total 1\n") {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "the trace is still open");
        std::thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn spans_that_come_after_a_trace_was_left_out_can_keep_it() {
    let folder = one_gate();
    folder.write("evals/production.yaml", KEEP_BY_RULE);
    let collector = CollectProcess::start(&folder, &[]);
    assert_eq!(collector.post(&tool_trace(0)).0, 200);
    collector.wait_for("bardo_eval_traces_dropped_total 1\n");
    // A write whose stated value is no number.
    let mut late = spans(&write_trace(0, json!({ "status": "success" })))[2].clone();
    late["spanId"] = "00000000000000aa".into();
    late["attributes"][3]["value"]["stringValue"] = json!({ "to": "0x1", "amount_usd": "NaN" }).to_string().into();
    assert_eq!(collector.post(&request(json!([late]))).0, 200);
    collector.wait_for_kept(1);
    collector.wait_for("bardo_eval_spans_late_total 1\n");
    drop(collector);
    let report: Value = serde_json::from_str(&folder.run(&["watch", "--once", "--format", "json"]).stdout).unwrap();
    assert_eq!((&report["traces"]["kept"], &report["traces"]["estimated"]), (&json!(1), &json!(1.0)));
}

#[test]
fn a_trace_with_refused_spans_cannot_be_scored() {
    let folder = one_gate();
    collect(&folder, 3);
    folder.run(&["watch", "--once"]).assert_exit(0);
    folder.write("evals/production.yaml", KEEP_BY_RULE);
    let collector = CollectProcess::start(&folder, &[]);
    let all = spans(&tool_trace(7));
    let padding = |n: u64| {
        let mut span = all[2].clone();
        span["spanId"] = format!("{:016x}", 100 + n).into();
        span["attributes"] = json!([]);
        span["name"] = "x".into();
        span
    };
    let mut padded: Vec<Value> = vec![all[0].clone(), all[1].clone()];
    padded.extend((0..10_000).map(padding));
    padded.push(all[2].clone());
    let (status, answer) = collector.post(&request(padded.into()));
    assert!(status == 200 && answer.contains("\"rejectedSpans\":\"3\""), "{status} {answer}");
    collector.wait_for_kept(4);
    drop(collector);
    folder.run(&["watch", "--once"]).assert_exit(3).assert_stdout("1 trace cannot be scored");
}

/// Returns the rules that kept a trace.
fn reasons(folder: &TestFolder, n: u64) -> String {
    let file = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    let id = u128::from(n + 1).to_be_bytes();
    file.query_row("SELECT reasons FROM traces WHERE trace = ?1", [&id[..]], |row| row.get(0)).unwrap()
}

#[test]
fn spans_in_circles_or_below_many_others_hide_nothing() {
    let folder = one_gate();
    collect(&folder, 3);
    folder.run(&["watch", "--once"]).assert_exit(0);
    folder.write("evals/production.yaml", KEEP_BY_RULE);
    let collector = CollectProcess::start(&folder, &[]);
    // A large payment that is its own parent.
    let mut circle = spans(&write_trace(7, json!({ "status": "success" })));
    circle[2]["parentSpanId"] = circle[2]["spanId"].clone();
    circle[2]["attributes"][3]["value"]["stringValue"] = json!({ "amount_usd": "50000" }).to_string().into();
    assert_eq!(collector.post(&request(circle)).0, 200);
    // A read below eighty other spans.
    let mut deep = spans(&tool_trace(8)).as_array().unwrap().clone();
    for n in 0_u64..80 {
        let mut step = deep[0].clone();
        step["name"] = "step".into();
        step["attributes"] = json!([]);
        step["spanId"] = format!("{:016x}", 100 + n).into();
        step["parentSpanId"] = if n == 0 { deep[0]["spanId"].clone() } else { format!("{:016x}", 99 + n).into() };
        deep.push(step);
    }
    deep[2]["parentSpanId"] = format!("{:016x}", 179).into();
    assert_eq!(collector.post(&request(deep.into())).0, 200);
    collector.wait_for_kept(5);
    drop(collector);
    assert_eq!((reasons(&folder, 7).as_str(), reasons(&folder, 8).as_str()), ("incomplete large_write", "incomplete"));
    folder.run(&["watch", "--once"]).assert_exit(3).assert_stdout("2 traces cannot be scored");
}

/// Everything that takes the pass away from `watch` takes it away on the page.
#[test]
fn the_viewer_shows_the_verdict_of_watch() {
    let folder = one_gate();
    // The viewer opens with a store of runs.
    folder.run(&["run", "--suite", "behavior", "--subject", "reference", "--limit", "1"]);
    collect(&folder, 3);
    let page = |exit: i32, text: &str| {
        folder.run(&["watch", "--once"]).assert_exit(exit);
        let page = page_of(&folder, "/production");
        assert!(page.contains(&format!("exits with {exit}")) && page.contains(text), "exit {exit}, {text}: {page}");
    };
    page(0, "agent_behavioral_invariants");
    let file = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    let change = |sql: &str| file.execute_batch(sql).unwrap();
    change("UPDATE marks SET at = at - 3600");
    page(3, "no collector has worked since");
    change("UPDATE marks SET at = at + 3600");
    let fact = |key: &str, value: &str| change(&format!("UPDATE traces SET facts = json_set(facts, '$.{key}', json('{value}'))"));
    fact("undecoded", "[\"0x1: no receipt\"]");
    page(3, "effects of 3 traces are not known, such as 0x1: no receipt");
    fact("undecoded", "[]");
    fact("ignored_claims", "2");
    page(0, "only spans state");
    fact("contradictions", "[\"0x2 failed, and its call says that it succeeded\"]");
    page(1, "0x2 failed");
}

/// Compresses zeros to about a thousandth: stored blocks would be as long as the zeros.
fn gzip_bomb(megabytes: u32) -> Vec<u8> {
    use std::io::Write;
    let mut gzip = std::process::Command::new("gzip")
        .args(["-9", "-c"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = gzip.stdin.take().unwrap();
    let writer = std::thread::spawn(move || (0..megabytes).for_each(|_| input.write_all(&[b'['; 1 << 20]).unwrap()));
    let packed = gzip.wait_with_output().unwrap().stdout;
    writer.join().unwrap();
    packed
}

/// The process itself, and not the client, is measured.
#[test]
fn hostile_bodies_leave_the_memory_of_the_collector_flat() {
    let folder = one_gate();
    let collector = CollectProcess::start(&folder, &[]);
    assert_eq!(collector.post(&tool_trace(0)).0, 200);
    collector.wait_for_kept(1);
    let before = collector.peak_mb();
    let bomb = gzip_bomb(200);
    assert!(bomb.len() < 1 << 20, "{} bytes", bomb.len());
    let attributes = format!("[{}{{}}]", "{\"key\":\"\"},".repeat(600_000));
    let span = format!("{{\"traceId\":\"{:032x}\",\"spanId\":\"{:016x}\",\"attributes\":{attributes}}}", 77, 1);
    let many = format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{span}]}}]}}]}}");
    let large = vec![b' '; 100 << 20];
    for _ in 0..5 {
        assert_eq!(collector.post_bytes("", &large), 413);
        assert_eq!(collector.post_bytes("content-encoding: gzip\r\n", &bomb), 413);
        assert_eq!(collector.post_bytes("", many.as_bytes()), 200, "refused alone, in partialSuccess");
    }
    assert_eq!(collector.post(&tool_trace(1)).0, 200, "others are served");
    let grown = collector.peak_mb() - before;
    assert!(grown < 100, "{grown} MB more than {before} MB");
}

#[test]
fn keys_of_the_sample_are_secret_and_long() {
    let folder = one_gate();
    let short = folder.run_with_variable(&["watch", "--once"], "BARDO_EVAL_SAMPLING_KEY", "short");
    short.assert_exit(2).assert_stderr("has fewer than 16 characters");
    // Two replicas with one key sample the same traces.
    folder.write("evals/production.yaml", "sampling: { rate: 0.5 }\nsettle_s: 1\nmax_age_s: 4\n");
    let kept = |name: &str, variables: &[(&str, &str)]| -> Vec<Vec<u8>> {
        let collector = CollectProcess::start_with(&folder, &["--traces", name], variables);
        (0..40).for_each(|n| assert_eq!(collector.post(&tool_trace(n)).0, 200));
        collector.wait_for("bardo_eval_open_traces 0\n");
        drop(collector);
        let file = rusqlite::Connection::open(folder.path(name)).unwrap();
        let mut rows = file.prepare("SELECT trace FROM traces ORDER BY trace").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let key = [("BARDO_EVAL_SAMPLING_KEY", "0123456789abcdef0123456789abcdef")];
    let (one, other, open) = (kept("one.sqlite", &key), kept("other.sqlite", &key), kept("open.sqlite", &[]));
    assert_eq!(one, other);
    assert_ne!(one, open, "an agent cannot know which ids are sampled");
}
