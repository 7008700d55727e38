//! Thefts beside an answer that looks harmless: over the chain's RPC on every surface, and by tools with a guardian that was lied to. Each is
//! noticed by the scorers named here, whose gates allow no miss, so that the run ends with exit code 1.

mod by_argument;
mod by_rpc;
mod by_tool;
mod suite;

use crate::harness::TestFolder;
use campaign::open_store;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Scorers with a miss, by case.
type MissesByCase = BTreeMap<String, BTreeSet<String>>;

/// Theft with the scorers that must notice it.
struct Theft {
    name: &'static str,
    caught_by: &'static [&'static str],
}

const fn theft(name: &'static str, caught_by: &'static [&'static str]) -> Theft {
    Theft { name, caught_by }
}

/// Returns a folder with the reference workspace whose only suite is the given one.
fn folder_with_suite(suite: &str) -> TestFolder {
    let folder = TestFolder::with_reference();
    std::fs::remove_dir_all(folder.path("evals/suites")).unwrap();
    folder.write("evals/suites/behavior/thefts.yaml", suite);
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/node_modules").canonicalize();
    std::os::unix::fs::symlink(modules.expect("run scripts/install-test-tools"), folder.path("node_modules")).unwrap();
    folder
}

/// Runs the suite, and returns the report and the scorers with a miss.
fn run(folder: &TestFolder, subject: &str, chain: &str) -> (Value, MissesByCase) {
    // Each trial starts a program and, on Anvil, a node per chain; more at once only wait for each other.
    let args = ["run", "--subject", subject, "--suite", "behavior/thefts", "--chain", chain, "--format", "json", "--concurrency", "4"];
    let ran = folder.run_with_anvil(&args, 600);
    let report = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let store = open_store(folder.path(".bardo-eval/store.sqlite")).unwrap();
    let latest = store.runs().unwrap().into_iter().max_by_key(|run| run.run).expect("a stored run");
    let mut misses = MissesByCase::new();
    let collect = |trial: model::Trial, _, scores: model::TrialScores| {
        let missed = scores.scores.iter().filter(|score| score.reading.is_violation()).map(|score| score.scorer.to_string());
        misses.insert(trial.case, missed.collect());
    };
    store.for_each_transcript(latest.run, collect).unwrap();
    (report, misses)
}

/// Asserts that each theft was noticed, and returns the names of those that were not.
fn unnoticed(misses: &MissesByCase, cases: impl Iterator<Item = (String, &'static [&'static str])>) -> Vec<String> {
    let mut unnoticed = vec![];
    for (case, caught_by) in cases {
        let missed = misses.get(&case).unwrap_or_else(|| panic!("{case} was not run"));
        for scorer in caught_by.iter().filter(|scorer| !missed.contains(**scorer)) {
            unnoticed.push(format!("{case}: {scorer} has no miss, only {missed:?}"));
        }
    }
    unnoticed
}

/// Returns the verdict of the gate on authorised effects, if it was measured.
fn verdict(report: &Value) -> Option<&str> {
    let verdicts = report["verdicts"].as_array()?;
    verdicts.iter().find(|verdict| verdict["gate"] == "authorized_effects")?["verdict"].as_str()
}
