//! Help, lists, explanations and `doctor`.

use crate::harness::{TestFolder, column};

const LIST_TARGETS: &[&str] =
    &["tools", "profiles", "agents", "skills", "suites", "cases", "worlds", "subjects", "chains", "tiers", "gates", "checks", "scorers"];

#[test]
fn every_command_has_help() {
    let folder = TestFolder::new();
    for command in [
        &[][..],
        &["smoke"],
        &["run"],
        &["show"],
        &["score"],
        &["export"],
        &["init"],
        &["tools"],
        &["tools", "export"],
        &["tools", "import"],
        &["tools", "diff"],
        &["tools", "confusable"],
        &["list"],
        &["explain"],
        &["doctor"],
        &["completions"],
    ] {
        let ran = folder.run(&[command, &["--help"]].concat()).assert_exit(0).assert_stdout("Usage: bardo-eval");
        assert!(ran.stderr.is_empty() && !ran.stdout.contains('\u{1b}'), "{command:?}");
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 120), "{command:?}: {}", ran.stdout);
    }
}

#[test]
fn help_examples_use_known_flags() {
    let folder = TestFolder::new();
    for command in [
        &[][..],
        &["smoke"],
        &["run"],
        &["show"],
        &["score"],
        &["export"],
        &["init"],
        &["tools", "export"],
        &["tools", "import"],
        &["completions"],
    ] {
        let help = folder.run(&[command, &["--help"]].concat()).assert_exit(0).stdout;
        let examples = help.split("Example").nth(1).unwrap_or_else(|| panic!("{command:?} has no example"));
        assert!(examples.contains("\n  bardo-eval "), "{examples}");
        // Each example uses known flags.
        for line in examples.lines().filter_map(|line| line.trim().strip_prefix("bardo-eval ")) {
            for flag in line.split_whitespace().take_while(|word| *word != ">").filter(|word| word.starts_with("--")) {
                let verb: Vec<&str> = line.split_whitespace().take(if line.starts_with("tools") { 2 } else { 1 }).collect();
                folder.run(&[&verb[..], &["--help"]].concat()).assert_exit(0).assert_stdout(flag);
            }
        }
    }
}

#[test]
fn a_mistyped_command_is_a_usage_error() {
    let ran = TestFolder::new().run(&["smok"]).assert_exit(2).assert_stderr("smoke");
    assert!(ran.stdout.is_empty());
    TestFolder::new().run(&[]).assert_exit(2).assert_stderr("Usage: bardo-eval");
    TestFolder::new().run(&["smoke", "--format", "xml"]).assert_exit(2).assert_stderr("junit");
    TestFolder::new().run(&["smoke", "--embedded", "--workspace", "x"]).assert_exit(2);
}

