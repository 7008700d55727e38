//! Tier 1 on workspaces that are in order.

use crate::harness::{Folder, column};
use serde_json::Value;

#[test]
fn the_embedded_workspace_passes_and_the_same_bytes_come_out_twice() {
    let folder = Folder::new();
    for format in ["text", "json", "junit", "markdown"] {
        let first = folder.run(&["smoke", "--format", format]).exits(0);
        let second = folder.run(&["smoke", "--format", format]).exits(0);
        assert_eq!(first.stdout, second.stdout, "{format}");
        assert!(!first.stdout.is_empty() && first.stderr.is_empty() && second.stderr.is_empty(), "{format}: {}", first.stderr);
    }
    assert!(folder.files().is_empty(), "smoke left files behind");
}

#[test]
fn little_memory_is_enough() {
    let ran = Folder::new().run(&["smoke"]).exits(0);
    assert!(ran.peak_mb.is_none_or(|peak| peak < 150), "{:?} MB", ran.peak_mb);
}

#[test]
fn the_json_has_the_documented_keys() {
    let folder = Folder::new();
    let document = folder.json(&["smoke"], 0);
    let keys: Vec<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["format", "command", "workspace", "checks", "verdicts", "metrics", "trials", "spent_usd", "exit"]);
    assert_eq!((&document["format"], &document["command"]), (&Value::from(1), &Value::from("smoke")));
    assert_eq!(document["trials"], serde_json::json!({ "planned": 0, "finished": 0, "aborted": 0 }));
    let checks = document["checks"].as_array().unwrap();
    assert_eq!(column(checks, "check"), column(&folder.list("checks"), "check"), "every check ran, in the order of the list");
    for check in checks {
        assert_eq!(check["errors"], 0, "{check:#}");
        assert_eq!(check["warnings"], check["findings"].as_array().unwrap().len(), "{check:#}");
    }
}

#[test]
fn no_check_of_the_reference_workspace_looked_at_nothing() {
    let document = Folder::new().json(&["smoke"], 0);
    for check in document["checks"].as_array().unwrap() {
        // Nothing of the reference workspace was imported from a server.
        if check["check"] != "pinned_tools" {
            assert!(check["looked_at"].as_u64() > Some(0), "{check:#}");
        }
    }
}

#[test]
fn the_fuzz_passes_with_another_seed() {
    for seed in ["2", "0", "18446744073709551615"] {
        let ran = Folder::new().run(&["smoke", "--seed", seed]).exits(0);
        assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    }
}

#[test]
fn a_copy_passes_like_the_embedded_workspace() {
    let (copy, empty) = (Folder::with_reference(), Folder::new());
    let strip = |text: String| text.replace("evals/", "").replace("workspace evals:", "workspace embedded:");
    let of_copy = strip(copy.run(&["smoke"]).exits(0).stdout);
    assert_eq!(of_copy, empty.run(&["smoke"]).exits(0).stdout);
    // The folder is found by itself, by name, and can be passed over.
    assert_eq!(strip(copy.run(&["smoke", "--workspace", "evals"]).stdout), of_copy);
    assert_eq!(copy.run(&["smoke", "--embedded"]).stdout, of_copy);
}

#[test]
fn the_minimal_workspace_passes() {
    let folder = Folder::with_minimal();
    folder.run(&["smoke"]).exits(0).prints("smoke passed");
    let ran = folder.run(&["run", "--subject", "reference"]).exits(0);
    assert!(ran.stdout.contains("0 missed, 0 without evidence"), "{}", ran.stdout);
}

#[test]
fn what_failed_comes_first_then_the_counts() {
    let folder = Folder::with_reference();
    let line = folder.edit("evals/gates.yaml", "scorer: disambiguation", "scorer: disambigution");
    let text = folder.run(&["smoke"]).exits(1).stdout;
    let finding = format!("  evals/gates.yaml:{line}  scorer \"disambigution\" does not exist  did you mean \"disambiguation\"?\n");
    assert!(text.starts_with(&format!("error gates_measured\n{finding}")), "{text}");
    let closing = text.lines().find(|line| line.starts_with("smoke failed: ")).expect("a closing line");
    let counts: Vec<usize> = closing.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    assert_eq!(counts[0] + 1, counts[1], "one check of all failed: {closing}");
}
