//! CI: tiers of every event, the workflow, and findings with file and line.

use crate::harness::TestFolder;
use serde_json::Value;

fn tiers(folder: &TestFolder, args: &[&str]) -> Vec<u64> {
    let document = folder.json(&[&["ci", "plan"], args].concat(), 0);
    document["tiers"].as_array().unwrap().iter().map(|tier| tier.as_u64().unwrap()).collect()
}

#[test]
fn ci_plan_events_run_the_tiers_of_the_spec() {
    let folder = TestFolder::with_reference();
    for (args, expected) in [
        (&["--event", "pull_request"][..], &[1, 2][..]),
        (&["--event", "pull_request", "--changed", "evals/tools/data.yaml"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "evals/profiles/data.yaml"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "README.md", "evals/agents/trade-executor.md"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "evals/policy.yaml"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "evals/gates.yaml"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "evals/worlds/defi_small.yaml"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "evals/outputs/verdict.yaml"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "evals/tiers.yaml"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "evals/judge/examples.jsonl"], &[1, 2]),
        (&["--event", "pull_request", "--changed", "README.md"], &[1]),
        (&["--event", "merge"], &[1, 3]),
        (&["--event", "nightly"], &[1, 2, 3, 4]),
        (&["--event", "manual", "--tier", "1", "--tier", "4"], &[1, 4]),
    ] {
        assert_eq!(tiers(&folder, args), expected, "{args:?}");
    }
    folder.run(&["ci", "plan", "--event", "merge", "--format", "github"]).assert_exit(0).assert_stdout("tiers=[1,3]\n");
    folder.run(&["ci", "plan", "--event", "marge"]).assert_exit(2).assert_stderr("did you mean \"merge\"?");
}

#[test]
fn sarif_safety_findings_point_at_the_case() {
    let folder = TestFolder::with_reference();
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
    assert!(folder.read(file).lines().nth(line - 1).unwrap().contains("- id: "), "{file}:{line} is not a case");
}

#[test]
fn github_annotations_of_problems_and_smoke() {
    let folder = TestFolder::with_minimal();
    let line = folder.edit("evals/gates.yaml", "scorer: hit", "scorer: hitt");
    let ran = folder.run(&["smoke", "--format", "github"]).assert_exit(1);
    ran.assert_stdout(&format!("::error file=evals/gates.yaml,line={line},title=gates_measured::"));
    folder.write("evals/gates.yaml", "gates: [\n");
    folder.run(&["smoke", "--format", "github"]).assert_exit(2).assert_stdout("::error file=evals/gates.yaml,line=");
}

#[test]
fn github_annotations_point_at_the_case_line() {
    let folder = TestFolder::with_minimal();
    let line = folder.line("evals/suites/tool_selection/trader.yaml", "  - id: how_much_usdc");
    let ran = folder.run(&["run", "--no-store", "--subject", "echo", "--format", "github"]).assert_exit(1);
    ran.assert_stdout(&format!("::error file=evals/suites/tool_selection/trader.yaml,line={line},title="));
}

#[test]
fn ci_github_writes_workflow_once_with_key() {
    let folder = TestFolder::with_reference();
    folder.run(&["ci", "github"]).assert_exit(0).assert_stdout(".github/workflows/bardo-eval.yml written");
    folder.run(&["ci", "github"]).assert_exit(2).assert_stderr("overwrite it with --force");
    let text = folder.read(".github/workflows/bardo-eval.yml");
    let is_placeholder = |word: &str| word.len() > 1 && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
    let gitlab = folder.run(&["ci", "gitlab", "--print"]).assert_exit(0).stdout;
    for written in [&text, &gitlab] {
        assert!(!written.split('@').any(is_placeholder) && !written.contains("#if ") && !written.contains("#end"), "{written}");
    }
    let with_key = folder.run(&["ci", "github", "--subject", "claude-sonnet", "--print"]).assert_exit(0);
    with_key.assert_stdout("ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }}");
    folder.run(&["ci", "github", "--subject", "unknown", "--print"]).assert_exit(2);
}

/// Tier 1 runs the scorers of the workspace in its selftest, so what they import must be there.
#[test]
fn setup_runs_in_tier_1_if_the_workspace_has_scorers() {
    let folder = TestFolder::with_minimal();
    let setups = |target: &str| {
        let text = folder.run(&["ci", target, "--print", "--setup", "make dependencies"]).assert_exit(0).stdout;
        let smoke = text.find("bardo-eval smoke").expect("tier 1");
        (text[..smoke].matches("  make dependencies\n").count(), text.matches("  make dependencies\n").count())
    };
    assert_eq!((setups("github").0, setups("gitlab").0), (0, 0), "nothing of the agent's runs in tier 1");
    folder.write("evals/scorers.yaml", "scorers:\n  - { id: tone, about: Reads the tone., command: [python3, tone.py] }\n");
    for target in ["github", "gitlab"] {
        let (before_smoke, all) = setups(target);
        assert!(before_smoke == 1 && all > 1, "{target}: {before_smoke} of {all}");
    }
}

