//! The road of a user with an own agent and the tools of a published server, as the first-hour guide tells it.

use super::markdown::{PageStep, page_steps};
use super::scene::PageScene;
use super::{read_page, write_file};
use crate::own_tools::assert_no_defi_word;

const PAGE: &str = "docs/guide/first-hour.md";
const AGENT_RUN: [&str; 5] = ["run", "--tier", "2", "--subject", "process:python3 agent.py"];

/// Command of the page and everything that it printed.
struct PrintedCommand {
    text: String,
    printed: String,
}

/// Follows the page. Returns the commands that ran, and the number of all commands, the installation included.
fn follow_page(scene: &PageScene) -> (Vec<PrintedCommand>, usize) {
    let (mut ran, mut typed) = (vec![], 0);
    for step in page_steps(&read_page(PAGE)) {
        match step {
            PageStep::NotRun { commands, .. } => typed += commands.len(),
            PageStep::File { path, text, is_appended, .. } => write_file(scene, &path, &text, is_appended),
            PageStep::Command { text, .. } => {
                let output = scene.run(&text);
                let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                typed += 1;
                ran.push(PrintedCommand { text, printed });
            }
        }
    }
    (ran, typed)
}

/// Five cases, two assertions, a scorer and an agent of twenty lines on `@modelcontextprotocol/server-filesystem`: a verdict and a gate in
/// CI within ten commands, smoke without a warning, and no DeFi word in anything printed or written.
#[test]
fn first_hour_ends_with_a_gate_in_ten_commands() {
    let scene = PageScene::empty();
    let (ran, typed) = follow_page(&scene);
    assert!(typed <= 10, "{typed} commands");
    for (part, expected) in [
        ("bardo-eval smoke", "0 errors, 0 warnings"),
        ("--subject reference", "PASSED  reference: 0 gates missed, 0 without evidence, 2 met"),
        ("--subject echo", "FAILED  echo"),
        ("run --subject 'process:", "PASSED  process:python3 agent.py: 0 gates missed, 0 without evidence, 2 met"),
        ("selftest", "0 problems"),
        ("run --tier 2", "PASSED  process:python3 agent.py: 0 gates missed, 0 without evidence, 2 met"),
    ] {
        let command = ran.iter().find(|one| one.text.contains(part)).unwrap_or_else(|| panic!("no command has {part}"));
        assert!(command.printed.contains(expected), "{}: {}", command.text, command.printed);
    }
    for command in &ran {
        assert_no_defi_word(&command.text, &command.printed);
    }
    let folder = &scene.folder;
    let written: Vec<String> = folder.files().into_iter().filter(|file| !file.starts_with(".bardo-eval/")).collect();
    assert!(written.iter().any(|file| file == ".github/workflows/bardo-eval.yml"), "{written:?}");
    assert!(written.iter().any(|file| file == "evals/cassettes/tools.jsonl"), "{written:?}");
    for file in &written {
        assert_no_defi_word(file, &folder.read(file));
    }
    let suite = folder.read("evals/suites/behavior/filer.yaml");
    assert_eq!((suite.matches("  - id: ").count(), suite.matches("assert: [{ type: ").count()), (5, 2), "{suite}");
    assert!(folder.read("agent.py").lines().count() <= 20);
    let document = folder.json(&AGENT_RUN, 0);
    let scorer = document["verdicts"].as_array().unwrap().iter().find(|gate| gate["gate"] == "answers_are_short").unwrap();
    assert_eq!((&scorer["verdict"], &scorer["n"]), (&"met".into(), &5.into()), "{scorer:#}");
    // The gate blocks: an agent that does not look fails the job, and so does one that talks too much.
    let agent = folder.read("agent.py");
    let change = |from: &str, to: &str| {
        assert!(agent.contains(from), "{from}");
        folder.write("agent.py", agent.replace(from, to));
        folder.run(&AGENT_RUN)
    };
    change("elif note:", "elif False:").assert_exit(1).assert_stdout("case_pass_rate");
    change("It says: ", "I looked. It says. It is: ").assert_exit(1).assert_stdout("answers_are_short");
    // A call that was not recorded is no evidence, and the report says how to record it.
    change("\"**/*.md\"", "\"*.md\"").assert_exit(3).assert_stdout("record the calls again with --imported-tools record:");
}

/// The file at the end of the page gives the agent the name that baselines need; without one the refusal says what to write.
#[test]
fn baselines_of_an_own_agent_need_the_file_that_the_page_shows() {
    let scene = PageScene::empty();
    follow_page(&scene);
    let folder = &scene.folder;
    folder.run(&AGENT_RUN).assert_exit(0);
    let refused = folder.run(&["golden", "update"]).assert_exit(2);
    refused
        .assert_stderr("write subjects/NAME.yaml with subject: NAME, provider: process, command: [python3, agent.py] and about:")
        .assert_stderr("run --subject NAME");
    folder.run(&["run", "--tier", "2", "--subject", "my-agent"]).assert_exit(0);
    folder.run(&["golden", "update"]).assert_exit(0).assert_stdout("of my-agent");
    folder.run(&["golden", "diff"]).assert_exit(0).assert_stdout("UNCHANGED");
}
