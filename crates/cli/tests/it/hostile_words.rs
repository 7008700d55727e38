//! Words of agents, models and vendors in every report: they end no document, steer no terminal, start no workflow command and put no markup
//! into a summary.

use crate::formats::xml_elements;
use crate::harness::{ProgramOutput, TestFolder};
use serde_json::{Value, json};
use std::sync::mpsc;
use std::thread;
use testkit::{LoopbackServer, VendorReply, chat};

/// Texts that programs which read reports act on. Each has the word "evil", by which it is found.
const HOSTILE: [&str; 9] = [
    "::error::evil",
    "  ::stop-commands::evil",
    "evil \n::add-mask::evil\n  ::set-env name=PATH::evil",
    "##[error]evil ##vso[task.complete]evil",
    "]]>evil\u{0}\u{fffe}\u{ffff}\u{1b}[31m\u{9b}31m",
    "<img src=x>evil<script>alert(1)</script>",
    "[evil](javascript:alert(1)) \\[evil\\](javascript:alert(2)) <https://evil.example> https://evil.example www.evil.example",
    "evil \u{202e}\u{2066}\u{200b}\u{feff}\u{e0041} \u{a0}::warning::evil",
    "`evil` | evil | @everyone %0A::error::evil",
];
/// Formats of the result of a run.
const FORMATS: [&str; 6] = ["text", "json", "junit", "markdown", "github", "sarif"];
/// Starts of the lines that are workflow commands of our own.
const OWN_COMMANDS: [&str; 3] = ["::error ", "::warning ", "::notice "];

/// Returns true for characters that a terminal acts on, or that do not show what is there.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
        || ('\u{e0000}'..='\u{e007f}').contains(&c)
}

/// Asserts what holds for any output: nothing hidden, and nothing that a runner of CI reads as a command.
#[track_caller]
fn assert_no_commands(what: &str, text: &str) {
    assert!(!text.chars().any(is_hidden), "{what}: {text:?}");
    for line in text.lines() {
        assert!(!line.trim_start().starts_with("::"), "{what}: {line}");
        assert!(!["##[", "##vso["].iter().any(|start| line.contains(start)), "{what}: {line}");
    }
}

/// Asserts that a Markdown text has no HTML but ours, no link and no address that becomes one.
#[track_caller]
fn assert_no_markup(text: &str) {
    let plain = ["<details>", "</details>", "<summary>", "</summary>"].iter().fold(text.to_owned(), |text, own| text.replace(own, ""));
    // Code spans show their text as it is.
    let plain: String = plain.lines().map(|line| line.split('`').step_by(2).collect::<String>() + "\n").collect();
    assert!(!plain.contains('<') && !plain.contains("://") && !plain.contains("www."), "{plain}");
    for (at, _) in plain.match_indices("](") {
        let backslashes = plain[..at].chars().rev().take_while(|c| *c == '\\').count();
        assert_eq!(backslashes % 2, 1, "a link: {}", &plain[at.saturating_sub(40)..]);
    }
}

/// Asserts that a result is well formed, harmless, and still has the words.
#[track_caller]
fn assert_harmless(format: &str, text: &str) {
    match format {
        "github" => {
            for line in text.lines() {
                let own = OWN_COMMANDS.iter().find_map(|own| line.strip_prefix(own));
                let rest = own.unwrap_or_else(|| panic!("not an annotation of ours: {line}"));
                let (properties, message) = rest.split_once("::").expect("the end of the properties");
                assert_no_commands("github", properties);
                assert_no_commands("github", message);
            }
        }
        "json" | "sarif" => {
            assert_no_commands(format, text);
            serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{format}: {error}: {text}"));
        }
        "junit" => {
            assert_no_commands(format, text);
            assert!(xml_elements(text).contains(&"testcase".to_owned()), "{text}");
        }
        "markdown" => {
            assert_no_commands(format, text);
            assert_no_markup(text);
        }
        _ => assert_no_commands(format, text),
    }
}

/// Runs the arguments in every format and returns the outputs.
#[track_caller]
fn run_in_all_formats(folder: &TestFolder, args: &[&str]) -> Vec<(&'static str, ProgramOutput)> {
    let run = |format: &'static str| {
        let ran = folder.run_with_variable(&[args, &["--format", format]].concat(), "COLUMNS", "40");
        assert!(matches!(ran.code, Some(1 | 3)), "{ran:?}");
        assert_harmless(format, &ran.stdout);
        assert_no_commands("stderr", &ran.stderr);
        (format, ran)
    };
    FORMATS.map(run).into()
}

