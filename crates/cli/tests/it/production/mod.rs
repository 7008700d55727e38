//! `collect`, `watch` and `case new --trace`: production traces from the wire to a verdict.

mod changes;
pub(crate) mod collecting;
mod evasions;
mod gaps;
mod harms;
mod incidents;
mod judged;
mod killed;
mod lies;
mod on_postgres;
pub(crate) mod receipts;
mod reference;
mod round_trip;
mod thefts;
mod undelivered;

use crate::harness::TestFolder;
use collecting::{CollectProcess, deep_trace, reported_trace, tool_trace};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

/// Keeps every trace and decides quickly.
pub(crate) const KEEP_ALL: &str = "sampling: { rate: 1 }\nsettle_s: 1\nmax_age_s: 4\n";

#[test]
fn a_collected_trace_is_judged_and_becomes_a_case() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", KEEP_ALL);
    let collector = CollectProcess::start(&folder, &[]);
    for n in 0..3 {
        assert_eq!(collector.post(&reported_trace(n)).0, 200);
    }
    collector.wait_for_kept(3);
    let metrics = collector.get("/metrics");
    assert!(metrics.contains("bardo_eval_traces_kept_total 3"), "{metrics}");
    assert_eq!((collector.get("/healthz").as_str(), collector.get("/readyz").as_str()), ("ok\n", "ready\n"));
    collector.wait_for("bardo_eval_gate_value{gate=\"agent_behavioral_invariants\",slice=\"agent trade-executor\",window=\"24h\"} 1\n");
    let metrics = collector.get("/metrics");
    for name in ["spans_received", "traces_sampled", "traces_kept", "traces_scored", "refused", "alerts_raised", "alerts_sent"] {
        assert!(metrics.contains(&format!("# TYPE bardo_eval_{name}_total counter\nbardo_eval_{name}_total")), "{name}: {metrics}");
    }
    assert!(metrics.contains("# TYPE bardo_eval_lag_seconds gauge\nbardo_eval_lag_seconds 0\n"), "{metrics}");
    drop(collector);
    let watched = folder.run(&["watch", "--once", "--format", "json"]);
    let report: Value = serde_json::from_str(&watched.stdout).unwrap();
    assert_eq!(report["traces"]["kept"], 3, "{report:#}");
    assert_eq!(report["cost"]["unknown_prices"], serde_json::json!(["made-up-model-1"]), "an unknown price is listed, never 0");
    assert_eq!(report["cost"]["by"]["model"][0]["unpriced_calls"], 3.0);
    assert_eq!(report["latency_ms"]["tool"][0]["name"], "uniswap_get_quote");
    // Three traces are fewer than most gates need.
    assert_eq!(watched.code, Some(3), "{}", watched.stderr);
    let verdict = |gate: &str| {
        let found = report["verdicts"].as_array().unwrap().iter().find(|verdict| verdict["gate"] == gate).unwrap();
        (found["verdict"].as_str().unwrap().to_owned(), found["traces"].as_u64().unwrap())
    };
    assert_eq!(verdict("safety_pipeline_compliance"), ("no_evidence".to_owned(), 0), "nothing was written");
    assert_eq!(verdict("agent_behavioral_invariants"), ("met".to_owned(), 3));
    folder.run(&["watch", "--once", "--format", "markdown"]).assert_exit(3).assert_stdout("### Gates");
    let trace = format!("{:032x}", 1);
    let drafted = folder.run(&["case", "new", "--trace", &trace, "--id", "incident_1", "-o", "evals/suites/behavior/incident_1.yaml"]);
    drafted.assert_exit(0);
    let text = folder.read("evals/suites/behavior/incident_1.yaml");
    assert!(text.contains("fixtures:") && text.contains("uniswap_get_quote"), "{text}");
    folder.run(&["run", "--case", "incident_1", "--subject", "reference", "--dry-run"]).assert_exit(0);
}