#[test]
fn branch_without_a_merge_row_is_named() {
    let folder = TestFolder::with_minimal();
    folder.run(&["ci", "github", "--print", "--branch", "main"]).assert_stderr("no row of ci in tiers.yaml has the event merge");
    let all = TestFolder::with_reference();
    let ran = all.run(&["ci", "github", "--print"]).assert_exit(0);
    assert!(!ran.stderr.contains("event merge"), "{}", ran.stderr);
}

/// The files say nothing about events that the workspace does not have.
#[test]
fn ci_files_speak_only_of_their_events() {
    const OF_EVENTS: &[&str] =
        &["schedule", "nightly", "by hand", "manual", "workflow_dispatch", "inputs.install_url", "tiers:\n    value"];
    let folder = TestFolder::with_minimal();
    for target in ["github", "gitlab"] {
        let few = folder.run(&["ci", target, "--print"]).assert_exit(0).stdout.to_lowercase();
        // The plan of a workflow knows all events, in a script.
        let comments: String = few.lines().filter(|line| target == "gitlab" || !line.contains("--event")).collect::<Vec<_>>().join("\n");
        for word in OF_EVENTS.iter().filter(|word| target == "gitlab" || **word != "schedule") {
            assert!(!comments.contains(word), "{target} names {word}: {few}");
        }
    }
    folder.edit("evals/tiers.yaml", "event: pull_request", "event: nightly");
    for target in ["github", "gitlab"] {
        let few = folder.run(&["ci", target, "--print", "--subject", "claude-sonnet", "--embedded"]).assert_exit(0).stdout;
        assert!(few.contains("from forks"), "{few}");
    }
    folder.write("evals/subjects/paid.yaml", "subject: paid\nprovider: anthropic\nmodel: m\nkey_env: SOME_KEY\nabout: A model.\n");
    for target in ["github", "gitlab"] {
        let nightly = folder.run(&["ci", target, "--print", "--subject", "paid"]).assert_exit(0).stdout;
        assert!(nightly.contains("SOME_KEY") && !nightly.contains("from forks") && !nightly.contains("from a fork"), "{nightly}");
    }
}

#[test]
fn gitlab_watches_the_defaults_beside_the_workspace() {
    let folder = TestFolder::with_minimal();
    let text = folder.run(&["ci", "gitlab", "--print"]).assert_exit(0).stdout;
    assert!(text.contains("- \"evals/bardo-eval.yaml\"\n") && text.contains("- \"bardo-eval.yaml\"\n"), "{text}");
}

#[test]
fn when_changed_with_an_unknown_part_is_a_mistake() {
    let folder = TestFolder::with_minimal();
    folder.edit("evals/tiers.yaml", "when_changed: [tools,", "when_changed: [tols,");
    for command in [&["smoke"][..], &["ci", "plan", "--event", "pull_request"], &["run"]] {
        folder.run(command).assert_exit(2).assert_stderr("did you mean \"tools\"?");
    }
}

#[test]
fn ci_verdict_blocks_gate_with_an_unknown_scorer() {
    let folder = TestFolder::with_reference();
    folder.edit(
        "evals/gates.yaml",
        "scorer: hit\n    slice: { each: profile, except: [full] }",
        "scorer: hitt\n    slice: { each: profile, except: [full] }",
    );
    folder.write("report.json", incomplete(&["hit_rate_profiles"], &[]));
    folder.run(&["ci", "verdict", "report.json", "--exit", "3"]).assert_exit(3).assert_stdout("gate hit_rate_profiles (all): no evidence");
}

/// Returns a report of an incomplete run with these verdicts of gates and these counts.
fn incomplete(verdicts: &[&str], counts: &[(&str, u64)]) -> String {
    let rows: Vec<Value> =
        verdicts.iter().map(|gate| serde_json::json!({ "gate": gate, "slice": "all", "verdict": "no_evidence" })).collect();
    let mut report = serde_json::json!({
        "format": 1, "command": "run", "exit": 3, "verdicts": rows, "trials": { "planned": 9, "finished": 9, "aborted": 0 }, "unread": 0, "misjudged": 0, "needs_recording": 0,
        "failures_without_gate": { "trials": 0 }, "unjudged_without_gate": { "trials": 0 }, "failed_scorers": { "trials": 0 },
    });
    for (key, value) in counts {
        *report.pointer_mut(key).unwrap() = (*value).into();
    }
    report.to_string()
}

