//! Output formats: text, JSON, JUnit, Markdown; standard output or a file; colours.

use crate::harness::TestFolder;

const ESC: char = '\u{1b}';

/// Returns a workspace with one failing check.
fn with_failing_workspace() -> TestFolder {
    let folder = TestFolder::with_reference();
    folder.edit("evals/gates.yaml", "scorer: disambiguation", "scorer: disambigution");
    folder
}

/// Checks that XML is well-formed: one root, nested tags, known entities, no bare `<` or `&`.
/// Returns the names of all elements.
pub(crate) fn xml_elements(xml: &str) -> Vec<String> {
    let mut rest = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("an XML declaration").trim();
    let (mut open, mut names): (Vec<String>, Vec<String>) = (vec![], vec![]);
    while !rest.is_empty() {
        let (text, after) = rest.split_once('<').unwrap_or((rest, ""));
        assert!(!open.is_empty() || text.trim().is_empty(), "text outside of the root: {text}");
        assert_xml_entities(text);
        if after.is_empty() {
            break;
        }
        let (tag, after) = after.split_once('>').expect("a tag that ends");
        assert!(!tag.contains('<'), "a bare < in {tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else {
            let name = tag.split([' ', '/']).next().unwrap().to_owned();
            assert!(!open.is_empty() || names.is_empty(), "a second root: {name}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            assert_xml_entities(tag);
            names.push(name.clone());
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        rest = after;
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    names
}

fn assert_xml_entities(text: &str) {
    for (at, _) in text.match_indices('&') {
        let name = text[at + 1..].split(';').next().unwrap();
        assert!(["lt", "gt", "amp", "quot", "apos"].contains(&name) || name.starts_with('#'), "&{name}");
    }
}

fn count(names: &[String], name: &str) -> usize {
    names.iter().filter(|one| *one == name).count()
}

#[test]
fn junit_of_smoke_has_one_case_per_check() {
    let folder = with_failing_workspace();
    let checks = folder.list("checks").len();
    let clean = xml_elements(&folder.run(&["smoke", "--embedded", "--format", "junit"]).assert_exit(0).stdout);
    assert_eq!((count(&clean, "testcase"), count(&clean, "failure")), (checks, 0));
    let ran = folder.run(&["smoke", "--format", "junit"]).assert_exit(1).assert_stdout("disambigution");
    let failing = xml_elements(&ran.stdout);
    assert_eq!((count(&failing, "testcase"), count(&failing, "failure")), (checks, 1));
}

#[test]
fn unsupported_report_format_is_refused() {
    let folder = TestFolder::new();
    for format in ["junit", "markdown"] {
        for command in [&["list", "tools"][..], &["doctor"], &["world", "show"]] {
            let ran = folder.run(&[command, &["--format", format]].concat()).assert_exit(2).assert_stderr("[possible values: text, json]");
            assert!(ran.stdout.is_empty());
        }
    }
}

#[test]
fn junit_of_a_run_has_gates_and_trials() {
    let folder = TestFolder::new();
    let clean = xml_elements(&folder.run(&["run", "--subject", "reference", "--no-store", "--format", "junit"]).assert_exit(0).stdout);
    assert_eq!((count(&clean, "testsuite"), count(&clean, "failure"), count(&clean, "error")), (2, 0, 0));
    let ran = folder.run(&["run", "--no-store", "--subject", "echo", "--format", "junit"]).assert_exit(1);
    let names = xml_elements(&ran.stdout);
    assert!(count(&names, "failure") > 10 && count(&names, "error") > 0, "{}", ran.stdout);
    ran.assert_stdout("no tool was called; expected get_tokenjar_balances");
}

#[test]
fn junit_of_problems_is_well_formed_xml() {
    let folder = TestFolder::with_minimal();
    folder.write("evals/gates.yaml", "gates: []\n\"]]> <b a='\\e[31m'>&amp; &\\x01 \": 1\n");
    let ran = folder.run(&["smoke", "--format", "junit"]).assert_exit(2);
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    let names = xml_elements(&ran.stdout);
    assert_eq!((count(&names, "testcase"), count(&names, "error")), (1, 1), "{}", ran.stdout);
    assert!(!ran.stdout.chars().any(|c| c.is_control() && c != '\n'), "{:?}", ran.stdout);
}

#[test]
fn github_annotations_escape_hostile_text() {
    let folder = TestFolder::with_minimal();
    folder.write("evals/gates.yaml", "gates: []\n\"a%\\n::error::x\\e\": 1\n");
    folder.write("evals/a,b:c.txt", "");
    let ran = folder.run(&["smoke", "--format", "github"]).assert_exit(2);
    let [name, text] = ran.stdout.lines().collect::<Vec<_>>()[..] else { panic!("{}", ran.stdout) };
    assert!(name.starts_with("::error file=evals/a%2Cb%3Ac.txt,line=1,title=bardo-eval::nothing reads this file"), "{name}");
    assert!(text.contains("\"a%25%0A\\::error::x\u{fffd}\""), "{text}");
}

#[test]
fn markdown_table_rows_have_equal_cell_counts() {
    let folder = with_failing_workspace();
    for (args, code, title, head) in [
        (&["smoke"][..], 1, "## Smoke failed", "| check | where | what | remedy |"),
        (
            &["run", "--no-store", "--subject", "echo", "--embedded", "--suite", "tool_selection/data"],
            1,
            "## Gates",
            "| gate | slice | value | 95 % interval | bound | n | verdict | note |",
        ),
        (&["smoke", "-w", "nowhere"], 2, "## smoke: nothing was run", "| where | what | remedy |"),
    ] {
        let ran = folder.run(&[args, &["--format", "markdown"]].concat()).assert_exit(code);
        let ran = ran.assert_stdout(title).assert_stdout(&format!("{head}\n|---|"));
        for line in ran.stdout.lines().filter(|line| line.starts_with('|')) {
            let cells = line.replace("\\|", "").matches('|').count();
            assert_eq!(cells, head.matches('|').count(), "{line}");
        }
    }
    folder.run(&["run", "--no-store", "--subject", "echo", "--embedded", "--format", "markdown"]).assert_stdout("### Worst cases\n");
}

#[test]
fn problems_are_reported_as_json() {
    let folder = TestFolder::with_reference();
    let line = folder.edit("evals/gates.yaml", "min_cases: 74", "min_cases: many");
    let document = folder.json(&["smoke"], 2);
    let problem = &document["problems"][0];
    assert_eq!((&problem["file"], &problem["line"]), (&"evals/gates.yaml".into(), &line.into()), "{document:#}");
    assert_eq!(document["command"], "smoke");
}

#[test]
fn output_flag_writes_file_and_leaves_stdout_empty() {
    let folder = TestFolder::new();
    for format in ["text", "json", "junit", "markdown"] {
        // Lists have no JUnit or Markdown, which another test covers.
        let lists = matches!(format, "text" | "json").then_some((&["list", "gates", "--embedded"][..], 0));
        let reports = [(&["smoke", "--embedded"][..], 0), (&["run", "--no-store", "--subject", "echo", "--embedded"], 1)];
        for (args, code) in reports.into_iter().chain(lists) {
            let printed = folder.run(&[args, &["--format", format]].concat()).assert_exit(code);
            let filed = folder.run(&[args, &["--format", format, "-o", "out/result"]].concat()).assert_exit(code);
            assert!(filed.stdout.is_empty(), "{filed:?}");
            let verdict = if args[0] == "run" { "FAILED  echo: " } else { "" };
            assert!(filed.stderr.starts_with(verdict) && filed.stderr.lines().count() <= 1, "{filed:?}");
            assert_eq!(without_times(&folder.read("out/result")), without_times(&printed.stdout), "{args:?} {format}");
        }
    }
    assert_eq!(folder.files(), ["out/result"], "no temporary file is left");
}

/// Removes durations and dates, which differ between two runs.
fn without_times(text: &str) -> String {
    let is_date = |word: &str| word.starts_with("20") && word.contains('T') && word.ends_with('Z');
    let untimed = |line: &str| match line.split_once(" time=\"") {
        Some((before, after)) => format!("{before}{}", after.split_once('"').unwrap().1),
        None => line.split("; took ").next().unwrap().split([' ', '"', ',']).filter(|word| !is_date(word)).collect::<Vec<_>>().join(" "),
    };
    text.lines().map(untimed).collect::<Vec<_>>().join("\n")
}

#[test]
fn unwritable_output_file_is_not_clean() {
    let folder = TestFolder::new();
    std::fs::create_dir(folder.path("folder")).unwrap();
    folder.run(&["smoke", "-o", "folder"]).assert_exit(3).assert_stderr("the result could not be written to folder");
    folder
        .run(&["run", "--no-store", "--subject", "echo", "-o", "folder"])
        .assert_exit(2)
        .assert_stderr("--output folder is a folder; name a file")
        .assert_stderr("nothing was run");
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[test]
fn color_flag_and_no_color_are_respected() {
    let folder = with_failing_workspace();
    let run = ["run", "--no-store", "--subject", "echo", "--embedded", "--suite", "tool_selection/data"];
    for args in [&["smoke"][..], &run, &["doctor"], &["explain", "graph_acyclic"]] {
        let with = |color: &[&str]| folder.run(&[args, color].concat()).stdout;
        let plain = with(&[]);
        assert!(!plain.contains(ESC), "{args:?}");
        assert_eq!(without_times(&with(&["--color", "never"])), without_times(&plain));
        let painted = with(&["--color", "always"]);
        assert!(painted.contains(ESC), "{args:?}");
        assert_eq!(without_times(&strip_ansi(&painted)), without_times(&plain), "{args:?}");
    }
    for format in ["json", "junit", "markdown"] {
        assert!(!folder.run(&["smoke", "--format", format, "--color", "always"]).stdout.contains(ESC), "{format}");
    }
}

fn strip_ansi(text: &str) -> String {
    let mut parts = text.split(ESC);
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
}

#[test]
fn closed_stdout_is_not_a_failure() {
    let folder = TestFolder::new();
    let script = format!(
        "'{}' list tools --embedded | head -n 1; '{}' smoke --embedded --format json | true",
        env!("CARGO_BIN_EXE_bardo-eval"),
        env!("CARGO_BIN_EXE_bardo-eval")
    );
    let ran = std::process::Command::new("sh").args(["-c", &script]).current_dir(folder.path(".")).output().unwrap();
    assert!(ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn verbose_lists_all_warnings() {
    let folder = TestFolder::new();
    let short = folder.run(&["smoke"]).assert_exit(0).assert_stdout("more; --verbose shows more").stdout;
    let long = folder.run(&["smoke", "--verbose"]).assert_exit(0).stdout;
    assert!(long.lines().count() > short.lines().count() && !long.contains("--verbose"), "{long}");
}