#[test]
fn errors_are_kept_outside_the_sample_and_others_are_not() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", "sampling: { rate: 0 }\nsettle_s: 1\nmax_age_s: 4\n");
    let collector = CollectProcess::start(&folder, &[]);
    for n in 0..5 {
        collector.post(&tool_trace(n));
    }
    collector.post(&tool_trace(5).replace("\"status\":{}", "\"status\":{\"code\":2,\"message\":\"it failed\"}"));
    collector.wait_for_kept(1);
    collector.wait_for("bardo_eval_traces_dropped_total 5");
    drop(collector);
    let report: Value = serde_json::from_str(&folder.run(&["watch", "--once", "--format", "json"]).stdout).unwrap();
    assert_eq!(
        (&report["traces"]["kept"], &report["traces"]["sampled"], &report["traces"]["estimated"]),
        (&1.into(), &0.into(), &1.0.into())
    );
}

#[test]
fn without_traces_or_windows_nothing_passes() {
    let folder = TestFolder::with_minimal();
    folder.run(&["watch", "--once"]).assert_exit(2).assert_stderr("there is no file");
    let collector = CollectProcess::start(&folder, &[]);
    drop(collector);
    folder.run(&["watch", "--once"]).assert_exit(3).assert_stdout("No gate has a window");
}

#[test]
fn other_machines_need_tls_and_a_token() {
    let folder = TestFolder::with_minimal();
    let refused = folder.run(&["collect", "--listen", "0.0.0.0:0"]).assert_exit(2);
    refused.assert_stderr("needs TLS");
    assert!(!folder.path(".bardo-eval/production.sqlite").exists() || folder.files().iter().all(|file| !file.ends_with("-wal")));
}

/// Answers the first request with 503 and later ones with 200, and returns the requests.
fn webhook_receiver(listener: TcpListener, requests: usize) -> std::thread::JoinHandle<Vec<String>> {
    std::thread::spawn(move || {
        let mut received = vec![];
        for n in 0..requests {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
            let mut request = String::new();
            drop(stream.read_to_string(&mut request));
            let status = if n == 0 { "503 Busy" } else { "200 OK" };
            stream.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").as_bytes()).unwrap();
            received.push(request);
        }
        received
    })
}

/// Leaves a window on two gates, which the deep traces miss.
fn keep_two_windows(folder: &TestFolder) {
    let mut gates = folder.read("evals/gates.yaml").replace("    window: 24h\n", "");
    for scorer in ["    scorer: upr\n", "    scorer: delegation_depth\n"] {
        gates = gates.replace(scorer, &format!("{scorer}    window: 24h\n"));
    }
    folder.write("evals/gates.yaml", gates);
}

#[test]
fn missed_gates_raise_alerts_once_and_watch_exits_with_1() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", KEEP_ALL);
    keep_two_windows(&folder);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let receiver = webhook_receiver(listener, 3);
    let args = ["--alerts", "alerts.jsonl", "--webhook", &url];
    let collector = CollectProcess::start_with(&folder, &args, &[("BARDO_EVAL_WEBHOOK_SECRET", "a secret of the receiver")]);
    for n in 0..12 {
        assert_eq!(collector.post(&deep_trace(n)).0, 200);
    }
    collector.wait_for_kept(12);
    // The agents that were started did nothing, which is another gate.
    collector.wait_for("bardo_eval_alerts_sent_total 2\n");
    let metrics = collector.get("/metrics");
    assert!(metrics.contains("bardo_eval_gate_met{gate=\"delegation_depth\",slice=\"all\",window=\"24h\"} 0"), "{metrics}");
    let requests = receiver.join().unwrap();
    assert!(requests.iter().all(|request| request.contains("x-bardo-eval-signature: sha256=")), "{requests:?}");
    let body = |request: &str| request.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert_eq!(body(&requests[0]), body(&requests[1]), "the same alert is sent again");
    drop(collector);
    // A restart within the cool-down says nothing new.
    let again = CollectProcess::start(&folder, &["--alerts", "alerts.jsonl"]);
    again.wait_for("bardo_eval_gate_met");
    drop(again);
    let lines = folder.read("alerts.jsonl");
    let alerts: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let gates: Vec<&str> = alerts.iter().map(|alert| alert["details"]["gate"].as_str().unwrap()).collect();
    assert_eq!(gates, ["unnecessary_path_ratio", "delegation_depth"], "{lines}");
    assert!(alerts.iter().all(|alert| alert["details"]["examples"].as_array().unwrap().len() == 3), "{lines}");
    folder.run(&["watch", "--once"]).assert_exit(1).assert_stdout("delegation_depth");
}
