//! Mistakes in files and arguments.

use super::{snapshot, snapshot_formats};
use crate::harness::TestFolder;

/// Returns the minimal workspace with mistakes in three files.
fn broken() -> TestFolder {
    let folder = TestFolder::with_minimal();
    folder.edit("evals/tiers.yaml", "live: none", "live: everything");
    folder.write("evals/notes.txt", "");
    folder.write("evals/outputs/odd.yaml", "output: \"a | b\"\nabout: A.\nschema: { type: object }\nmore: 1\n");
    folder
}

#[test]
fn problems_in_every_format() {
    snapshot_formats("problems", &broken(), &["smoke"]);
}

#[test]
fn problems_stop_a_run() {
    snapshot("problems_of_run", &broken(), &["run", "--subject", "echo"]);
}

#[test]
fn refused_arguments() {
    let folder = TestFolder::with_minimal();
    for (name, args) in [
        ("refused_subject", &["run", "--subject", "ecko"][..]),
        ("refused_subject_json", &["run", "--subject", "ecko", "--format", "json"]),
        ("refused_case", &["run", "--subject", "echo", "--case", "nothing"]),
        ("refused_suite", &["run", "--subject", "echo", "--suite", "behaviour"]),
        ("refused_workspace", &["smoke", "-w", "nowhere"]),
        ("refused_run", &["score", "ffff"]),
        ("refused_show", &["show", "sell_usdc"]),
        ("refused_explain", &["explain", "safety_pipelin"]),
        ("refused_foreign", &["run", "--subject", "echo", "--imported-tools", "elsewhere"]),
        ("refused_format", &["list", "tools", "--format", "junit"]),
    ] {
        snapshot(name, &folder, args);
    }
}
