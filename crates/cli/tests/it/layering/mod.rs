//! Layering rules: allowed dependencies between crates, and between the top-level modules of a crate.

#![allow(clippy::disallowed_methods, reason = "the test reads our own sources")]

mod cycles;
mod imports;
mod names;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Workspace crates that each crate may depend on. Code that runs agents cannot score, and code that scores cannot run them.
const CRATE_IMPORTS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("jsongen", &["model"]),
    ("lexical", &[]),
    ("disguise", &[]),
    ("attack", &["disguise", "jsongen", "model"]),
    ("faults", &["model"]),
    ("foreign", &["model"]),
    ("baseline", &["lexical", "model"]),
    ("guard", &["disguise", "model"]),
    ("score", &["disguise", "jsongen", "lexical", "model"]),
    ("launcher", &[]),
    ("script", &[]),
    ("promptfoo", &["model", "run", "score", "script"]),
    ("bindings", &[]),
    ("world", &["bindings", "jsongen", "launcher", "model"]),
    ("store", &["model"]),
    ("present", &["model", "score"]),
    ("serve", &["model", "present", "score", "store"]),
    ("run", &["baseline", "disguise", "guard", "launcher", "lexical", "model", "script", "store", "world"]),
    ("campaign", &["attack", "disguise", "faults", "foreign", "model", "run", "score", "store", "world"]),
    ("testkit", &["model"]),
    (
        "cli",
        &[
            "attack",
            "campaign",
            "faults",
            "foreign",
            "guard",
            "launcher",
            "model",
            "present",
            "promptfoo",
            "run",
            "score",
            "script",
            "serve",
            "store",
            "world",
        ],
    ),
];

/// Libraries that pure crates must not use, because they allow I/O.
const FORBIDDEN_LIBRARIES: &[(&str, &[&str])] = &[
    ("model", &["tokio", "reqwest", "rusqlite", "rmcp", "proptest"]),
    ("foreign", &["tokio", "reqwest", "rusqlite", "rmcp", "futures"]),
    ("present", &["tokio", "reqwest", "rusqlite", "rmcp", "futures"]),
    (
        "score",
        &["tokio", "reqwest", "rusqlite", "rmcp", "futures", "rquickjs", "revm", "alloy-dyn-abi", "alloy-sol-types", "alloy-json-abi"],
    ),
];