/// Writes an agent that logs the texts, calls tools of these names, delegates to them and says them. `last` runs before each answer.
fn write_agent(folder: &TestFolder, name: &str, last: &str) {
    let all = HOSTILE.join("\n");
    let calls: Vec<Value> = HOSTILE.iter().map(|text| json!({ "tool": text, "args": { (*text): [text] } })).collect();
    let moves = json!([
        { "call": calls },
        { "delegate": { "to": all, "params": { all.as_str(): all } } },
        { "say": all, "claims": [{ "reported": { "text": all } }] },
    ]);
    let script = format!(
        "import readline from 'node:readline'\nconst moves = {moves}\nprocess.stderr.write({} + '\\n')\nlet n = 0\nfor await (const line of readline.createInterface({{ input: process.stdin }})) {{\n  {last}\n  process.stdout.write(JSON.stringify(moves[Math.min(n++, moves.length - 1)]) + '\\n')\n}}\n",
        json!(all)
    );
    folder.write(&format!("{name}.mjs"), script);
    let file = format!("subject: {name}\nprovider: process\ncommand: [node, {name}.mjs]\nabout: A test.\n");
    folder.write(&format!("evals/subjects/{name}.yaml"), file);
}

#[test]
fn words_of_an_agent_are_harmless_in_every_format() {
    let folder = TestFolder::with_minimal();
    write_agent(&folder, "hostile", "");
    for (format, ran) in
        run_in_all_formats(&folder, &["run", "--subject", "hostile", "--report", "html=page.html", "--run-id-file", "id.txt"])
    {
        // The screen names the worst cases, and with --verbose their reasons.
        assert!(ran.stdout.contains("evil") || format == "text", "{format}: {}", ran.stdout);
    }
    for (format, ran) in run_in_all_formats(&folder, &["score", "--verbose"]) {
        assert!(ran.stdout.contains("evil"), "{format}: {}", ran.stdout);
    }
    let page = folder.read("page.html");
    assert!(page.contains("evil") && !page.chars().any(is_hidden), "{page}");
    for markup in ["<img src=x", "<script>alert", "href=\"javascript:", "href=\"https://evil"] {
        assert!(!page.contains(markup), "{markup}");
    }
    for args in [&["show", "sell_usdc_for_ether"][..], &["show", "sell_usdc_for_ether", "--verbose"], &["show", "how_much_usdc"]] {
        let shown = folder.run_with_variable(args, "COLUMNS", "40").assert_exit(0).assert_stdout("stderr of the agent");
        assert_harmless("text", &shown.stdout);
        assert!(shown.stdout.contains("\\::stop-commands::evil"), "{}", shown.stdout);
    }
    folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    let compared = folder.run(&["compare", "--verbose", folder.read("id.txt").trim()]).assert_stdout("by former cause");
    assert_no_commands("compare", &format!("{}{}", compared.stdout, compared.stderr));
}

/// The first trial of an agent that crashes stops the run, which then shows what it logged.
#[test]
fn words_of_an_agent_that_crashes_are_harmless() {
    let folder = TestFolder::with_minimal();
    write_agent(&folder, "crashing", "process.exit(3)");
    for (format, ran) in run_in_all_formats(&folder, &["run", "--subject", "crashing"]) {
        assert!(ran.stderr.contains("stderr of the agent") && ran.stderr.contains("\\::stop-commands::evil"), "{format}: {}", ran.stderr);
    }
}

/// Serves errors with these texts and returns the base URL; the server lives as long as the process.
fn serve_errors(status: u16) -> String {
    let (started, url) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let body = json!({ "error": { "message": HOSTILE.join("\n"), "type": HOSTILE[0], "code": HOSTILE[3] } }).to_string();
            let server = LoopbackServer::start(move |_, _| VendorReply::status(status, body.clone())).await;
            started.send(format!("{}/v1", server.url)).unwrap();
            std::future::pending::<()>().await;
        });
    });
    url.recv().unwrap()
}

#[test]
fn words_of_a_vendor_are_harmless_in_every_format() {
    let folder = TestFolder::with_minimal();
    folder.write("evals/subjects/vendor.yaml", chat::subject_file("vendor", &serve_errors(400)));
    let run = ["run", "--subject", "vendor", "--budget", "5", "--trials", "4"];
    for (format, ran) in run_in_all_formats(&folder, &run) {
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("evil"), "{format}: {said}");
    }
    let shown = folder.run_with_variable(&["show", "how_much_usdc"], "COLUMNS", "40").assert_exit(0).assert_stdout("evil");
    assert_harmless("text", &shown.stdout);
}
