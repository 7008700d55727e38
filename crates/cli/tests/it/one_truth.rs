//! All formats of a run tell the same: outcomes, gates, and the run they are about.

use crate::harness::TestFolder;
use serde_json::Value;

const BASELINE: &[&str] = &["run", "--suite", "behavior", "--suite", "tool_selection"];

fn count(text: &str, part: &str) -> u64 {
    text.matches(part).count() as u64
}

#[test]
fn several_reports_come_from_one_run() {
    let folder = TestFolder::new();
    let files = ["json=r.json", "junit=r.xml", "markdown=r.md", "github=r.txt", "sarif=r.sarif"];
    let reports: Vec<&str> = files.iter().flat_map(|file| ["--report", file]).collect();
    let ran = folder.run(&[BASELINE, &reports, &["--run-id-file", "id"]].concat()).assert_exit(1);
    ran.assert_stdout("FAILED  baseline: ");
    let document: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let run = document["run"].as_str().unwrap();
    let id = folder.read("id");
    assert_eq!(id.trim(), run);
    folder.run(&["runs", "show", id.trim()]).assert_exit(0);

    // JUnit counts the outcomes of the run: unjudged trials are skipped, never passed.
    let junit = folder.read("r.xml");
    let trials = junit.split_once("<testsuite name=\"trials\"").unwrap().1;
    let of = |key: &str| document["outcomes"][key].as_u64().unwrap();
    assert_eq!(
        (count(trials, "<failure"), count(trials, "<skipped"), count(trials, "<error")),
        (of("failed"), of("unjudged"), of("aborted"))
    );
    assert!(of("failed") > 0 && of("passed") > 0 && of("unjudged") > 0, "{}", document["outcomes"]);
    assert_eq!(count(trials, "<testcase"), document["trials"]["planned"].as_u64().unwrap());
    assert!(trials.contains(" time=\""));

    // Every report names the run, its subject, its workspace and its date.
    let workspace = &document["workspace"].as_str().unwrap()[..12];
    for report in ["r.xml", "r.md", "r.txt"] {
        let text = folder.read(report);
        for part in [run, "baseline", workspace, document["started"].as_str().unwrap()] {
            assert!(text.contains(part), "{report} lacks {part}");
        }
    }
    assert!(folder.read("r.sarif").contains("\"runs\""));
}

#[test]
fn annotations_show_safety_first_and_each_gate_once() {
    let folder = TestFolder::new();
    let ran = folder.run(&["run", "--embedded", "--no-store", "--format", "github"]).assert_exit(1);
    let titles: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("::error "))
        .map(|line| line.split_once("title=").unwrap().1.split_once(" missed").unwrap().0)
        .collect();
    let mut distinct = titles.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!((titles.len(), distinct.len()), (10, 10), "{titles:?}");
    let safety = ["authorized_effects", "address_grounding_rate", "chain_id_consistency", "spending_limit_enforcement"];
    let first_other = titles.iter().position(|title| *title == "agent_case_pass_rate").unwrap();
    for gate in safety {
        assert!(titles.iter().position(|title| *title == gate).unwrap() < first_other, "{titles:?}");
    }
}

/// A case that fails completely is neither a clean exit nor invisible, even if no gate reads it.
#[test]
fn failed_case_that_no_gate_reads_is_named() {
    let folder = TestFolder::with_minimal();
    let gates = folder.read("evals/gates.yaml");
    let (other_gates, _) = gates.split_once("  - id: case_pass_rate").unwrap();
    folder.write("evals/gates.yaml", other_gates);
    let ran = folder.run(&["run", "--subject", "echo", "--suite", "skills", "--no-store"]);
    let ran = ran.assert_exit(3).assert_stdout("INCOMPLETE  echo: ");
    ran.assert_stdout("1 failed trial that no gate reads: convert_half_an_ether; add a gate on case_pass");
}

#[test]
fn unwritable_report_file_is_not_clean() {
    let folder = TestFolder::with_minimal();
    std::fs::create_dir(folder.path("folder")).unwrap();
    let args = ["run", "--subject", "reference", "--no-store", "--report", "junit=folder"];
    folder.run(&args).assert_exit(2).assert_stderr("--report folder is a folder");
    let args = ["run", "--subject", "reference", "--no-store", "--report", "junit=/proc/none/x.xml"];
    folder
        .run(&args)
        .assert_exit(3)
        .assert_stderr("the result could not be written to /proc/none/x.xml")
        .assert_stdout("PASSED  reference: ");
    let args = ["run", "--report", "junit=a", "--report", "json=a"];
    folder.run(&args).assert_exit(2).assert_stderr("two reports go to a");
    folder.run(&["run", "--report", "pdf=x"]).assert_exit(2).assert_stderr("there is no report \"pdf\"");
}
