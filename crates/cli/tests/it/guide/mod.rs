//! Documentation that runs: every command of README.md and of the guides is executed in order, page by page, against the built program.
//! Commands that need a key, a network or minutes are marked on the page with a reason; a snapshot lists them.

mod first_hour;
mod markdown;
mod reference;
mod scene;

use crate::harness::TestFolder;
use markdown::{PageStep, code_spans, page_steps};
use scene::{ExpectedEnd, PageScene, RunningCommand, repository};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;

/// Defines a test for each page with commands, and the list of these pages.
macro_rules! pages {
    ($($test:ident: $file:literal in $scene:path;)*) => {
        $(#[test]
        fn $test() {
            run_page($file, &$scene());
        })*

        const PAGES: &[&str] = &[$($file),*];
    };
}

pages! {
    readme_runs: "README.md" in PageScene::empty;
    ci_guide_runs: "docs/guide/ci.md" in scene::repository_with_a_change;
    compare_guide_runs: "docs/guide/compare.md" in scene::two_runs;
    first_hour_guide_runs: "docs/guide/first-hour.md" in PageScene::empty;
    golden_guide_runs: "docs/guide/golden.md" in scene::small_workspace;
    guard_guide_runs: "docs/guide/guard.md" in scene::guard_of_the_user;
    logs_guide_runs: "docs/guide/logs.md" in scene::logs_of_others;
    models_guide_runs: "docs/guide/models.md" in scene::model_on_loopback;
    production_guide_runs: "docs/guide/production.md" in scene::agents_in_production;
    scale_guide_runs: "docs/guide/scale.md" in scene::database_of_runs;
    own_tools_guide_runs: "docs/guide/own-tools.md" in scene::server_of_notes;
    redteam_guide_runs: "docs/guide/redteam.md" in scene::one_probe;
    runs_guide_runs: "docs/guide/runs.md" in scene::runs_of_one_case;
    selftest_guide_runs: "docs/guide/selftest.md" in scene::own_workspace;
    store_guide_runs: "docs/guide/store.md" in scene::three_runs;
    subjects_guide_runs: "docs/guide/subjects.md" in scene::agents_of_every_kind;
    viewer_guide_runs: "docs/guide/viewer.md" in scene::runs_to_view;
    world_guide_runs: "docs/guide/world.md" in scene::node_of_the_user;
    write_guide_runs: "docs/guide/write.md" in PageScene::empty;
}