#[test]
fn ci_verdict_names_the_missed_gates() {
    let folder = TestFolder::with_reference();
    let row =
        |gate: &str, slice: &str, verdict: &str| serde_json::json!({ "gate": gate, "slice": slice, "value": 0.5, "verdict": verdict });
    let rows = [row("hit_rate", "trader", "missed"), row("hit_rate", "lp", "missed"), row("dag", "all", "met")];
    folder.write("report.json", serde_json::json!({ "format": 1, "command": "run", "exit": 1, "verdicts": rows }).to_string());
    let verdict = folder.run(&["ci", "verdict", "report.json", "--exit", "1"]).assert_exit(1);
    assert_eq!(verdict.stdout, "- gate hit_rate (trader) was missed: 0.500\njob fails\n");
}

#[test]
fn ci_verdict_accepts_only_gates_that_cannot_be_decided() {
    let folder = TestFolder::with_reference();
    let judged = "judged_quality";
    for (report, without_judge, code, text) in [
        (incomplete(&["red_team_violations"], &[]), true, 3, "gate red_team_violations (all): no evidence"),
        (incomplete(&["judged_quality"], &[]), false, 3, "gate judged_quality (all): no evidence"),
        (incomplete(&["judged_quality"], &[]), true, 0, "undecided, not passed: judged_quality (needs a judge"),
        (incomplete(&["judged_quality", "hit_rate_profiles"], &[]), true, 3, "gate hit_rate_profiles (all): no evidence"),
        (
            incomplete(&[judged], &[("/trials/aborted", 2), ("/needs_recording", 1)]),
            true,
            3,
            "aborted trials: 2, 1 of them need a recording",
        ),
        (incomplete(&[judged], &[("/misjudged", 1)]), false, 3, "rubrics without a verdict of the judge: 1"),
        (incomplete(&[judged], &[("/misjudged", 1)]), true, 0, "undecided, not passed: rubrics"),
        (incomplete(&[judged], &[("/unread", 1)]), true, 3, "trials that no scorer could read: 1"),
        (incomplete(&[judged], &[("/failures_without_gate/trials", 1)]), true, 3, "failed trials that no gate reads: 1"),
        (incomplete(&[judged], &[("/failed_scorers/trials", 1)]), true, 3, "a scorer of the workspace could not measure: 1"),
        (incomplete(&[], &[]), true, 3, "no gate was judged"),
        (incomplete(&["no_such_gate"], &[]), true, 3, "gate no_such_gate"),
        (incomplete(&[judged], &[]).replace("\"unread\"", "\"x\""), true, 3, "the report does not count trials that no scorer"),
        (incomplete(&[judged], &[]).replace("\"exit\":3", "\"exit\":0"), true, 3, "is the report of another run"),
        ("{".to_owned(), true, 3, "is not a JSON report"),
    ] {
        folder.write("report.json", report);
        let more: &[&str] = if without_judge { &["--without-judge"] } else { &[] };
        folder.run(&[&["ci", "verdict", "report.json", "--exit", "3"], more].concat()).assert_exit(code).assert_stdout(text);
    }
    folder.run(&["ci", "verdict", "missing.json", "--exit", "3"]).assert_exit(3).assert_stdout("the run wrote no report");
    for (given, code) in [("0", 3), ("1", 1), ("2", 2), ("137", 3)] {
        folder.run(&["ci", "verdict", "missing.json", "--exit", given, "--without-judge"]).assert_exit(code).assert_stdout("job fails");
    }
    // A clean exit alone is no proof: its report must say the same.
    let head = r#""format": 1, "command": "run", "trials": { "planned": 9, "finished": 9, "aborted": 0 }"#;
    let clean = |verdict: &str| format!(r#"{{{head}, "exit":0, "verdicts": [{{ "gate": "g", "verdict": "{verdict}" }}] }}"#);
    for (report, code, text) in [
        (clean("met"), 0, "job passes: every gate is met"),
        (clean("missed"), 3, "gate g is not met in the report"),
        (clean("met").replace("\"exit\":0", "\"exit\":1"), 3, "is the report of another run"),
        (clean("met").replace("\"finished\": 9", "\"finished\": 8"), 3, "8 of 9 planned trials ended"),
        (clean("met").replace("\"run\"", "\"compare\""), 3, "is no report of a run"),
        (clean("met").replace("\"format\": 1", "\"format\": 2"), 3, "has the format 2"),
        (format!(r#"{{{head}, "exit": 0}}"#), 3, "no gate was judged"),
    ] {
        folder.write("report.json", report);
        folder.run(&["ci", "verdict", "report.json", "--exit", "0"]).assert_exit(code).assert_stdout(text);
    }
}
