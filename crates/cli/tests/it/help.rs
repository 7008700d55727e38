//! What the program says about itself.

use crate::harness::{Folder, column};

const LISTABLE: &[&str] =
    &["tools", "profiles", "agents", "skills", "suites", "cases", "worlds", "subjects", "chains", "tiers", "gates", "checks", "scorers"];

#[test]
fn every_command_explains_itself() {
    let folder = Folder::new();
    for command in [
        &[][..],
        &["smoke"],
        &["run"],
        &["show"],
        &["score"],
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
        let ran = folder.run(&[command, &["--help"]].concat()).exits(0).prints("Usage: bardo-eval");
        assert!(ran.stderr.is_empty() && !ran.stdout.contains('\u{1b}'), "{command:?}");
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 120), "{command:?}: {}", ran.stdout);
    }
}

#[test]
fn the_help_of_the_main_commands_has_examples_that_exist() {
    let folder = Folder::new();
    for command in
        [&[][..], &["smoke"], &["run"], &["show"], &["score"], &["init"], &["tools", "export"], &["tools", "import"], &["completions"]]
    {
        let help = folder.run(&[command, &["--help"]].concat()).exits(0).stdout;
        let examples = help.split("Example").nth(1).unwrap_or_else(|| panic!("{command:?} has no example"));
        assert!(examples.contains("\n  bardo-eval "), "{examples}");
        // Each example names flags the command knows.
        for line in examples.lines().filter_map(|line| line.trim().strip_prefix("bardo-eval ")) {
            for flag in line.split_whitespace().take_while(|word| *word != ">").filter(|word| word.starts_with("--")) {
                let verb: Vec<&str> = line.split_whitespace().take(if line.starts_with("tools") { 2 } else { 1 }).collect();
                folder.run(&[&verb[..], &["--help"]].concat()).exits(0).prints(flag);
            }
        }
    }
}

#[test]
fn a_mistyped_command_is_a_usage_error() {
    let ran = Folder::new().run(&["smok"]).exits(2).says("smoke");
    assert!(ran.stdout.is_empty());
    Folder::new().run(&[]).exits(2).says("Usage: bardo-eval");
    Folder::new().run(&["smoke", "--format", "xml"]).exits(2).says("junit");
    Folder::new().run(&["smoke", "--embedded", "--workspace", "x"]).exits(2);
}

#[test]
fn the_version_is_the_crate_s() {
    let ran = Folder::new().run(&["--version"]).exits(0);
    assert_eq!(ran.stdout, format!("bardo-eval {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn shells_are_served() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = Folder::new().run(&["completions", shell]).exits(0).prints("bardo-eval").prints("confusable");
        assert!(ran.stderr.is_empty());
    }
    Folder::new().run(&["completions", "cmd"]).exits(2);
}

#[test]
fn everything_listable_is_listed() {
    let folder = Folder::new();
    for what in LISTABLE {
        let rows = folder.list(what);
        assert!(!rows.is_empty(), "{what}");
        let text = folder.run(&["list", what]).exits(0).stdout;
        assert_eq!(text.lines().count(), rows.len() + 1, "one line per row and a header: {what}\n{text}");
    }
}

#[test]
fn every_check_scorer_planned_metric_and_gate_is_explained() {
    let folder = Folder::new();
    let checks = column(&folder.list("checks"), "check");
    let mut names = checks.clone();
    names.extend(column(&folder.list("scorers"), "scorer"));
    let gates = folder.list("gates");
    names.extend(column(&gates, "gate"));
    assert!(names.len() > 80, "{}", names.len());
    for name in &names {
        let ran = folder.run(&["explain", name]).exits(0);
        assert!(ran.stdout.starts_with(&format!("{name}  ")), "{}", ran.stdout);
        assert!(ran.stdout.lines().count() > 2 && ran.stderr.is_empty(), "{}{}", ran.stdout, ran.stderr);
        if checks.contains(name) {
            let said = ran.stdout.split("\nand says:\n").nth(1).unwrap_or_else(|| panic!("{}", ran.stdout));
            assert!(!said.trim().is_empty(), "{name} says nothing about its own bad example");
        }
    }
    // A gate's scorer is among the scorers, so that the reader can go on.
    for scorer in column(&gates, "scorer") {
        assert!(names.contains(&scorer), "{scorer}");
    }
}

#[test]
fn explain_shows_transcripts_that_a_scorer_accepts_and_rejects() {
    let folder = Folder::new();
    let mut measured = 0;
    for name in column(&folder.list("scorers"), "scorer") {
        let document = folder.json(&["explain", &name], 0);
        assert_eq!(document["name"], name.as_str());
        if document["kind"] == "planned_metric" {
            continue;
        }
        measured += 1;
        assert_eq!(document["kind"], "scorer");
        let score = |side: &str| document[side]["scores"][0].clone();
        assert_ne!(score("accepts")["reading"], score("rejects")["reading"], "{name}");
        assert!(!score("rejects")["because"].as_array().unwrap().is_empty(), "{name}");
        assert!(!document["accepts"]["events"].as_array().unwrap().is_empty(), "{name}");
        let text = folder.run(&["explain", &name]).exits(0).stdout;
        let (_, examples) = text.split_once("\nIt accepts, for example:\n").unwrap_or_else(|| panic!("{text}"));
        let (accepted, rejected) = examples.split_once("\nIt rejects, for example:\n").unwrap_or_else(|| panic!("{text}"));
        for example in [accepted, rejected] {
            assert!(example.starts_with("   1     2.0 s  ") && example.contains("\nand reads "), "{text}");
        }
    }
    assert_eq!(measured, 32);
    assert_eq!(folder.json(&["explain", "delegation_depth"], 0)["also"][0]["kind"], "check");
    let check = folder.json(&["explain", "graph_acyclic"], 0);
    assert!(!check["rejects"]["edits"].as_array().unwrap().is_empty() && !check["rejects"]["findings"].as_array().unwrap().is_empty());
    assert_eq!(folder.json(&["explain", "injection_detection"], 0)["kind"], "planned_metric");
    assert!(folder.json(&["explain", "hit_rate_profiles"], 0)["bound"].is_object());
}

#[test]
fn what_does_not_exist_is_not_explained() {
    let ran = Folder::new().run(&["explain", "graph_acyclc"]).exits(2).says("did you mean \"graph_acyclic\"?");
    assert!(ran.stdout.is_empty());
}

#[test]
fn checks_are_explained_even_where_the_workspace_is_broken() {
    let folder = Folder::with_minimal();
    folder.write("evals/gates.yaml", "gates: {");
    folder.run(&["explain", "graph_acyclic"]).exits(0);
    folder.run(&["explain", "hit_rate_profiles"]).exits(2).says("evals/gates.yaml");
}

#[test]
fn doctor_names_what_is_missing_and_shows_no_key() {
    let folder = Folder::new();
    let document = folder.json(&["doctor"], 0);
    let rows = document["rows"].as_array().unwrap();
    for what in ["version", "workspace", "anvil", "store"] {
        assert!(rows.iter().any(|row| row["what"] == what), "{what} is missing");
    }
    let key = rows.iter().find(|row| row["what"] == "key of claude-sonnet").unwrap();
    assert_eq!((&key["state"], &key["note"]), (&"missing".into(), &"set ANTHROPIC_API_KEY to run it".into()));
    folder.write("evals/gates.yaml", "gates: {");
    folder.run(&["doctor"]).exits(1).prints("run `bardo-eval smoke`");
}
