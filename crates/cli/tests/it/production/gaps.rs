//! Evidence that is lost on the way to the report: each loss is a gap, never a pass.

use super::collecting::{CollectProcess, tool_trace};
use super::evasions::{KEEP_BY_RULE, collect, one_gate, request, spans, watch_after};
use serde_json::json;

#[test]
fn spans_that_the_collector_cannot_read_leave_a_gap() {
    let folder = one_gate();
    collect(&folder, 3);
    folder.run(&["watch", "--once"]).assert_exit(0);
    folder.write("evals/production.yaml", KEEP_BY_RULE);
    let collector = CollectProcess::start(&folder, &[]);
    // A call in a span of more than 4 MB, and a trace of nothing but such a span.
    let mut all = spans(&tool_trace(7));
    all[2]["attributes"][4]["value"]["stringValue"] = "x".repeat(5 << 20).into();
    let mut only = all[2].clone();
    only["traceId"] = format!("{:032x}", 99).into();
    for spans in [all, json!([only])] {
        let (status, answer) = collector.post(&request(spans));
        assert!(status == 200 && answer.contains("\"rejectedSpans\":\"1\""), "{status} {answer}");
    }
    collector.wait_for_kept(4);
    collector.wait_for("bardo_eval_traces_unreadable_total 1\n");
    drop(collector);
    let watched = folder.run(&["watch", "--once"]).assert_exit(3).assert_stdout("1 trace cannot be scored");
    watched.assert_stdout("spans of 1 trace were refused, and nothing else can be read there");
}

#[test]
fn times_without_a_collector_leave_a_gap() {
    let folder = one_gate();
    collect(&folder, 3);
    folder.run(&["watch", "--once"]).assert_exit(0);
    let file = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    file.execute_batch("UPDATE marks SET at = at - 3600 WHERE what = 'worked'").unwrap();
    let collector = CollectProcess::start(&folder, &[]);
    collector.wait_for("bardo_eval_gate_met{gate=\"agent_behavioral_invariants\"");
    drop(collector);
    folder.run(&["watch", "--once"]).assert_exit(3).assert_stdout("no collector worked from");
}

#[test]
fn stored_traces_that_cannot_be_read_leave_a_gap() {
    let folder = one_gate();
    collect(&folder, 4);
    folder.run(&["watch", "--once"]).assert_exit(0);
    for column in ["facts", "scores"] {
        let damage = format!("UPDATE traces SET {column} = '{{' || {column} WHERE seq = 1");
        let mend = format!("UPDATE traces SET {column} = substr({column}, 2) WHERE seq = 1");
        watch_after(&folder, &damage, &mend, 3, "1 stored trace cannot be read: the file is damaged");
    }
    folder.run(&["watch", "--once"]).assert_exit(0);
}

/// The newest traces stay, and a window that began before them is not complete. The oldest are removed 500 at a time.
#[test]
fn traces_removed_for_their_size_leave_a_gap() {
    const TRACES: u64 = 520;
    let folder = one_gate();
    collect(&folder, TRACES);
    folder.run(&["watch", "--once"]).assert_exit(0);
    folder.write("evals/production.yaml", format!("{}retention: {{ days: 30, megabytes: 1 }}\n", super::KEEP_ALL));
    let collector = CollectProcess::start(&folder, &[]);
    let file = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    let left = || -> (u64, u64) {
        file.query_row("SELECT count(*), coalesce(max(seq), 0) FROM traces", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    let started = std::time::Instant::now();
    while left().0 == TRACES {
        assert!(started.elapsed() < std::time::Duration::from_secs(60), "nothing was removed");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    drop(collector);
    assert_eq!(left(), (20, TRACES));
    folder.run(&["watch", "--once"]).assert_exit(3).assert_stdout("were removed for their size");
}
