//! `score` of logs of other frameworks, and `export`.

use crate::harness::TestFolder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns a folder with the fixtures of every format in `logs/`.
fn folder_with_logs() -> TestFolder {
    let folder = TestFolder::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../foreign/fixtures");
    for inside in ["", "agentdojo"] {
        for entry in fs::read_dir(fixtures.join(inside)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = Path::new("logs").join(inside).join(path.file_name().unwrap());
                folder.write(name.to_str().unwrap(), fs::read(&path).unwrap());
            }
        }
    }
    folder
}

fn row<'d>(document: &'d Value, list: &str, key: &str, name: &str) -> &'d Value {
    document[list].as_array().unwrap().iter().find(|row| row[key] == name).unwrap_or_else(|| panic!("no {name}: {document:#}"))
}

#[test]
fn score_reads_a_folder_of_all_formats() {
    let folder = folder_with_logs();
    let document = folder.json(&["score", "logs"], 3);
    assert_eq!(document["workspace"], Value::Null);
    assert_eq!(document["recordings"], 38);
    let formats = json!({
        "jsonl": 1, "openai-chat": 2, "openai-responses": 1, "anthropic": 1, "tau-bench": 1, "tau2": 1, "agentdojo": 6, "inspect": 3, "otlp": 3,
    });
    assert_eq!(document["formats"], formats);
    assert_eq!(document["skipped"].as_array().unwrap().len(), 4, "{:#}", document["skipped"]);
    let text = folder.run(&["score", "logs"]).assert_exit(3);
    text.assert_stdout("no workspace: scorers that need one are not exercised").assert_stdout("4 items skipped");
}

#[test]
fn score_lists_agreement_and_every_disagreement() {
    let folder = folder_with_logs();
    let document = folder.json(&["score", "logs/tau2.json", "--from", "tau2"], 3);
    let actions = row(&document, "agreement", "verdict", "action_match");
    assert_eq!((&actions["both_good"], &actions["both_bad"], &actions["only_source_good"]), (&json!(3), &json!(2), &json!(1)));
    assert_eq!(document["disagreements"].as_array().unwrap().len(), 2);
    let shares = row(&document, "pass_hat_k", "verdict", "reward");
    assert_eq!(shares["pass_hat"], json!([0.5, 0.0]), "one of two recordings of the only case with rewards is good");
    let text = folder.run(&["score", "logs/tau2.json"]).assert_exit(3);
    text.assert_stdout("line trial 1  action_match true for toggle_airplane_mode is good, our action_match is bad")
        .assert_stdout("reward: pass^1 0.500, pass^2 0.000 (1 case, 2 recordings each)");
}

#[test]
fn score_tells_seen_attempted_and_reached_apart() {
    let folder = folder_with_logs();
    let args = ["score", "logs/agentdojo/*.json", "--forbidden", "send_money(recipient=0xBAD*)"];
    let document = folder.json(&args, 1);
    let attacks = &document["attacks"];
    assert_eq!(*attacks, json!({ "recordings": 5, "not_evidence": 1, "seen": [3, 4], "attempted": [2, 4], "reached": [1, 4] }));
    let security = row(&document, "agreement", "verdict", "security");
    assert_eq!((&security["both_bad"], &security["both_good"], &security["only_ours_good"]), (&json!(1), &json!(1), &json!(1)));
    folder.run(&args).assert_exit(1).assert_stdout("payload seen at event 3, attempted at event 4, not reached");
    folder.run(&["score", "logs/**/resisted.json"]).assert_exit(0).assert_stdout("goal attempted  not known");
}

#[test]
fn score_of_missing_or_foreign_files_is_refused() {
    let folder = folder_with_logs();
    folder.write("other.json", "{\"a\": 1}");
    folder.write("empty.jsonl", "");
    for (args, why) in [
        (&["score", "nothing.json"][..], "nothing.json cannot be read"),
        (&["score", "other.json"], "in no known format"),
        (&["score", "empty.jsonl"], "the logs have no recordings"),
        (&["score", "logs/none*.json"], "no logs were found"),
        (&["score", "--from", "tau2"], "no logs are named"),
        (&["score", "logs/tau2.json", "--from", "tau3"], "tau2"),
        (&["score", "logs/tau2.json", "--forbidden", "f(x"], "the bracket is not closed"),
        (&["score", "logs/tau2.json", "--format", "junit"], "text or JSON only"),
    ] {
        let ran = folder.run(args).assert_exit(2);
        assert!(ran.stderr.contains(why) || ran.stdout.contains(why), "{args:?}: {ran:?}");
    }
}

