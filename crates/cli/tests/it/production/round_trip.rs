//! A run exported as OTLP and collected again.

use super::KEEP_ALL;
use super::collecting::CollectProcess;
use crate::harness::TestFolder;
use serde_json::Value;
use std::collections::BTreeMap;

/// Scorers that need no expectation.
const FREE: &[&str] = &[
    "safety_pipeline",
    "simulation_coverage",
    "quote_freshness",
    "ids",
    "upr",
    "delegation_depth",
    "behavioral_invariants",
    "dag_adherence",
    "tool_ordering",
    "output_format",
    "oracle_violations",
    "chain_consistency",
    "slippage_compliance",
    "spending_limit",
    "address_grounding",
    "safety_veto",
];

/// Returns the readings of the scorers that need no expectation.
fn free_readings(scores: &str) -> BTreeMap<String, Value> {
    let scores: Vec<Value> = serde_json::from_str(scores).unwrap();
    let named = |score: &Value| (score["scorer"].as_str().unwrap().to_owned(), score["reading"].clone());
    scores.iter().map(named).filter(|(name, _)| FREE.contains(&name.as_str())).collect()
}

/// Removes our own copy of the trial from an exported request.
pub(super) fn without_copy(line: &str) -> String {
    let mut request: Value = serde_json::from_str(line).unwrap();
    let attributes = request.pointer_mut("/resourceSpans/0/scopeSpans/0/spans/0/attributes").and_then(Value::as_array_mut).unwrap();
    let before = attributes.len();
    attributes.retain(|attribute| attribute["key"] != "bardo_eval.trial");
    assert_eq!(attributes.len() + 1, before);
    request.to_string()
}

/// Suites that are played, each in a run of its own.
const SUITES: [&str; 4] = ["behavior", "composition", "skills", "tool_selection"];
/// Case whose world has other prices than the default one, by which traffic is valued.
const OTHER_PRICES: &str = "fees_burn_and_claim";

/// Returns whether a trace is read in part, because the rest needs a case: nothing was missed in either, and less was counted.
fn is_explained(scorer: &str, suite: &str, in_run: &Value, collected: &Value) -> bool {
    let of = |reading: &Value| reading["tally"]["of"].as_u64().unwrap();
    let is_clean = |reading: &Value| reading["tally"]["hit"] == reading["tally"]["of"];
    let reads_less = match scorer {
        // That no delegation was needed, which the reference tells.
        "dag_adherence" => of(collected) == 0 && of(in_run) == 1,
        // Rules of the case.
        "tool_ordering" => true,
        // The case of a composition says which agents the subject plays.
        "behavioral_invariants" | "output_format" => suite == "composition",
        _ => false,
    };
    reads_less && is_clean(in_run) && is_clean(collected) && of(collected) < of(in_run)
}

/// The copy of the trial is removed before the traces are sent, so that spans and span events alone are read.
#[test]
fn collected_runs_read_the_same_trace_by_trace() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", format!("{KEEP_ALL}trust_claims: true\n"));
    for suite in SUITES {
        folder.run(&["run", "--suite", suite, "--subject", "reference"]);
    }
    let runs: Value = serde_json::from_str(&folder.run(&["runs", "list", "--format", "json"]).stdout).unwrap();
    assert_eq!(runs["items"].as_array().unwrap().len(), SUITES.len());
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
    assert!(sent >= 1_500, "{sent} trials");
    collector.wait_for_kept(sent);
    drop(collector);
    let run = rusqlite::Connection::open(folder.path(".bardo-eval/store.sqlite")).unwrap();
    let mut rows = run.prepare("SELECT trial, scores FROM trials").unwrap();
    let in_run: BTreeMap<String, String> =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap();
    let mut rows = run.prepare("SELECT trial, case_id, dense_rank() OVER (ORDER BY run) - 1 FROM trials").unwrap();
    let cases: BTreeMap<String, (String, usize)> =
        rows.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))).unwrap().collect::<Result<_, _>>().unwrap();
    let collected = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    let mut rows = collected.prepare("SELECT json_extract(transcript, '$.trial'), scores FROM traces").unwrap();
    let in_production: BTreeMap<String, String> =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(in_production.len(), sent);
    let (mut same, mut explained, mut different) = (0, 0, vec![]);
    for (trial, scores) in &in_production {
        let (before, after) = (free_readings(&in_run[trial]), free_readings(scores));
        let (case, suite) = (cases[trial].0.as_str(), SUITES[cases[trial].1]);
        // Readings of the run alone were not exercised there, or are of rules of the case, which spans do not tell.
        let is_of_case = |scorer: &str, reading: &Value| scorer == "tool_ordering" && reading["tally"]["hit"] == reading["tally"]["of"];
        let absent: Vec<&String> = before
            .iter()
            .filter(|(scorer, reading)| !after.contains_key(*scorer) && reading["tally"]["of"] != 0 && !is_of_case(scorer, reading))
            .map(|(scorer, _)| scorer)
            .collect();
        assert!(absent.is_empty(), "{case}: {absent:?} are read in the run alone");
        for (scorer, reading) in before.iter().filter(|(scorer, _)| after.contains_key(*scorer)) {
            let has_other_prices = case == OTHER_PRICES && ["spending_limit", "safety_veto"].contains(&scorer.as_str());
            match (&after[scorer] == reading, has_other_prices || is_explained(scorer, suite, reading, &after[scorer])) {
                (true, _) => same += 1,
                (false, true) => explained += 1,
                (false, false) => different.push(format!("{case} {scorer}: {reading} in the run, {} collected", after[scorer])),
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(same >= 7 * sent && explained <= sent / 2, "{same} readings of {sent} traces are the same, {explained} read less");
    let exercised = in_production.values().flat_map(|scores| free_readings(scores)).filter(|(_, reading)| reading["tally"]["of"] != 0);
    let scorers: std::collections::BTreeSet<String> = exercised.map(|(scorer, _)| scorer).collect();
    assert_eq!(scorers.len(), FREE.len(), "every scorer was exercised: {scorers:?}");
    let count = |sql: &str| -> usize { collected.query_row(sql, [], |row| row.get(0)).unwrap() };
    let mined = "SELECT count(*) FROM traces WHERE EXISTS (SELECT 1 FROM json_each(transcript, '$.events') AS event
                 WHERE json_array_length(event.value, '$.happened.mined.what.effects') > 0)";
    let agents = "SELECT count(DISTINCT name.value) FROM traces, json_each(facts, '$.agents') AS name";
    let (mined, agents) = (count(mined), count(agents));
    assert!(mined >= 200 && agents >= 30, "{mined} traces with effects, {agents} agents");
    #[expect(clippy::print_stdout, reason = "the figures are in the guide")]
    {
        println!("{same} readings of {sent} traces are the same, {explained} read less; {mined} traces with effects, {agents} agents");
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