/// Top-level modules that a top-level module may use. A crate that is not listed has only one.
const MODULE_IMPORTS: &[(&str, &str, &[&str])] = &[
    ("model", "agent", &["location", "problem", "review", "rule", "yaml"]),
    ("model", "catalog", &["hash", "tool_listing", "location", "problem", "registry", "short_text", "text_enum", "yaml"]),
    ("model", "coverage", &["location", "problem", "yaml"]),
    ("model", "decimal", &[]),
    ("model", "dimension", &["gate", "scorer", "suite", "text_enum"]),
    ("model", "defaults", &["money", "location", "problem", "waiver", "yaml"]),
    ("model", "external_scorer", &["location", "problem", "scorer", "suite", "text_enum", "yaml"]),
    ("model", "files", &[]),
    ("model", "gate", &["location", "problem", "scorer", "suite", "yaml"]),
    ("model", "hash", &["short_text"]),
    ("model", "tool_listing", &[]),
    ("model", "markdown", &["problem"]),
    ("model", "minimal_workspace", &[]),
    ("model", "money", &["decimal", "units"]),
    ("model", "outcome", &[]),
    ("model", "output", &["catalog", "location", "problem", "yaml"]),
    ("model", "location", &[]),
    ("model", "plan", &["hash", "suite"]),
    ("model", "plural", &[]),
    ("model", "policy", &["files", "location", "problem", "registry", "yaml"]),
    ("model", "problem", &["location"]),
    ("model", "production", &["gate", "location", "money", "problem", "registry", "yaml"]),
    ("model", "reading", &["gate", "scorer"]),
    ("model", "record", &["hash", "plan", "reading", "transcript"]),
    ("model", "registry", &["location", "problem", "text_enum", "yaml"]),
    ("model", "review", &[]),
    ("model", "rule", &["catalog", "problem"]),
    ("model", "scorer", &["text_enum"]),
    ("model", "view", &["catalog", "tool_listing", "location", "skill", "suite", "transcript", "workspace"]),
    ("model", "seeded_rng", &["hash"]),
    ("model", "short_text", &[]),
    ("model", "skill", &["catalog", "tool_listing", "location", "problem", "yaml"]),
    ("model", "subject", &["hash", "money", "location", "problem", "yaml"]),
    ("model", "probe", &["location", "problem", "registry", "suite", "yaml"]),
    (
        "model",
        "suite",
        &["agent", "catalog", "decimal", "hash", "location", "problem", "rule", "short_text", "text_enum", "time_text", "units", "yaml"],
    ),
    ("model", "text_enum", &[]),
    ("model", "tier", &["location", "problem", "suite", "yaml"]),
    ("model", "time_text", &["catalog", "decimal"]),
    ("model", "transcript", &["hash", "money", "reading"]),
    ("model", "units", &["decimal"]),
    ("model", "user_error", &["location", "problem"]),
    ("model", "version", &["problem", "yaml"]),
    ("model", "waiver", &["location", "problem", "yaml"]),
    (
        "model",
        "workspace",
        &[
            "agent",
            "catalog",
            "coverage",
            "decimal",
            "defaults",
            "external_scorer",
            "files",
            "gate",
            "hash",
            "markdown",
            "minimal_workspace",
            "output",
            "location",
            "plural",
            "policy",
            "probe",
            "problem",
            "production",
            "registry",
            "review",
            "scorer",
            "skill",
            "subject",
            "suite",
            "tier",
            "version",
            "world",
            "yaml",
        ],
    ),
    ("model", "world", &["location", "problem", "registry", "time_text", "yaml"]),
    ("model", "yaml", &["location", "problem"]),
    ("disguise", "encodings", &["text_pieces"]),
    ("disguise", "folded_readings", &["encode", "folding", "readings"]),
    ("disguise", "folding", &["encodings", "invisible", "look_alikes"]),
    ("disguise", "invisible", &["encodings"]),
    ("disguise", "look_alikes", &[]),
    ("disguise", "marker", &["folded_readings", "folding"]),
    ("disguise", "readings", &["encode", "encodings", "invisible"]),
    ("disguise", "tests", &[]),
    ("disguise", "text_pieces", &[]),
    ("faults", "choice", &["table"]),
    ("faults", "edit", &["scene"]),
    ("faults", "scene", &[]),
    ("faults", "table", &["edit", "scene"]),
    ("attack", "covering", &[]),
    ("attack", "expand", &["held_out", "placement", "slots", "strategies"]),
    ("attack", "general", &["expand"]),
    ("attack", "placement", &[]),
    ("attack", "reduction", &[]),
    ("attack", "rewordable", &["expand", "slots", "strategies"]),
    ("attack", "slots", &[]),
    ("attack", "held_out", &["sample_goal", "strategies"]),
    ("attack", "sample_goal", &[]),
    ("attack", "strategies", &["sample_goal"]),
    ("foreign", "action_match", &["python_equality", "recording"]),
    ("foreign", "agreement", &["action_match", "attack_signs", "log_readings", "problem", "recording"]),
    ("foreign", "attack_signs", &["builder", "forbidden_call", "recording"]),
    ("foreign", "builder", &["content", "problem", "recording"]),
    ("foreign", "content", &[]),
    ("foreign", "detect", &["content", "format"]),
    ("foreign", "export", &["formats"]),
    ("foreign", "forbidden_call", &["python_equality"]),
    ("foreign", "format", &[]),
    ("foreign", "formats", &["builder", "content", "problem", "recording"]),
    ("foreign", "json_splitter", &[]),
    ("foreign", "log_readings", &["action_match", "attack_signs", "builder", "recording"]),
    ("foreign", "problem", &[]),
    ("foreign", "python_equality", &[]),
    ("foreign", "reader", &["detect", "format", "formats", "json_splitter", "problem", "recording", "zip_archive"]),
    ("foreign", "recording", &["problem"]),
    ("foreign", "zip_archive", &["json_splitter"]),
    ("score", "assertions", &["json_answer"]),
    ("score", "causes", &["scorers"]),
    (
        "score",
        "checks",
        &["compare", "confusability", "coverage", "example", "facts", "gates", "quality", "rules", "scorers", "spec_bounds"],
    ),
    ("score", "compare", &["example"]),
    ("score", "confusability", &[]),
    ("score", "coverage", &["example"]),
    ("score", "diff", &["compare", "scorers"]),
    ("score", "drift", &[]),
    ("score", "evidence", &["example", "questions"]),
    ("score", "external_scores", &["evidence", "example", "questions", "sample_run"]),
    ("score", "facts", &["compare", "evidence", "example", "finding", "json_answer", "json_texts", "sample_run"]),
    ("score", "finding", &[]),
    ("score", "example", &[]),
    ("score", "gates", &["example", "scorers", "statistics"]),
    ("score", "golden", &["compare", "example"]),
    ("score", "json_answer", &[]),
    ("score", "json_texts", &[]),
    ("score", "outcome", &[]),
    ("score", "pairing", &["causes", "example", "gates", "statistics"]),
    ("score", "production", &["example", "scorers"]),
    ("score", "quality", &["compare", "confusability", "facts", "scorers"]),
    ("score", "questions", &["assertions", "example", "statistics"]),
    ("score", "rules", &["compare", "evidence", "example", "facts"]),
    ("score", "sample_run", &[]),
    (
        "score",
        "scorers",
        &[
            "assertions",
            "compare",
            "evidence",
            "example",
            "external_scores",
            "facts",
            "finding",
            "json_answer",
            "json_texts",
            "outcome",
            "questions",
            "rules",
            "sample_run",
        ],
    ),
    ("score", "spec_bounds", &[]),
    ("score", "statistics", &[]),
    ("score", "trial", &["scorers"]),
    ("score", "workspace_changes", &["confusability", "example"]),
    ("launcher", "grants", &["request"]),
    ("launcher", "hardening", &[]),
    ("launcher", "launcher_process", &["grants", "hardening", "request"]),
    ("launcher", "request", &[]),
    ("launcher", "sandbox_mode", &["launcher_process"]),
    ("launcher", "spawn", &["request", "started_programs"]),
    ("launcher", "started_programs", &[]),
    ("world", "chain", &[]),
    ("world", "mcp", &[]),
    ("world", "endpoints", &["chain", "mcp"]),
    ("world", "live", &["chain", "log", "mcp"]),
    ("world", "log", &[]),
    ("run", "budget", &[]),
    ("run", "clock", &[]),
    ("run", "driver", &["limits", "move_size", "subjects", "user", "verifier_decision"]),
    ("run", "external", &["clock", "limits", "secrets", "subjects"]),
    ("run", "journal_ledger", &["clock", "ledger"]),
    ("run", "attacker", &["ledger", "providers"]),
    ("run", "judge", &["ledger", "providers"]),
    ("run", "ledger", &["budget"]),
    ("run", "limits", &[]),
    ("run", "move_size", &[]),
    ("run", "production_ledger", &["clock", "ledger"]),
    ("run", "providers", &["budget", "clock", "ledger", "secrets"]),
    ("run", "queue_ledger", &["budget", "clock", "ledger"]),
    ("run", "secrets", &[]),
    ("run", "subject_pool", &["clock", "external", "providers", "secrets", "subjects"]),
    ("run", "subjects", &["ledger", "limits", "providers"]),
    ("run", "user", &["ledger", "providers"]),
    ("run", "verifier_decision", &[]),
    ("campaign", "aggregate", &["summary"]),
    ("campaign", "changes", &[]),
    ("campaign", "ci", &["spec"]),
    ("campaign", "config_run", &["prepare", "run_store"]),
    ("campaign", "comparison", &["golden", "red_team", "run_store", "spec", "summary"]),
    ("campaign", "cost", &[]),
    ("campaign", "draft", &[]),
    ("campaign", "execute", &["aggregate", "judging", "prepare", "run_store", "scoring", "summary", "watcher"]),
    ("campaign", "failed_cases", &[]),
    ("campaign", "funding", &["summary"]),
    ("campaign", "golden", &[]),
    ("campaign", "job_verdict", &[]),
    ("campaign", "judging", &[]),
    ("campaign", "logs", &[]),
    ("campaign", "plan", &["cost", "red_team", "spec"]),
    ("campaign", "prepare", &["plan", "spec"]),
    ("campaign", "production", &["draft", "judging", "logs", "scoring"]),
    ("campaign", "queued", &["aggregate", "execute", "plan", "prepare", "run_store", "spec", "summary", "watcher"]),
    ("campaign", "red_team", &["spec"]),
    ("campaign", "rescore", &["aggregate", "summary"]),
    ("campaign", "run_store", &["plan", "prepare", "summary"]),
    ("campaign", "scoring", &[]),
    ("campaign", "selftest", &["execute", "plan", "prepare", "spec"]),
    ("campaign", "shrink", &["execute", "prepare", "run_store"]),
    ("campaign", "spec", &[]),
    ("campaign", "summary", &[]),
    ("campaign", "watcher", &[]),
    ("campaign", "wording", &["golden", "judging"]),
    ("cli", "args", &["shell", "store_location"]),
    (
        "cli",
        "commands",
        &["args", "env", "exit", "files", "git", "io", "stored_runs", "workspace_source", "report", "sandbox", "shell", "signals"],
    ),
    ("cli", "env", &[]),
    ("cli", "exit", &[]),
    ("cli", "files", &[]),
    ("cli", "git", &["env", "files"]),
    ("cli", "io", &["args", "env", "exit", "files", "workspace_source", "paint", "shell"]),
    ("cli", "store_location", &["env", "files"]),
    ("cli", "stored_runs", &["io", "shell"]),
    ("cli", "workspace_source", &["args", "env", "files"]),
    ("cli", "paint", &["args"]),
    ("cli", "report", &["args", "exit", "io", "stored_runs", "workspace_source", "paint", "shell"]),
    ("cli", "sandbox", &["env", "io", "store_location", "workspace_source"]),
    ("cli", "shell", &[]),
    ("cli", "signals", &[]),
];

