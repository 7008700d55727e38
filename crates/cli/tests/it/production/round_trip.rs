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

/// Removes our own copy of the trial from an exported request.
fn without_copy(line: &str) -> String {
    let mut request: Value = serde_json::from_str(line).unwrap();
    let attributes = request.pointer_mut("/resourceSpans/0/scopeSpans/0/spans/0/attributes").and_then(Value::as_array_mut).unwrap();
    let before = attributes.len();
    attributes.retain(|attribute| attribute["key"] != "bardo_eval.trial");
    assert_eq!(attributes.len() + 1, before);
    request.to_string()
}

/// The copy of the trial is removed before the traces are sent, so that spans and span events alone are read.
#[test]
fn collected_runs_read_the_same_trace_by_trace() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", format!("{KEEP_ALL}trust_claims: true\n"));
    folder.run(&["run", "--suite", "behavior", "--subject", "reference", "--limit", "40"]);
    folder.run(&["run", "--suite", "composition", "--subject", "reference", "--limit", "20"]);
    let runs: Value = serde_json::from_str(&folder.run(&["runs", "list", "--format", "json"]).stdout).unwrap();
    let mut exported = String::new();
    for run in runs["items"].as_array().unwrap() {
        folder.run(&["export", run["run"].as_str().unwrap(), "--to", "otlp", "-o", "traces.jsonl"]).assert_exit(0);
        exported.push_str(&folder.read("traces.jsonl"));
    }
    let collector = CollectProcess::start(&folder, &[]);
    let mut sent = 0;
    for line in exported.lines().map(without_copy) {
        let (status, answer) = collector.post(&line);
        assert_eq!((status, answer.as_str()), (200, "{}"));
        sent += 1;
    }
    assert!(sent >= 40, "{sent} trials");
    collector.wait_for_kept(sent);
    drop(collector);
    let run = rusqlite::Connection::open(folder.path(".bardo-eval/store.sqlite")).unwrap();
    let mut rows = run.prepare("SELECT trial, scores FROM trials").unwrap();
    let in_run: BTreeMap<String, String> =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap();
    let mut rows = run.prepare("SELECT trial FROM trials WHERE run <> (SELECT min(run) FROM trials)").unwrap();
    let compositions: std::collections::BTreeSet<String> = rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
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
            // The case of a composition says which agents the subject plays; a trace has no case.
            if scorer == "behavioral_invariants" && compositions.contains(trial) {
                continue;
            }
            match &after[scorer] == reading {
                true => same += 1,
                false => different.push(format!("{trial} {scorer}: {reading} in the run, {} collected", after[scorer])),
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(same >= 2 * sent, "{same} readings of {sent} traces");
    let exercised = in_production.values().flat_map(|scores| free_readings(scores)).filter(|(_, reading)| reading["tally"]["of"] != 0);
    let scorers: std::collections::BTreeSet<String> = exercised.map(|(scorer, _)| scorer).collect();
    assert_eq!(scorers.len(), FREE.len(), "every scorer was exercised: {scorers:?}");
    let count = |sql: &str| -> usize { collected.query_row(sql, [], |row| row.get(0)).unwrap() };
    let mined = "SELECT count(*) FROM traces WHERE EXISTS (SELECT 1 FROM json_each(transcript, '$.events') AS event
                 WHERE json_array_length(event.value, '$.happened.mined.what.effects') > 0)";
    let agents = "SELECT count(DISTINCT name.value) FROM traces, json_each(facts, '$.agents') AS name";
    let (mined, agents) = (count(mined), count(agents));
    assert!(mined >= 10 && agents >= 5, "{mined} traces with effects, {agents} agents");
    #[expect(clippy::print_stdout, reason = "the figures are in the guide")]
    {
        println!("{same} readings of {sent} traces are the same; {mined} traces with effects, {agents} agents");
    }
}

/// Without trust, what spans say about decisions and effects is not evidence.
#[test]
fn stated_decisions_do_not_count_without_trust() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", KEEP_ALL);
    folder.run(&["run", "--suite", "behavior", "--subject", "reference", "--limit", "40"]);
    folder.run(&["export", "--to", "otlp", "-o", "traces.jsonl"]).assert_exit(0);
    let collector = CollectProcess::start(&folder, &[]);
    let exported = folder.read("traces.jsonl");
    exported.lines().for_each(|line| assert_eq!(collector.post(line).0, 200));
    collector.wait_for_kept(exported.lines().count());
    drop(collector);
    let report: Value = serde_json::from_str(&folder.run(&["watch", "--once", "--format", "json"]).stdout).unwrap();
    let verdicts = report["verdicts"].as_array().unwrap();
    let pipeline = verdicts.iter().find(|verdict| verdict["gate"] == "safety_pipeline_compliance").unwrap();
    assert_eq!((&pipeline["verdict"], &pipeline["value"]), (&"missed".into(), &0.0.into()), "{pipeline:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("do not count without trust_claims"), "{notes}");
}