fn read_page(file: &str) -> String {
    fs::read_to_string(repository().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns README.md and all guides.
fn all_pages() -> Vec<String> {
    let guides = fs::read_dir(repository().join("docs/guide")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = guides.filter(|name| name.ends_with(".md")).map(|name| format!("docs/guide/{name}")).collect();
    pages.push("README.md".to_owned());
    pages.sort();
    pages
}

fn run_page(file: &str, scene: &PageScene) {
    let (mut ran, mut failed, mut running) = (0, vec![], vec![]);
    for step in page_steps(&read_page(file)) {
        match step {
            PageStep::NotRun { .. } => {}
            PageStep::File { path, text, is_appended, .. } => write_file(scene, &path, &text, is_appended),
            PageStep::Command { line, text, exit } => {
                ran += 1;
                let expected = scene.expected_exit(&text, exit);
                let at = format!("{file}:{line}");
                if let Some(long) = scene.long_command(&text) {
                    failed.extend(
                        running.extract_if(.., |one: &mut RunningCommand| one.makes_way_for(&long)).filter_map(RunningCommand::end),
                    );
                    match scene.start(&text, long, ExpectedEnd { at, exit: expected }) {
                        Ok(started) => running.push(started),
                        Err(printed) => failed.push(printed),
                    }
                    continue;
                }
                let output = scene.run(&text);
                let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                if output.status.code() != Some(expected) || stderr.contains("panicked") {
                    failed.push(format!("{at}  {text}\n{}, expected exit {expected}\n{stdout}\n{stderr}", output.status));
                }
            }
        }
    }
    // Those that end by themselves need the others until then.
    running.sort_by_key(|one| !one.ends_by_itself());
    failed.extend(running.into_iter().filter_map(RunningCommand::end));
    assert!(ran > 0, "{file} has no command that runs");
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

fn write_file(scene: &PageScene, path: &str, text: &str, is_appended: bool) {
    if is_appended {
        let file = fs::OpenOptions::new().append(true).open(scene.folder.path(path));
        file.unwrap_or_else(|error| panic!("{path}: {error}")).write_all(text.as_bytes()).unwrap();
    } else {
        scene.folder.write(path, text);
    }
}

#[test]
fn every_page_with_commands_is_run() {
    for file in all_pages() {
        let is_run = page_steps(&read_page(&file)).iter().any(|step| matches!(step, PageStep::Command { .. }));
        assert_eq!(is_run, PAGES.contains(&file.as_str()), "{file}: list it in PAGES if it has commands that run, and only then");
    }
}

#[test]
fn commands_that_are_not_run_are_few_and_have_a_reason() {
    let (mut run, mut not_run, mut listed) = (0, 0, String::new());
    for file in all_pages() {
        for step in page_steps(&read_page(&file)) {
            match step {
                PageStep::Command { .. } => run += 1,
                PageStep::File { .. } => {}
                PageStep::NotRun { commands, reason, .. } => {
                    assert!(reason.len() > 10, "{file}: {commands:?} needs a reason");
                    not_run += commands.len();
                    listed.extend(commands.iter().map(|command| format!("{file}: {command}\n    {reason}\n")));
                }
            }
        }
    }
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let text = format!("{not_run} of {} commands are not run\n\n{listed}", run + not_run);
    settings.bind(|| insta::assert_snapshot!("guide_commands_not_run", text));
    assert!(not_run * 15 < run, "{not_run} of {run}");
}

/// Returns the words of a command that name it: those before the first flag or value.
fn verb_of<'s>(words: &[&'s str], known: &BTreeMap<String, String>) -> Vec<&'s str> {
    let is_verb = |length: &usize| known.contains_key(&words[..*length].join(" "));
    let length = (1..=words.len().min(2)).rev().find(is_verb).unwrap_or(0);
    words[..length].to_vec()
}

/// Returns the help of every command by its words.
fn help_texts() -> BTreeMap<String, String> {
    let folder = TestFolder::new();
    let mut texts = BTreeMap::new();
    let mut open = vec![vec![]];
    while let Some(verb) = open.pop() {
        let args: Vec<&str> = verb.iter().map(String::as_str).chain(["--help"]).collect();
        let help = folder.run(&args).assert_exit(0).stdout;
        let below = help.split("Commands:\n").nth(1).map(|rest| rest.split("\n\n").next().unwrap_or_default()).unwrap_or_default();
        let names = below
            .lines()
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next());
        open.extend(names.filter(|name| *name != "help").map(|name| [&verb[..], &[name.to_owned()]].concat()));
        texts.insert(verb.join(" "), help);
    }
    texts
}

#[test]
fn commands_in_sentences_and_tables_exist() {
    let known = help_texts();
    assert!(known.len() > 25, "{:?}", known.keys());
    let mut checked = 0;
    for file in all_pages() {
        for span in code_spans(&read_page(&file), "bardo-eval") {
            let words: Vec<&str> = span.split(' ').skip(1).collect();
            let Some(first) = words.first() else { continue };
            let verb = verb_of(&words, &known);
            assert!(!verb.is_empty() || first.starts_with('-'), "{file}: `{span}` is not a command");
            let help = &known[&verb.join(" ")];
            for flag in words.iter().filter(|word| word.starts_with("--")) {
                let flag = flag.split(['=', ']', ',']).next().unwrap_or_default();
                assert!(help.contains(flag), "{file}: `{span}`: {} has no {flag}", verb.join(" "));
            }
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
    // Each command is in the table of README.md.
    let readme = read_page("README.md");
    for verb in known.keys().filter(|verb| !verb.is_empty() && !verb.contains(' ') && *verb != "completions") {
        assert!(readme.contains(&format!("bardo-eval {verb}")) || readme.contains(&format!("`{verb}")), "README.md lacks {verb}");
    }
}
