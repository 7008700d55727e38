//! Traffic compared with a stored run.

use super::collecting::{CollectProcess, tool_trace};
use crate::harness::TestFolder;
use serde_json::Value;

/// Returns the changes that `watch` finds.
fn changes(folder: &TestFolder, args: &[&str]) -> Vec<String> {
    let report: Value = serde_json::from_str(&folder.run(&[&["watch", "--once", "--format", "json"], args].concat()).stdout).unwrap();
    report["changes"].as_array().unwrap().iter().map(|change| change["signal"]["what"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn traffic_with_other_tools_than_the_run_is_found_from_its_begin() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", super::KEEP_ALL);
    folder.run(&["run", "--suite", "behavior", "--subject", "reference", "--limit", "60"]);
    let runs: Value = serde_json::from_str(&folder.run(&["runs", "list", "--format", "json"]).stdout).unwrap();
    let run = runs["items"][0]["run"].as_str().unwrap().to_owned();
    let collector = CollectProcess::start(&folder, &[]);
    // One block of traces that all call the same tool.
    for n in 0..260 {
        assert_eq!(collector.post(&tool_trace(n)).0, 200);
    }
    collector.wait_for_kept(260);
    drop(collector);
    assert_eq!(changes(&folder, &[]), Vec::<String>::new(), "alone the traffic is steady");
    assert_eq!(changes(&folder, &["--reference", &run]), ["tools"]);
    assert_eq!(changes(&folder, &["--reference", &run]), ["tools"], "a replay gives the same");
    folder.write("evals/production.yaml", format!("{}reference: {run}\n", super::KEEP_ALL));
    assert_eq!(changes(&folder, &[]), ["tools"]);
    let page = crate::view::page_of(&folder, "/production");
    assert!(page.contains("mix of tools") && page.contains("exits with 1"), "the viewer compares with the same run: {page}");
    folder.run(&["watch", "--once", "--reference", "nosuchrun"]).assert_exit(2);
}
