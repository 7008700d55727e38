//! A run exported as OTLP and collected again.

use super::KEEP_ALL;
use super::collecting::CollectProcess;
use crate::harness::TestFolder;
use serde_json::Value;
use std::collections::BTreeMap;

/// Scorers that need no expectation.
const FREE: &[&str] =
    &["safety_pipeline", "simulation_coverage", "quote_freshness", "ids", "upr", "delegation_depth", "behavioral_invariants"];

/// Returns the readings of the scorers that need no expectation.
fn free_readings(scores: &str) -> BTreeMap<String, Value> {
    let scores: Vec<Value> = serde_json::from_str(scores).unwrap();
    let named = |score: &Value| (score["scorer"].as_str().unwrap().to_owned(), score["reading"].clone());
    scores.iter().map(named).filter(|(name, _)| FREE.contains(&name.as_str())).collect()
}

#[test]
fn collected_runs_read_the_same_trace_by_trace() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", KEEP_ALL);
    folder.run(&["run", "--suite", "behavior", "--subject", "reference", "--limit", "40"]);
    folder.run(&["export", "--to", "otlp", "-o", "traces.jsonl"]).assert_exit(0);
    let collector = CollectProcess::start(&folder, &[]);
    let exported = folder.read("traces.jsonl");
    let mut sent = 0;
    for line in exported.lines() {
        let (status, answer) = collector.post(line);
        assert_eq!((status, answer.as_str()), (200, "{}"));
        sent += 1;
    }
    assert!(sent >= 20, "{sent} trials");
    collector.wait_for_kept(sent);
    drop(collector);
    let run = rusqlite::Connection::open(folder.path(".bardo-eval/store.sqlite")).unwrap();
    let mut rows = run.prepare("SELECT trial, scores FROM trials").unwrap();
    let in_run: BTreeMap<String, String> =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap();
    let collected = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    let mut rows = collected.prepare("SELECT json_extract(transcript, '$.trial'), scores FROM traces").unwrap();
    let in_production: BTreeMap<String, String> =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(in_production.len(), sent);
    let (mut same, mut different) = (0, vec![]);
    for (trial, scores) in &in_production {
        let before = free_readings(&in_run[trial]);
        let after = free_readings(scores);
        for (scorer, reading) in before.iter().filter(|(scorer, _)| after.contains_key(*scorer)) {
            match &after[scorer] == reading {
                true => same += 1,
                false => different.push(format!("{trial} {scorer}: {reading} in the run, {} collected", after[scorer])),
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(same >= 2 * sent, "{same} readings of {sent} traces");
}
