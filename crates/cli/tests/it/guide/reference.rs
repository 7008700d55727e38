//! Reference pages are what the source says: commands and flags, scorers, oracles and checks, gates and the files of a workspace.
//! `BLESS=1` writes the generated pages again.

use super::scene::repository;
use super::{help_texts, read_page};
use crate::harness::TestFolder;
use regex::Regex;
use score::checks::CHECKS;
use score::oracles::ORACLES;
use score::scorers::SCORERS;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Compares a generated page with its file, or writes it.
fn assert_page(file: &str, generated: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(repository().join(file), generated).unwrap();
    }
    assert!(read_page(file) == generated, "{file} is not what the source says; write it again with BLESS=1 and read the difference");
}

#[test]
fn commands_page_is_the_help_of_the_program() {
    let mut page =
        "# Commands\n\nWritten from the help of the program; a test compares the two. `bardo-eval man` prints the same as a manual page.\n"
            .to_owned();
    for (verb, help) in help_texts() {
        let title = if verb.is_empty() { "bardo-eval".to_owned() } else { format!("bardo-eval {verb}") };
        write!(page, "\n## {title}\n\n```text\n{}\n```\n", help.trim_end()).unwrap();
    }
    assert_page("docs/guide/commands.md", &page);
}

#[test]
fn scorers_page_is_the_manual_of_the_source() {
    let mut page = "# Scorers, oracles and checks\n\nWritten from the manuals in the source; a test compares the two. `bardo-eval explain NAME` prints one.\n".to_owned();
    let mut section = |title: &str, about: &str, rows: Vec<(String, &str)>| {
        write!(page, "\n## {title}\n\n{about}\n\n| name | manual |\n|---|---|\n").unwrap();
        for (name, manual) in rows {
            writeln!(page, "| `{name}` | {} |", manual.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")).unwrap();
        }
    };
    let scorers = SCORERS.iter().map(|scorer| (scorer.id().to_string(), scorer.manual())).collect();
    section("Scorers", "A scorer reads the transcript of a trial. Gates bound what they read.", scorers);
    let oracles = ORACLES.iter().map(|oracle| (oracle.id().to_string(), oracle.manual())).collect();
    section("Oracles", "An oracle looks for one kind of harm in every transcript, attacked or not.", oracles);
    let checks = CHECKS.iter().map(|check| (check.id().to_string(), check.manual())).collect();
    section("Checks", "A check of `smoke` reads the workspace alone.", checks);
    assert_page("docs/guide/scorers.md", &page);
}

#[test]
fn gates_page_has_every_gate_with_its_tiers() {
    let page = read_page("docs/guide/gates.md");
    let workspace = testkit::reference_workspace();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = workspace
        .gates
        .iter()
        .map(|gate| {
            let tiers: Vec<String> = gate.tiers.iter().map(ToString::to_string).collect();
            format!("| `{}` | {} | ", gate.id.value, tiers.join(", "))
        })
        .collect();
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(&expected) {
        assert!(row.starts_with(expected.as_str()), "{row}\nshould start with {expected}");
    }
}

#[test]
fn workspace_page_has_every_file_kind() {
    let page = read_page("docs/guide/workspace.md");
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let has = |part: &str| headings.iter().any(|heading| heading.split(['/', ' ', ',']).next() == Some(part));
    for (path, _) in testkit::reference_files().iter() {
        let part = path.split('/').next().unwrap_or_default();
        // Baselines have a page of their own.
        assert!(matches!(part, "golden" | "judge") || has(part), "docs/guide/workspace.md has no section on {part}");
    }
}

/// Readers of files, by the beginning of their path below `crates/model/src`, and the section that describes the file. The first that fits counts.
const READERS: &[(&str, &str)] = &[
    ("agent", "agents"),
    ("catalog/profile", "profiles"),
    ("catalog/", "tools"),
    ("coverage", "coverage.yaml"),
    ("defaults", "bardo-eval.yaml"),
    ("external_scorer", "scorers.yaml"),
    ("gate", "gates.yaml"),
    ("output", "outputs"),
    ("policy", "policy.yaml"),
    ("probe/", "probes"),
    ("production", "production.yaml"),
    ("registry", "registry"),
    ("skill", "skills"),
    ("subject", "subjects"),
    ("suite/", "suites"),
    ("tier", "tiers.yaml"),
    ("version", "version.yaml"),
    ("waiver", "bardo-eval.yaml"),
    ("workspace/suite_file", "suites"),
    ("world/", "worlds"),
];

/// Returns the keys that a reader knows: those that it asks a `YamlFields` for, which reports all others as unknown.
fn keys_of_reader(source: &str) -> BTreeSet<String> {
    let asked = Regex::new(r#"\.(?:required|required_by_policy|optional|or_default|get|has)\(\s*"([^"]+)""#).unwrap();
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    if !code.contains("YamlFields") {
        return BTreeSet::new();
    }
    asked.captures_iter(code).map(|found| found[1].to_owned()).collect()
}

/// Returns the words in the code of each section, by the first word of its heading.
fn code_words_of_sections(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let words = Regex::new("[A-Za-z_][A-Za-z0-9_]*").unwrap();
    let spans = Regex::new("`([^`\n]+)`").unwrap();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for section in page.split("\n## ").skip(1) {
        let heading = section.split(['/', ' ', ',', '\n']).next().unwrap_or_default();
        for (n, part) in section.split("\n```").enumerate() {
            // Every second part is a block of code.
            let code: Vec<&str> =
                if n % 2 == 1 { vec![part] } else { spans.captures_iter(part).map(|span| span.get(1).unwrap().as_str()).collect() };
            let code = code.into_iter().flat_map(|code| words.find_iter(code)).map(|word| word.as_str().to_owned());
            found.entry(heading.to_owned()).or_default().extend(code);
        }
    }
    found
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn workspace_page_names_every_key_of_the_readers() {
    let sections = code_words_of_sections(&read_page("docs/guide/workspace.md"));
    let root = repository().join("crates/model/src");
    let mut files = vec![];
    rust_files(&root, &mut files);
    let (mut known, mut missing) = (0, vec![]);
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let keys = keys_of_reader(&fs::read_to_string(&file).unwrap());
        if keys.is_empty() || name.starts_with("yaml/") || name.ends_with("tests.rs") {
            continue;
        }
        let (_, section) = READERS
            .iter()
            .find(|(path, _)| name.starts_with(path))
            .unwrap_or_else(|| panic!("{name} reads a file that READERS does not have"));
        known += keys.len();
        let undocumented = keys.into_iter().filter(|key| !sections[*section].contains(key));
        missing.extend(undocumented.map(|key| format!("{section}: {key} ({name})")));
    }
    assert!(known > 350, "only {known} keys were found: the readers ask for them in another way");
    assert!(missing.is_empty(), "docs/guide/workspace.md does not name\n{}", missing.join("\n"));
}

#[test]
fn manual_page_names_every_command_and_flag() {
    let page = TestFolder::new().run(&["man"]).assert_exit(0).stdout;
    assert!(page.starts_with(".TH BARDO-EVAL 1 "), "{}", page.lines().next().unwrap_or_default());
    let flags = Regex::new(r"(?m)^ +(?:-\w, )?(--[a-z-]+)").unwrap();
    let plain = page.replace("\\-", "-");
    for (verb, help) in help_texts().iter().filter(|(verb, _)| !verb.is_empty()) {
        let heading = format!("\n.SS bardo-eval {verb}");
        let section =
            plain.split(&heading).skip(1).find(|rest| rest.starts_with([' ', '\n'])).unwrap_or_else(|| panic!("no section on {verb}"));
        let section = section.split("\n.SS ").next().unwrap_or_default();
        for flag in flags.captures_iter(help.split("\nExample").next().unwrap_or_default()) {
            let own = section.contains(&flag[1]);
            // Global options are listed once, with the program.
            let global = plain.split("\n.SH COMMANDS").next().unwrap_or_default().contains(&flag[1]);
            assert!(own || global || &flag[1] == "--help", "the manual page does not name {} of {verb}", &flag[1]);
        }
    }
}
