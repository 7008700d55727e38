//! Reference pages are what the source says: commands and flags, scorers, oracles and checks, gates and the files of a workspace.
//! `BLESS=1` writes the generated pages again.

use super::scene::repository;
use super::{help_texts, read_page};
use score::checks::CHECKS;
use score::oracles::ORACLES;
use score::scorers::SCORERS;
use std::fmt::Write;
use std::fs;

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
        // Baselines have a page of their own, and so have probes.
        assert!(matches!(part, "golden" | "probes" | "judge") || has(part), "docs/guide/workspace.md has no section on {part}");
    }
}
