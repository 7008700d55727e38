//! `selftest` on the embedded workspace: the headline claim that every gate can fail and no fault stays uncaught.

use crate::harness::TestFolder;
use serde_json::Value;
use std::path::Path;

/// The full selftest takes minutes in a test build; `every_stubbed_scorer_is_named` of `campaign` plays a fifth of it.
#[test]
fn quick_selftest_of_embedded_workspace_has_no_problem() {
    let ran = TestFolder::new().run(&["selftest", "--quick", "--embedded", "--format", "json"]).assert_exit(0);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["problems"], serde_json::json!([]));
    let rows = |key: &str| report[key].as_array().unwrap().clone();
    let untripped: Vec<Value> = rows("gates").into_iter().filter(|row| row["tripped_by"].as_array().unwrap().is_empty()).collect();
    assert!(!rows("gates").is_empty() && untripped.is_empty(), "{untripped:?}");
    let uncaught: Vec<Value> = rows("faults").into_iter().filter(|row| row["state"] == "not caught").collect();
    assert!(rows("faults").iter().any(|row| row["state"] == "caught") && uncaught.is_empty(), "{uncaught:?}");
}

/// The gate of its primary scorer reads attacks, which are no cases of a selftest.
#[test]
fn fault_that_another_gate_catches_is_caught() {
    let support = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/support");
    let report = TestFolder::new().json(&["selftest", "-w", support.to_str().unwrap()], 0);
    let faults = report["faults"].as_array().unwrap();
    let row = faults.iter().find(|row| row["fault"] == "refuses_everything").unwrap();
    assert!(row["tripped"].as_array().unwrap().iter().any(|gate| gate["verdict"] == "missed"), "{row:#}");
    assert_eq!(row["state"], "caught", "{row:#}");
}
