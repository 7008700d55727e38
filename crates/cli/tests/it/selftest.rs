//! `selftest` on the embedded workspace: the headline claim that every gate can fail and no fault stays uncaught.

use crate::harness::TestFolder;
use serde_json::Value;

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
