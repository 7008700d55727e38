//! Runs, plans and smoke checks of the minimal workspace.

use super::{snapshot, snapshot_formats};
use crate::harness::TestFolder;

#[test]
fn run_report_in_every_format() {
    snapshot_formats("run_echo", &TestFolder::with_minimal(), &["run", "--no-store", "--subject", "echo"]);
}

#[test]
fn run_reports_of_other_subjects() {
    let folder = TestFolder::with_minimal();
    snapshot("run_reference", &folder, &["run", "--no-store", "--subject", "reference"]);
    snapshot("run_baseline", &folder, &["run", "--no-store"]);
    snapshot("run_two_subjects", &folder, &["run", "--no-store", "--subject", "reference", "--subject", "echo", "--suite", "behavior"]);
    snapshot("run_demands", &folder, &["run", "--no-store", "--subject", "reference", "--confidence", "0.95", "--rule-out", "0.05"]);
    snapshot("run_kept", &folder, &["run", "--subject", "echo", "--suite", "tool_selection"]);
}

#[test]
fn run_with_aborted_trials() {
    let folder = TestFolder::with_minimal();
    folder.write(
        "evals/subjects/gone.yaml",
        "subject: gone\nprovider: http\nurl: http://127.0.0.1:1/\nabout: An agent that does not answer.\n",
    );
    snapshot_formats("run_aborted", &folder, &["run", "--no-store", "--subject", "gone", "--case", "how_much_usdc"]);
}

#[test]
fn run_on_the_embedded_workspace() {
    let folder = TestFolder::new();
    snapshot("run_embedded_case", &folder, &["run", "--no-store", "--subject", "reference", "--case", "sell_ether_for_usdc"]);
    snapshot("run_embedded_echo", &folder, &["run", "--no-store", "--subject", "echo", "--case", "sell_ether_for_usdc"]);
}

#[test]
fn plan_of_a_run() {
    let folder = TestFolder::with_minimal();
    snapshot("plan_text", &folder, &["run", "--dry-run", "--subject", "reference", "--trials", "2"]);
    snapshot("plan_json", &folder, &["run", "--dry-run", "--subject", "reference", "--suite", "behavior", "--format", "json"]);
    snapshot("plan_tier", &folder, &["run", "--dry-run", "--tier", "2"]);
    snapshot("plan_empty", &folder, &["run", "--dry-run", "--tag", "nothing"]);
}

#[test]
fn plan_with_costs() {
    let folder = TestFolder::new();
    snapshot(
        "plan_with_costs",
        &folder,
        &["run", "--dry-run", "--subject", "claude-sonnet", "--case", "sell_ether_for_usdc", "--budget", "1"],
    );
}

#[test]
fn smoke_report_in_every_format() {
    snapshot_formats("smoke", &TestFolder::with_minimal(), &["smoke"]);
}

#[test]
fn smoke_report_of_failures_in_every_format() {
    let folder = TestFolder::with_minimal();
    folder.edit("evals/agents/desk.md", "delegates_to: [trader]", "delegates_to: [trader, broker]");
    snapshot_formats("smoke_failed", &folder, &["smoke"]);
    snapshot("smoke_failed_verbose", &folder, &["smoke", "--verbose"]);
}