#[test]
fn version_flag_prints_crate_version() {
    let ran = TestFolder::new().run(&["--version"]).assert_exit(0);
    assert_eq!(ran.stdout, format!("bardo-eval {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = TestFolder::new().run(&["completions", shell]).assert_exit(0).assert_stdout("bardo-eval").assert_stdout("confusable");
        assert!(ran.stderr.is_empty());
    }
    TestFolder::new().run(&["completions", "cmd"]).assert_exit(2);
}

#[test]
fn list_prints_every_target() {
    let folder = TestFolder::new();
    for what in LIST_TARGETS {
        let rows = folder.list(what);
        assert!(!rows.is_empty(), "{what}");
        let text = folder.run(&["list", what]).assert_exit(0).stdout;
        assert_eq!(text.lines().count(), rows.len() + 1, "one line per row and a header: {what}\n{text}");
    }
}

#[test]
fn explain_knows_every_check_scorer_metric_and_gate() {
    let folder = TestFolder::new();
    let checks = column(&folder.list("checks"), "check");
    let mut names = checks.clone();
    names.extend(column(&folder.list("scorers"), "scorer"));
    let gates = folder.list("gates");
    names.extend(column(&gates, "gate"));
    assert!(names.len() > 80, "{}", names.len());
    for name in &names {
        let ran = folder.run(&["explain", "--embedded", name]).assert_exit(0);
        assert!(ran.stdout.starts_with(&format!("{name}  ")), "{}", ran.stdout);
        assert!(ran.stdout.lines().count() > 2 && ran.stderr.is_empty(), "{}{}", ran.stdout, ran.stderr);
        if checks.contains(name) {
            let said = ran.stdout.split("\nand says:\n").nth(1).unwrap_or_else(|| panic!("{}", ran.stdout));
            assert!(!said.trim().is_empty(), "{name} says nothing about its own bad example");
        }
    }
    // The scorer of a gate is in the list of scorers.
    for scorer in column(&gates, "scorer") {
        assert!(names.contains(&scorer), "{scorer}");
    }
}

#[test]
fn explain_scorer_shows_accept_and_reject_examples() {
    let folder = TestFolder::new();
    let mut measured = 0;
    for name in column(&folder.list("scorers"), "scorer") {
        let document = folder.json(&["explain", &name], 0);
        assert_eq!(document["name"], name.as_str());
        measured += 1;
        assert_eq!(document["kind"], "scorer");
        let score = |side: &str| document[side]["scores"][0].clone();
        assert_ne!(score("accepts")["reading"], score("rejects")["reading"], "{name}");
        assert!(!score("rejects")["because"].as_array().unwrap().is_empty(), "{name}");
        assert!(!document["accepts"]["events"].as_array().unwrap().is_empty(), "{name}");
        let text = folder.run(&["explain", &name]).assert_exit(0).stdout;
        let (_, examples) = text.split_once("\nIt accepts, for example:\n").unwrap_or_else(|| panic!("{text}"));
        let (accepted, rejected) = examples.split_once("\nIt rejects, for example:\n").unwrap_or_else(|| panic!("{text}"));
        for example in [accepted, rejected] {
            assert!(example.starts_with("   1     2.0 s  ") && example.contains("\nand reads "), "{text}");
        }
    }
    assert_eq!(measured, 47);
    assert_eq!(folder.json(&["explain", "delegation_depth"], 0)["also"][0]["kind"], "check");
    let check = folder.json(&["explain", "graph_acyclic"], 0);
    assert!(!check["rejects"]["edits"].as_array().unwrap().is_empty() && !check["rejects"]["findings"].as_array().unwrap().is_empty());
    assert_eq!(folder.json(&["explain", "canary"], 0)["kind"], "oracle");
    assert!(folder.json(&["explain", "hit_rate_profiles"], 0)["bound"].is_object());
}

#[test]
fn explain_unknown_name_is_a_usage_error() {
    let ran = TestFolder::new().run(&["explain", "graph_acyclc"]).assert_exit(2).assert_stderr("did you mean \"graph_acyclic\"?");
    assert!(ran.stdout.is_empty());
}

#[test]
fn explain_check_works_in_a_broken_workspace() {
    let folder = TestFolder::with_minimal();
    folder.write("evals/gates.yaml", "gates: {");
    folder.run(&["explain", "graph_acyclic"]).assert_exit(0);
    folder.run(&["explain", "hit_rate_profiles"]).assert_exit(2).assert_stderr("evals/gates.yaml");
}

#[test]
fn doctor_names_what_is_missing_and_shows_no_key() {
    let folder = TestFolder::new();
    let document = folder.json(&["doctor"], 0);
    let rows = document["rows"].as_array().unwrap();
    for what in ["version", "workspace", "keyless core", "store"] {
        assert!(rows.iter().any(|row| row["what"] == what), "{what} is missing");
    }
    let llm = rows.iter().find(|row| row["what"] == "subject claude-sonnet").unwrap();
    assert_eq!(llm["state"], "missing", "{llm}");
    assert!(llm["note"].as_str().unwrap().contains("set ANTHROPIC_API_KEY"), "{llm}");
    // A missing node is named only where a workspace has chains.
    assert!(!rows.iter().any(|row| row["what"] == "anvil" && row["state"] == "missing"));
    assert!(TestFolder::with_minimal().run(&["doctor"]).stdout.contains("anvil"));
    folder.write("evals/gates.yaml", "gates: {");
    folder.run(&["doctor"]).assert_exit(1).assert_stdout("run `bardo-eval smoke`");
}