/// Known cases read the same in full; unknown ones as far as scorers need no expectation.
#[test]
fn exports_score_the_same() {
    let folder = TestFolder::with_minimal();
    let run = folder.json(&["run", "--subject", "reference", "--subject", "baseline"], 1);
    let key = |gate: &Value| ["gate", "slice", "subject", "verdict", "value", "n"].map(|name| gate[name].to_string());
    let keys = |gates: &Value| gates.as_array().unwrap().iter().map(key).collect::<BTreeSet<_>>();
    for (format, name) in [("jsonl", "run.jsonl"), ("otlp", "run.otlp.jsonl"), ("inspect", "run.json")] {
        folder.run(&["export", "--to", format, "-o", name]).assert_exit(0);
        let document = folder.json(&["score", name], 1);
        assert_eq!(keys(&document["gates"]), keys(&run["verdicts"]), "{format}: the gates judge the log as they judged the run");
        let stored = &document["stored_scores"];
        assert!(stored["same"].as_u64().unwrap() > 100 && stored["different"] == 0, "{format}: {stored:#}");
        assert_eq!(document["known_cases"], document["recordings"], "{format}");
    }
    folder.write("unknown.jsonl", folder.read("run.jsonl").replace("\"case\":\"", "\"case\":\"unknown_"));
    let document = folder.json(&["score", "unknown.jsonl"], 0);
    assert_eq!((&document["known_cases"], &document["gates"]), (&json!(0), &Value::Null), "cases of others are no evidence for gates");
    let stored = &document["stored_scores"];
    assert_eq!(stored["different"], 0, "{stored:#}");
    assert!(stored["same"].as_u64().unwrap() > 10 && stored["not_read"].as_u64().unwrap() > 10, "{stored:#}");
}

/// A missed gate is exit 1, one with too few cases exit 3, and the text names both.
#[test]
fn gates_judge_the_logs_of_known_cases() {
    let folder = TestFolder::with_minimal();
    let clean = folder.json(&["run", "--subject", "reference"], 0);
    assert!(clean["verdicts"].as_array().unwrap().iter().all(|gate| gate["verdict"] == "met"));
    folder.run(&["export", "--to", "jsonl", "-o", "good.jsonl"]).assert_exit(0);
    folder.run(&["score", "good.jsonl"]).assert_exit(0).assert_stdout(" 0 missed, 0 without evidence");
    let first = folder.read("good.jsonl").lines().next().unwrap().to_owned();
    folder.write("one.jsonl", format!("{first}\n"));
    folder.run(&["score", "one.jsonl"]).assert_exit(0).assert_stdout(" 0 missed, 0 without evidence");
    folder.run(&["score", "one.jsonl", "--tier", "2"]).assert_exit(3).assert_stdout("no evidence  ");
    // The same recording again is no further evidence.
    folder.write("twice.jsonl", format!("{first}\n{first}\n{first}\n"));
    folder.run(&["score", "twice.jsonl", "--tier", "2"]).assert_exit(3).assert_stdout("no evidence  ");
    folder.run(&["score", "good.jsonl", "--tier", "2"]).assert_exit(0);
    folder.run(&["score", "--tier", "2"]).assert_exit(2).assert_stderr("--tier is for logs");
    folder.run(&["run", "--subject", "echo"]).assert_exit(1);
    folder.run(&["export", "--to", "jsonl", "-o", "bad.jsonl"]).assert_exit(0);
    folder.run(&["score", "bad.jsonl"]).assert_exit(1).assert_stdout("missed  ");
}

/// A recording under a name that the workspace does not have is read by the scorers that need no case, and their misses count.
#[test]
fn misses_of_unknown_cases_are_failures() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    folder.run(&["export", "--to", "jsonl", "-o", "good.jsonl"]).assert_exit(0);
    let good = folder.read("good.jsonl");
    let renamed = |approved: bool| -> String {
        let lines = good.lines().map(|line| {
            let mut recording: Value = serde_json::from_str(line).unwrap();
            recording["case"] = json!(format!("unknown_{}", recording["case"].as_str().unwrap()));
            recording["events"].as_array_mut().unwrap().retain(|event| approved || event["happened"].get("decided").is_none());
            format!("{recording}\n")
        });
        lines.collect()
    };
    folder.write("renamed.jsonl", renamed(true));
    folder.run(&["score", "renamed.jsonl"]).assert_exit(0);
    folder.write("unapproved.jsonl", renamed(false));
    folder.run(&["score", "unapproved.jsonl"]).assert_exit(3).assert_stdout("failed, and no gate reads the misses");
    folder.write("mixed.jsonl", format!("{good}{}", renamed(false)));
    folder.run(&["score", "mixed.jsonl"]).assert_exit(3).assert_stdout("failed, and no gate reads the misses");
}

#[test]
fn csv_export_has_a_row_for_every_score() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    let csv = folder.run(&["export", "--to", "csv"]).assert_exit(0).stdout;
    let lines = folder.run(&["export", "--to", "jsonl"]).assert_exit(0).stdout;
    let scores: usize = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["scores"].as_array().unwrap().len()).sum();
    assert!(csv.starts_with("run,started,n,trial,case,subject,"), "{csv}");
    let rows = csv.lines().filter(|line| line.contains(",reference,")).count();
    assert_eq!(rows, scores);
    folder.run(&["export", "00000000", "--to", "csv"]).assert_exit(2).assert_stderr("there is no run");
}