fn crates_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(source_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn crates_import_only_permitted_crates() {
    for (name, permitted) in CRATE_IMPORTS {
        let manifest = fs::read_to_string(crates_folder().join(name).join("Cargo.toml")).expect("a manifest");
        let dependencies = manifest.split("\n[dependencies]").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or_default();
        let named: BTreeSet<&str> =
            dependencies.lines().filter_map(|line| line.split(['.', ' ', '=']).next()).filter(|name| !name.is_empty()).collect();
        for (other, _) in CRATE_IMPORTS {
            assert!(!named.contains(other) || permitted.contains(other), "{name} must not depend on {other}");
        }
        for (pure, forbidden) in FORBIDDEN_LIBRARIES.iter().filter(|(pure, _)| pure == name) {
            for library in *forbidden {
                assert!(!named.contains(library), "{pure} must not depend on {library}");
            }
        }
    }
}

#[test]
fn every_crate_is_in_the_table() {
    let folders: BTreeSet<String> = fs::read_dir(crates_folder())
        .expect("crates/")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    let listed: BTreeSet<String> = CRATE_IMPORTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(folders, listed);
}

/// Checks every `crate::module` path in the sources, tests included.
#[test]
fn modules_import_only_permitted_modules() {
    let mut wrong = vec![];
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, _) in CRATE_IMPORTS.iter().filter(|(name, _)| MODULE_IMPORTS.iter().any(|(krate, _, _)| krate == name)) {
        let source = crates_folder().join(name).join("src");
        for file in source_files(&source) {
            let inside = file.strip_prefix(&source).expect("below src");
            let module = inside.components().next().expect("a name").as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned();
            if matches!(module.as_str(), "lib" | "main") {
                continue;
            }
            seen.entry(name).or_default().insert(module.clone());
            let Some((_, _, permitted)) = MODULE_IMPORTS.iter().find(|(krate, listed, _)| krate == name && *listed == module) else {
                wrong.push(format!("{name}: module {module} is not in the table"));
                continue;
            };
            for used in modules_used(&fs::read_to_string(&file).expect("a source file")) {
                if used != module && !permitted.contains(&used.as_str()) {
                    wrong.push(format!("{name}/{}: {module} must not use {used}", inside.display()));
                }
            }
        }
    }
    for (krate, module, _) in MODULE_IMPORTS {
        if !seen.get(krate).is_some_and(|modules| modules.contains(*module)) {
            wrong.push(format!("{krate}: module {module} is in the table but not in the source"));
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table itself has no cycle: modules can be ordered so that each uses only earlier ones.
#[test]
fn module_table_has_no_cycle() {
    let mut left: Vec<_> = MODULE_IMPORTS.to_vec();
    loop {
        let names: BTreeSet<(&str, &str)> = left.iter().map(|(krate, module, _)| (*krate, *module)).collect();
        let before = left.len();
        left.retain(|(krate, _, uses)| uses.iter().any(|used| names.contains(&(*krate, *used))));
        if left.len() == before {
            break;
        }
    }
    assert!(left.is_empty(), "these use each other in a cycle: {left:?}");
}

fn modules_used(text: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for (at, _) in line.match_indices("crate::") {
            let before = line[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let rest = &line[at + "crate::".len()..];
            let names = match rest.strip_prefix('{') {
                Some(group) => group.split('}').next().unwrap_or_default().split(',').map(str::trim).collect(),
                None => vec![rest],
            };
            for name in names {
                let name: String = name.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
                if !name.is_empty() {
                    used.insert(name);
                }
            }
        }
    }
    used
}

/// A remedy is a field of `UserError`, never part of a text after two spaces.
#[test]
fn messages_do_not_join_remedy_with_two_spaces() {
    let mut wrong = vec![];
    for (name, _) in CRATE_IMPORTS {
        for file in source_files(&crates_folder().join(name).join("src")) {
            let text = fs::read_to_string(&file).expect("a source file");
            let production = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let is_test = file.file_stem().is_some_and(|stem| stem == "tests");
            let glued = literals(production).into_iter().filter(|literal| literal.lines().any(has_joined_remedy));
            wrong.extend(glued.filter(|_| !is_test).map(|literal| format!("{}: {literal:?}", file.display())));
        }
    }
    assert!(wrong.is_empty(), "give the remedy to UserError::new, or join columns:\n{}", wrong.join("\n"));
}

#[test]
fn two_space_test_sees_remedies_not_columns() {
    let seen = |source: &str| literals(source).iter().any(|literal| literal.lines().any(has_joined_remedy));
    for glued in [r#"f("no run  start one")"#, r#"f("{x} is wrong  `init` helps")"#, r#"f("exists  --force replaces it")"#] {
        assert!(seen(glued), "{glued}");
    }
    for fine in [r#"f("{}  {}")"#, r#"// "no run  start one""#, r#"f("one\n  two")"#, r#"f("trials: {n} planned")"#] {
        assert!(!seen(fine), "{fine}");
    }
}

/// Returns true if a word, a command in backticks or a flag follows two spaces within a line.
fn has_joined_remedy(line: &str) -> bool {
    line.trim_start().match_indices("  ").any(|(at, _)| {
        let line = line.trim_start();
        let after = &line[at + 2..];
        let follows = after.starts_with(|c: char| c.is_ascii_lowercase() || c == '`') || after.starts_with("--");
        follows && !line[..at].ends_with(' ')
    })
}

/// Returns the string literals of a source text, with escaped white space resolved.
fn literals(source: &str) -> Vec<String> {
    let mut found = vec![];
    let code: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect();
    let mut rest = code.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\'' && rest.peek() == Some(&'"') {
            rest.next();
        } else if c == '"' {
            found.push(literal(&mut rest));
        }
    }
    found
}

fn literal(rest: &mut std::iter::Peekable<impl Iterator<Item = char>>) -> String {
    let mut text = String::new();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => match rest.next() {
                Some('n') => text.push('\n'),
                Some('\n') => while rest.next_if(|c| c.is_whitespace()).is_some() {},
                Some(escaped) => text.push(escaped),
                None => break,
            },
            plain => text.push(plain),
        }
    }
    text
}
