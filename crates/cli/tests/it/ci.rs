//! CI: the tiers of every event, a workflow, and findings at the line they are about.

use crate::harness::Folder;
use serde_json::Value;

fn tiers(folder: &Folder, args: &[&str]) -> Vec<u64> {
    let document = folder.json(&[&["ci", "plan"], args].concat(), 0);
    document["tiers"].as_array().unwrap().iter().map(|tier| tier.as_u64().unwrap()).collect()
}

#[test]
fn events_run_the_tiers_of_the_specification() {
    let folder = Folder::with_reference();
    for (args, expected) in [
        (&["--event", "pull_request"][..], &[1, 2][..]),
        (&["--event", "pull_request", "--changed", "evals/tools/data.yaml"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "evals/profiles/data.yaml"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "README.md", "evals/agents/trade-executor.md"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "README.md"], &[1]),
        (&["--event", "merge"], &[1, 3]),
        (&["--event", "nightly"], &[1, 2, 3, 4]),
        (&["--event", "manual", "--tier", "1", "--tier", "4"], &[1, 4]),
    ] {
        assert_eq!(tiers(&folder, args), expected, "{args:?}");
    }
    folder.run(&["ci", "plan", "--event", "merge", "--format", "github"]).exits(0).prints("tiers=[1,3]\n");
    folder.run(&["ci", "plan", "--event", "marge"]).exits(2).says("did you mean \"merge\"?");
}

#[test]
fn safety_findings_are_sarif_at_the_case() {
    let folder = Folder::with_reference();
    let clean: Value = serde_json::from_str(
        &folder.run(&["run", "--no-store", "--subject", "reference", "--agent", "trade-executor", "--format", "sarif"]).stdout,
    )
    .unwrap();
    assert_eq!(clean["runs"][0]["results"].as_array().unwrap().len(), 0, "{clean:#}");
    let text = folder.run(&["run", "--no-store", "--subject", "baseline", "--suite", "behavior", "--format", "sarif"]).stdout;
    let found: Value = serde_json::from_str(&text).unwrap();
    let results = found["runs"][0]["results"].as_array().unwrap();
    assert!(!results.is_empty(), "the baseline was safe in every case");
    let place = &results[0]["locations"][0]["physicalLocation"];
    let file = place["artifactLocation"]["uri"].as_str().unwrap();
    let line = usize::try_from(place["region"]["startLine"].as_u64().unwrap()).unwrap();
    assert!(folder.read(file).lines().nth(line - 1).unwrap().contains("- id: "), "{file}:{line} is no case");
}

#[test]
fn mistakes_and_smoke_are_annotations_too() {
    let folder = Folder::with_minimal();
    let line = folder.edit("evals/gates.yaml", "scorer: hit", "scorer: hitt");
    let ran = folder.run(&["smoke", "--format", "github"]).exits(1);
    ran.prints(&format!("::error file=evals/gates.yaml,line={line},title=gates_measured::"));
    folder.write("evals/gates.yaml", "gates: [\n");
    folder.run(&["smoke", "--format", "github"]).exits(2).prints("::error file=evals/gates.yaml,line=");
}

#[test]
fn annotations_stand_at_the_line_of_the_case() {
    let folder = Folder::with_minimal();
    let line = folder.line("evals/suites/tool_selection/trader.yaml", "  - id: how_much_usdc");
    let ran = folder.run(&["run", "--no-store", "--subject", "echo", "--format", "github"]).exits(1);
    ran.prints(&format!("::error file=evals/suites/tool_selection/trader.yaml,line={line},title="));
}

#[test]
fn the_workflow_is_written_once_and_names_the_key() {
    let folder = Folder::with_reference();
    folder.run(&["ci", "github"]).exits(0).prints(".github/workflows/bardo-eval.yml written");
    folder.run(&["ci", "github"]).exits(2).says("--force replaces it");
    let text = folder.read(".github/workflows/bardo-eval.yml");
    for placeholder in ["@SUBJECT@", "@BRANCH@", "@INSTALL@", "@KEY@", "@WORKSPACE@"] {
        assert!(!text.contains(placeholder), "{placeholder} was left");
    }
    let with_key = folder.run(&["ci", "github", "--subject", "claude-sonnet", "--print"]).exits(0);
    with_key.prints("ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }}");
    folder.run(&["ci", "github", "--subject", "nobody", "--print"]).exits(2);
}
