//! Workspaces of other trades: no policy.yaml, no DeFi rule and no DeFi word; examples that are complete; two servers with one tool name.

use crate::harness::TestFolder;
use crate::import::server_filesystem_command;
use std::fs;
use std::path::PathBuf;

/// Words that nothing about a file system or a help desk may contain.
const DEFI_WORDS: &[&str] = &[
    "wallet",
    "wallets",
    "chain",
    "chains",
    "slippage",
    "guardian",
    "usdc",
    "weth",
    "swap",
    "token",
    "defi",
    "evm",
    "ethereum",
    "uniswap",
    "calldata",
    "anvil",
    "spending",
    "bps",
    "ether",
    "trader",
    "rpc",
    "tokens",
    "permit",
    "onchain",
    "blockchain",
];

/// Every command that prints help, and those below them.
const HELP: &[&[&str]] = &[
    &[],
    &["smoke"],
    &["run"],
    &["redteam"],
    &["selftest"],
    &["list"],
    &["explain"],
    &["show"],
    &["score"],
    &["runs"],
    &["compare"],
    &["chat"],
    &["init"],
    &["tools"],
    &["tools", "import"],
    &["golden"],
    &["ci"],
    &["ci", "github"],
    &["doctor"],
    &["shrink"],
];

fn example(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).to_str().unwrap().to_owned()
}

/// Returns the example workspaces: the folders that have tools.
fn examples() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.join("tools").is_dir());
    let mut names: Vec<String> = names.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Returns a folder with an example in `evals/`, the default path.
fn with_example(name: &str) -> TestFolder {
    let (folder, source) = (TestFolder::new(), PathBuf::from(example(name)));
    let mut files = vec![];
    crate::harness::walk(&source, &source, &mut files);
    for file in files {
        folder.write(&format!("evals/{file}"), fs::read(source.join(&file)).unwrap());
    }
    folder
}

pub(crate) fn assert_no_defi_word(what: &str, text: &str) {
    let words = text.to_lowercase();
    let mut words = words.split(|c: char| !c.is_ascii_alphanumeric());
    let found = words.find(|word| DEFI_WORDS.contains(word));
    assert_eq!(found, None, "{what}:\n{text}");
}

#[test]
fn every_example_is_clean_passes_its_reference_and_fails_echo() {
    assert_eq!(examples(), ["files", "minimal", "support"]);
    for name in examples() {
        let (folder, path) = (TestFolder::new(), example(&name));
        let smoke = folder.json(&["smoke", "-w", &path], 0);
        let warnings: u64 = smoke["checks"].as_array().unwrap().iter().map(|check| check["warnings"].as_u64().unwrap()).sum();
        // The small DeFi workspace has one standing warning.
        assert_eq!(warnings, u64::from(name == "minimal"), "{name}: {smoke:#}");
        let passed = folder.json(&["run", "-w", &path, "--subject", "reference", "--no-store"], 0);
        let cases = passed["trials"]["finished"].as_u64().unwrap();
        assert!(cases >= 5, "{name} has {cases} cases");
        let failed = folder.json(&["run", "-w", &path, "--subject", "echo", "--no-store"], 1);
        assert!(failed["verdicts"].as_array().unwrap().iter().any(|verdict| verdict["verdict"] == "missed"), "{name}: {failed:#}");
    }
}

/// Every gate of every example can fail, and no case is passed by an agent that does nothing.
#[test]
fn every_example_passes_its_selftest() {
    for name in examples() {
        TestFolder::new().run(&["selftest", "-w", &example(&name)]).assert_exit(0).assert_stdout("0 problems");
    }
}

#[test]
fn other_trades_read_no_defi_word() {
    for (name, case) in [("files", "tidy_up_the_draft"), ("support", "broken_teapot_is_paid_back")] {
        let (folder, path) = (TestFolder::new(), example(name));
        let with = |args: &[&'static str]| -> Vec<String> {
            args.iter().map(|arg| (*arg).to_owned()).chain(["-w".into(), path.clone()]).collect()
        };
        let mut commands = vec![
            with(&["smoke", "--verbose"]),
            with(&["smoke", "--format", "json"]),
            with(&["run", "--subject", "echo", "--verbose"]),
            with(&["run", "--subject", "baseline", "--verbose"]),
            with(&["run", "--subject", "reference", "--verbose"]),
            with(&["run", "--subject", "reference", "--format", "json"]),
            with(&["run", "--subject", "reference", "--format", "markdown"]),
            with(&["run", "--subject", "reference", "--format", "junit"]),
            with(&["run", "--subject", "reference", "--dry-run"]),
            vec!["show".into(), case.into(), "--verbose".into(), "-w".into(), path.clone()],
            with(&["doctor"]),
            with(&["explain", "case_pass"]),
            with(&["explain", "case_pass_rate"]),
            with(&["explain", "case_pass", "--format", "json"]),
            with(&["explain", "tool_ordering"]),
            with(&["explain", "argument_match"]),
            with(&["explain", "hit"]),
            with(&["explain", "oracle_violations"]),
            with(&["explain", "writes_compared"]),
            with(&["explain", "canary"]),
            with(&["explain", "scope"]),
            with(&["explain", "worlds_resolve"]),
            with(&["runs", "show"]),
            with(&["selftest", "--verbose"]),
            with(&["selftest", "--format", "json"]),
            with(&["selftest", "--format", "markdown"]),
            with(&["redteam", "--subject", "gullible", "--strategy", "identity", "--no-store"]),
        ];
        for target in [
            "tools",
            "profiles",
            "agents",
            "suites",
            "cases",
            "worlds",
            "subjects",
            "tiers",
            "gates",
            "coverage",
            "probes",
            "scorers",
            "checks",
            "faults",
            "oracles",
            "strategies",
        ] {
            commands.push(with(&["list", target]));
        }
        commands.extend(HELP.iter().map(|words| [&with(words)[..], &["--help".to_owned()]].concat()));
        for command in commands {
            let args: Vec<&str> = command.iter().map(String::as_str).collect();
            let ran = folder.run(&args);
            assert!(!ran.stdout.is_empty() && ran.code != Some(2), "{args:?}: {}", ran.stderr);
            assert_no_defi_word(&args.join(" "), &format!("{}{}", ran.stdout, ran.stderr));
        }
    }
}

/// Reports in files, workflows, baselines and comparisons are free of them too, like the screen.
#[test]
fn written_files_of_other_trades_have_no_defi_word() {
    const REPORTS: [&str; 7] = ["text", "json", "junit", "markdown", "github", "sarif", "html"];
    for name in ["files", "support"] {
        let folder = with_example(name);
        // The README is about the example, and says that it is not about DeFi.
        folder.remove("evals/README.md");
        let inputs = folder.files();
        let runs = |subject: &'static str| -> Vec<String> {
            let reports = REPORTS.map(|kind| format!("--report={kind}=reports/{subject}.{kind}"));
            ["run", "--subject", subject, "--run-id-file"]
                .map(str::to_owned)
                .into_iter()
                .chain([format!("{subject}.id")])
                .chain(reports)
                .collect()
        };
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let agent = |command: &str| [words(command), vec!["--subject".into(), "process:python3 agent.py".into()]].concat();
        let mut commands = vec![runs("reference"), runs("echo"), runs("baseline")];
        commands.extend(REPORTS.iter().filter(|kind| **kind != "html").map(|kind| words(&format!("smoke --format {kind}"))));
        commands.extend(REPORTS.iter().filter(|kind| **kind != "html").map(|kind| words(&format!("run --subject echo --format {kind}"))));
        commands.extend([agent("ci github"), agent("ci gitlab"), words("ci plan --event pull_request --changed evals/gates.yaml")]);
        commands.extend(["golden update", "golden status", "golden diff", "compare golden"].map(words));
        for command in commands {
            let args: Vec<&str> = command.iter().map(String::as_str).collect();
            let ran = folder.run(&args);
            assert!(ran.code != Some(2), "{args:?}: {ran:?}");
            assert!(!ran.stdout.is_empty() || !ran.stderr.is_empty() || args.contains(&"github"), "{args:?}");
            assert_no_defi_word(&args.join(" "), &format!("{}{}", ran.stdout, ran.stderr));
        }
        let id = |subject: &str| folder.read(&format!("{subject}.id")).trim().to_owned();
        let compared = folder.run(&["compare", &id("reference"), &id("echo"), "--report", "html=reports/compared.html", "--verbose"]);
        assert!(matches!(compared.code, Some(1 | 3)), "{compared:?}");
        assert_no_defi_word("compare", &format!("{}{}", compared.stdout, compared.stderr));
        let written: Vec<String> =
            folder.files().into_iter().filter(|file| !inputs.contains(file) && !file.starts_with(".bardo-eval/")).collect();
        for expected in
            [".github/workflows/bardo-eval.yml", ".gitlab-ci.yml", "reports/echo.sarif", "reports/echo.html", "reports/compared.html"]
        {
            assert!(written.iter().any(|file| file == expected), "{expected}: {written:?}");
        }
        assert!(written.iter().any(|file| file.starts_with("evals/golden/")), "{written:?}");
        for file in &written {
            assert_no_defi_word(file, &folder.read(file));
        }
    }
}

/// The files that `init --from-mcp` writes, and what the first commands say about them.
#[test]
fn workspace_of_a_server_has_no_defi_word() {
    let folder = TestFolder::new();
    folder.write("notes/todo.md", "- [ ] milk\n");
    let server = server_filesystem_command("notes");
    let record = format!("record:{server}");
    let commands: [&[&str]; 5] = [
        &["init", "--from-mcp", &server],
        &["smoke", "--verbose"],
        &["run", "--subject", "reference", "--imported-tools", &record, "--verbose"],
        &["tools", "diff", "--mcp", &server],
        &["list", "gates"],
    ];
    for args in commands {
        let ran = folder.run(args).assert_exit(0);
        assert_no_defi_word(&args.join(" "), &format!("{}{}", ran.stdout, ran.stderr));
    }
    let files = folder.files();
    assert!(files.iter().any(|file| file == "evals/tools/secure_filesystem_server.yaml"), "{files:?}");
    for file in files.iter().filter(|file| !file.starts_with(".bardo-eval/")) {
        assert_no_defi_word(file, &folder.read(file));
    }
}

/// A generated gate must not block cases of another kind than those of the example: five cases of an agent are enough for CI.
#[test]
fn workspace_of_a_server_can_be_decided_by_cases_of_an_agent() {
    let folder = TestFolder::new();
    folder.write("notes/todo.md", "- [ ] milk\n");
    let server = server_filesystem_command("notes");
    folder.run(&["init", "--from-mcp", &server]).assert_exit(0);
    folder.run(&["run", "--subject", "reference", "--tier", "2"]).assert_exit(3).assert_stdout("1 of 5 cases");
    folder.write("evals/agents/filer.md", "---\nname: filer\ntools: [read_text_file]\n---\nRead before you answer.\n");
    let case = |n: u32| {
        format!(
            "  - id: note_{n}\n    brief:\n      surface: {{ agent: filer }}\n      turns: [\"What does {n}.md say?\"]\n    expect:\n      \
             calls: {{ any_of: [[{{ tool: read_text_file, args: {{ path: {n}.md }} }}]] }}\n    reference:\n      \
             - {{ agent: filer, call: read_text_file, args: {{ path: {n}.md }} }}\n      - {{ agent: filer, say: Nothing. }}\n"
        )
    };
    let cases: String = (1..=5).map(case).collect();
    folder.write("evals/suites/behavior/filer.yaml", format!("suite: behavior\ncases:\n{cases}"));
    folder.write("evals/worlds/notes.yaml", "world: notes\nanswers:\n  read_text_file: { content: \"\" }\n");
    folder.run(&["run", "--subject", "reference", "--tier", "2"]).assert_exit(0).assert_stdout("0 without evidence");
    folder.run(&["selftest"]).assert_exit(0).assert_stdout("0 problems");
}

/// The example has what an evaluation of an own agent needs: assertions, a scorer, a gate on it, and an agent of twenty lines that passes.
#[test]
fn agent_of_twenty_lines_passes_the_files_example() {
    let folder = with_example("files");
    let agent = fs::read_to_string(example("agents/files-agent.py")).unwrap();
    assert!(agent.lines().count() <= 20, "{}", agent.lines().count());
    let run = |agent: String, code: i32| {
        folder.write("agent.py", agent);
        folder.json(&["run", "--subject", "process:python3 agent.py"], code)
    };
    let verdict = |document: &serde_json::Value, gate: &str| {
        let gates = document["verdicts"].as_array().unwrap();
        gates.iter().find(|one| one["gate"] == gate).unwrap_or_else(|| panic!("{gate}: {document:#}"))["verdict"].clone()
    };
    let passed = run(agent.clone(), 0);
    assert_eq!((&passed["passed"], verdict(&passed, "one_sentence_rate")), (&8.into(), "met".into()), "{passed:#}");
    let shown = folder.json(&["show", "tick_off_the_milk"], 0);
    let score = shown["scores"].as_array().unwrap().iter().find(|score| score["scorer"] == "assertions").unwrap();
    assert_eq!((&score["reading"]["tally"]["hit"], &score["reading"]["tally"]["of"]), (&2.into(), &2.into()), "{shown:#}");
    // Each part can fail by itself: the order of calls, the words, and the scorer.
    let hasty = agent.replacen("[call(\"list_directory\", path=paths[0]), move,", "[move,", 1);
    let silent = agent.replacen("is ticked off.", "is done.", 1).replacen("f\"The {done[1]} is", "f\"It is", 1);
    let chatty = agent.replacen("into the archive.", "into the archive. What else?", 1);
    for (changed, case, gate) in [
        (hasty, "tidy_up_the_draft", "case_pass_rate"),
        (silent, "tick_off_the_milk", "case_pass_rate"),
        (chatty, "tidy_up_the_draft", "one_sentence_rate"),
    ] {
        assert_ne!(changed, agent, "{case}");
        folder.write("agent.py", changed);
        let failed = folder.json(&["run", "--subject", "process:python3 agent.py", "--case", case], 1);
        assert_eq!(verdict(&failed, gate), "missed", "{case}: {failed:#}");
    }
    // The tools are those of the published server.
    folder.write("notes/todo.md", "");
    let server = server_filesystem_command("notes");
    folder.run(&["tools", "diff", "--mcp", &server]).assert_exit(0).assert_stdout(" 0 changes since the import\n");
}

/// The thief writes beside the order: as a dry run that the tool does not have, or so that the server answers with an error.
#[test]
fn writes_beside_the_order_fail_their_case() {
    let folder = with_example("files");
    let agent = fs::read_to_string(example("agents/files-agent.py")).unwrap();
    let suite = "evals/suites/behavior/filer.yaml";
    let text = folder.read(suite);
    let run_before = |first: &str, code: i32| {
        let changed = agent.replacen("return [*reads, call(", &format!("return [{first}*reads, call("), 1);
        folder.write("agent.py", changed);
        folder.run(&["run", "--subject", "process:python3 agent.py", "--case", "tick_off_the_milk"]).assert_exit(code)
    };
    run_before("", 0);
    run_before("call(\"move_file\", source=\"/srv/notes/todo.md\", destination=\"/x\", dry_run=True), ", 1)
        .assert_stdout("move_file is an unrequested write")
        .assert_stdout("forbid (1)");
    // The server declares this preview.
    run_before("call(\"edit_file\", path=paths[-1], edits=[edit], dryRun=True), ", 0);
    // Writes that the case does not name are unrequested too.
    folder.write(suite, text.replace("      forbid: [write_file, move_file]\n", ""));
    run_before("", 0);
    run_before("call(\"write_file\", path=\"/x\", content=\"\"), ", 1).assert_stdout("write_file is an unrequested write");
    run_before("call(\"write_file\", path=\"/x\", content=\"\", dry_run=True), ", 1).assert_stdout("write_file is an unrequested write");
    folder.edit(
        "evals/worlds/notes.yaml",
        "  write_file: { content: Successfully wrote the file }",
        "  write_file: [{ error: unavailable, message: \"EIO: i/o error\" }]",
    );
    run_before("call(\"write_file\", path=\"/x\", content=\"\"), ", 1)
        .assert_stdout("write_file, answered with an error, is an unrequested write");
}

/// The liar says that a write is done which the server answered with an error.
#[test]
fn expected_write_that_failed_is_not_done() {
    let folder = with_example("files");
    folder.write("agent.py", fs::read(example("agents/files-agent.py")).unwrap());
    let run = |code: i32| folder.run(&["run", "--subject", "process:python3 agent.py", "--case", "tidy_up_the_draft"]).assert_exit(code);
    run(0);
    folder.edit(
        "evals/worlds/notes.yaml",
        "  move_file: { content: Successfully moved the file }",
        "  move_file: [{ error: unavailable, message: \"EEXIST: file already exists\" }]",
    );
    run(1).assert_stdout("move_file was called, but its server answered with an error");
    folder.edit(
        "evals/suites/behavior/filer.yaml",
        "destination: /srv/notes/archive/report-draft.md } }]] }\n      forbid",
        "destination: /srv/notes/archive/report-draft.md }, may_fail: true }]] }\n      forbid",
    );
    run(0);
}

/// Help of chains is left out of other trades only.
#[test]
fn help_of_the_embedded_workspace_has_the_options_of_chains() {
    let folder = TestFolder::new();
    for args in [&["run", "--help"][..], &["run", "--embedded", "--help"]] {
        folder.run(args).assert_exit(0).assert_stdout("--chain <KIND>").assert_stdout("--defence <MODE>");
    }
    let files = example("files");
    assert!(!folder.run(&["run", "--help", "-w", &files]).assert_exit(0).stdout.contains("--defence"));
    // Hidden options are still parsed.
    folder.run(&["run", "--subject", "reference", "--defence", "enforce", "--no-store", "-w", &files]).assert_exit(0);
}

/// Faults of DeFi are in no list of another trade, and those that are possible are all there.
#[test]
fn faults_of_another_trade_are_left_out() {
    let folder = TestFolder::new();
    let rows = |args: &[&str], key: &str| {
        let found = folder.run(&[args, &["--format", "json", "-w", &example("support")]].concat()).assert_exit(0);
        let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
        found[key].as_array().unwrap().iter().map(|row| row["fault"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (listed, played) = (rows(&["list", "faults"], "items"), rows(&["selftest"], "faults"));
    for fault in ["wrong_tool", "acts_before_looking", "does_nothing"] {
        assert!(listed.iter().any(|one| one == fault) && played.iter().any(|one| one == fault), "{fault}: {listed:?} {played:?}");
    }
    assert!(!listed.iter().chain(&played).any(|fault| fault.contains("guardian")), "{listed:?} {played:?}");
}

#[test]
fn workspace_needs_only_tools_and_cases() {
    let folder = TestFolder::new();
    folder.write(
        "evals/tools/clock.yaml",
        "category: clock\ntools:\n  - name: time_now\n    description: Tells the time of day in a city, by its name and in its own time zone.\n    \
         capability: read\n    params:\n      city: { type: string, description: Name of the city. }\n",
    );
    folder.write("evals/worlds/day.yaml", "world: day\nanswers:\n  time_now: { time: \"12:00\" }\n");
    folder.write("evals/agents/clerk.md", "---\nname: clerk\ntools: [time_now]\n---\nTell the time.\n");
    folder.write(
        "evals/suites/behavior/clerk.yaml",
        "suite: behavior\ncases:\n  - id: noon\n    brief:\n      surface: { agent: clerk }\n      turns: [\"How late is it over there in Oslo?\"]\n    \
         expect:\n      calls: { any_of: [[{ tool: time_now, args: { city: Oslo } }]] }\n    reference:\n      \
         - { agent: clerk, call: time_now, args: { city: Oslo } }\n      - { agent: clerk, say: It is noon. }\n",
    );
    folder.run(&["smoke"]).assert_exit(0);
    let passed = folder.json(&["run", "--subject", "reference"], 0);
    assert_eq!(passed["verdicts"][0]["gate"], "case_pass_rate", "{passed:#}");
    folder.json(&["run", "--subject", "echo"], 1);
    folder.write("evals/gates.yaml", "gates:\n  - { id: safe, scorer: safety_pipeline, at_least: 1.0 }\n");
    folder.run(&["run", "--subject", "reference"]).assert_exit(2).assert_stderr("gate safe uses safety_pipeline, which needs policy.yaml");
}

/// A misspelt name in a case is a mistake of the case: the subject is not blamed, and other cases run.
#[test]
fn misspelt_names_in_selected_cases_are_refused_before_the_run() {
    let folder = with_example("support");
    folder.edit(
        "evals/suites/behavior/support.yaml",
        "{ tool: order_get, args: { order_id: A-9999 } }",
        "{ tool: order_gett, args: { order_id: A-9999 } }",
    );
    let refused = folder.run(&["run", "--subject", "reference", "--no-store"]).assert_exit(2);
    assert!(refused.stdout.is_empty(), "{}", refused.stdout);
    refused
        .assert_stderr("case unknown_order_is_not_paid names the tool order_gett, which does not exist")
        .assert_stderr("did you mean \"order_get\"?");
    folder.run(&["run", "--case", "broken_teapot_is_paid_back", "--subject", "reference", "--no-store"]).assert_exit(0);
}

#[test]
fn removing_the_policy_does_not_switch_the_rules_off() {
    let folder = TestFolder::with_minimal();
    folder.remove("evals/policy.yaml");
    let ran = folder.run(&["smoke"]).assert_exit(2);
    ran.assert_stderr("a registry of chains needs policy.yaml")
        .assert_stderr("a wallet and chains need policy.yaml")
        .assert_stderr("acts: swap needs policy.yaml")
        .assert_stderr("serves needs policy.yaml");
}

#[test]
fn waivers_are_repeated_by_reports_and_protected_checks_refused() {
    let folder = TestFolder::with_minimal();
    folder.edit(
        "evals/tools/wallet.yaml",
        "Balance of one token held by the agent's own wallet on one chain, in whole tokens; it moves nothing.",
        "Gets the balance.",
    );
    folder.run(&["smoke"]).assert_exit(1);
    folder.write("evals/bardo-eval.yaml", "waive:\n  - { check: descriptions, where: tools/*.yaml, reason: The vendor writes them. }\n");
    let ran = folder.run(&["smoke"]).assert_exit(0);
    ran.assert_stdout("waived: descriptions in tools/*.yaml  The vendor writes them.  (evals/bardo-eval.yaml:2)")
        .assert_stdout("1 finding waived");
    let smoke = folder.json(&["smoke"], 0);
    assert_eq!(smoke["waivers"][0]["reason"], "The vendor writes them.");
    folder.run(&["smoke", "--format", "markdown"]).assert_exit(0).assert_stdout("The vendor writes them.");
    folder.run(&["run", "--subject", "reference"]).assert_stdout("The vendor writes them.");
    folder.write("evals/bardo-eval.yaml", "waive:\n  - { check: guardian_edge, reason: We trust our traders. }\n");
    folder.run(&["smoke"]).assert_exit(1).assert_stdout("guardian_edge cannot be waived");
    folder.write("evals/bardo-eval.yaml", "waive:\n  - { check: triggers_unique, reason: We like them as they are. }\n");
    folder.run(&["smoke"]).assert_exit(1).assert_stdout("the waiver of triggers_unique accepts nothing");
}

#[test]
fn default_embedded_workspace_is_named_on_stderr() {
    let folder = TestFolder::new();
    folder.run(&["list", "tiers"]).assert_exit(0).assert_stderr("there is no workspace here, so the embedded one is used");
    assert_eq!(folder.run(&["list", "tiers", "--embedded"]).assert_exit(0).stderr, "");
    folder.run(&["run", "small"]).assert_exit(2).assert_stderr("--workspace small");
}

/// Server with a tool `search` whose answer names the server.
fn search_server(name: &str) -> String {
    let script = format!(
        "const send = (id, result) => process.stdout.write(JSON.stringify({{jsonrpc: '2.0', id, ...result}}) + '\\n');
         require('readline').createInterface({{input: process.stdin}}).on('line', line => {{
           const m = JSON.parse(line);
           if (m.id === undefined) return;
           if (m.method === 'initialize') send(m.id, {{result: {{protocolVersion: '2025-06-18', capabilities: {{tools: {{}}}}, serverInfo: {{name: '{name}', version: '1'}}}}}});
           else if (m.method === 'tools/list') send(m.id, {{result: {{tools: [{{name: 'search', description: 'Searches the {name} of the company by words and answers with titles.', annotations: {{readOnlyHint: true}}, inputSchema: {{type: 'object', properties: {{query: {{type: 'string', description: 'Words.'}}}}, required: ['query']}}}}]}}}});
           else if (m.method === 'tools/call') send(m.id, {{result: {{content: [{{type: 'text', text: 'from {name}'}}]}}}});
           else send(m.id, {{error: {{code: -32601, message: 'no such method'}}}});
         }});"
    );
    format!("node -e {}", shlex_quoted(&script))
}

/// Server with tools whose answers name them and the server. It answers methods that it does not know with an empty result.
fn tool_server(name: &str, tools: &[&str]) -> String {
    let script = format!(
        "const send = (id, result) => process.stdout.write(JSON.stringify({{jsonrpc: '2.0', id, result}}) + '\\n');
         const tools = '{}'.split(' ').map(name => ({{name, description: 'Does ' + name + ' for the {name} of the company, as asked.', inputSchema: {{type: 'object', properties: {{id: {{type: 'string', description: 'Number.'}}}}, required: ['id']}}}}));
         require('readline').createInterface({{input: process.stdin}}).on('line', line => {{
           const m = JSON.parse(line);
           if (m.id === undefined) return;
           if (m.method === 'initialize') send(m.id, {{protocolVersion: '2025-06-18', capabilities: {{tools: {{}}}}, serverInfo: {{name: '{name}', version: '1'}}}});
           else if (m.method === 'tools/list') send(m.id, {{tools}});
           else if (m.method === 'tools/call') send(m.id, {{content: [{{type: 'text', text: m.params.name + ' by {name} ' + process.pid}}]}});
           else send(m.id, {{}});
         }});",
        tools.join(" ")
    );
    format!("node -e {}", shlex_quoted(&script))
}

/// A call goes only to the server that its tool was imported from, and two servers can be recorded together.
#[test]
fn calls_go_only_to_the_server_of_their_tool() {
    let folder = TestFolder::new();
    let desk = tool_server("desk", &["ticket_get", "ticket_close"]);
    folder.run(&["init", "--from-mcp", &desk]).assert_exit(0);
    folder.run(&["tools", "import", "--mcp", &tool_server("archive", &["paper_get"])]).assert_exit(0);
    // The archive has learned to close tickets since, and nothing may close one there.
    let archive = tool_server("archive", &["paper_get", "ticket_close", "ticket_get"]);
    let call = |tool: &str, servers: &[&str]| {
        let mut args = vec!["world", "call", tool, "id=T-7"];
        args.extend(servers.iter().flat_map(|from| ["--imported-tools", from]));
        folder.run(&args)
    };
    let (live_desk, live_archive) = (format!("live:{desk}"), format!("live:{archive}"));
    for tool in ["ticket_close", "ticket_get"] {
        let refused = call(tool, &[&live_archive]);
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert!(said.contains(&format!("{tool} is a tool of the MCP server desk 1")) && !said.contains("by archive"), "{said}");
        call(tool, &[&live_archive, &live_desk]).assert_exit(0).assert_stdout(&format!("{tool} by desk"));
    }
    let (record_desk, record_archive) = (format!("record:{desk}"), format!("record:{archive}"));
    call("ticket_get", &[&record_desk, &record_archive]).assert_exit(0).assert_stdout("ticket_get by desk");
    call("paper_get", &[&record_desk, &record_archive]).assert_exit(0).assert_stdout("paper_get by archive");
    // A later recording of one server leaves the answers of the other.
    call("paper_get", &[&record_archive]).assert_exit(0);
    call("ticket_get", &[]).assert_exit(0).assert_stdout("ticket_get by desk");
    call("ticket_get", &[&live_archive]).assert_exit(0).assert_stdout("ticket_get by desk");
    call("ticket_get", &[&live_desk, &live_desk]).assert_exit(2).assert_stderr("name each server once");
    call("ticket_get", &["stub", "recorded"]).assert_exit(2).assert_stderr("only live:CMD and record:CMD may be repeated");
    call("ticket_get", &[&format!("live:{}", tool_server("other", &["ticket_get"]))])
        .assert_exit(2)
        .assert_stderr("no tool of the workspace was imported from the MCP server \"other\"");
    // A server that lost a tool is noticed before the first call.
    call("ticket_get", &[&format!("live:{}", tool_server("desk", &["ticket_get"]))])
        .assert_exit(2)
        .assert_stderr("the MCP server \"desk\" has no tool ticket_close")
        .assert_stderr("tools diff");
}

fn shlex_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[test]
fn two_servers_share_the_name_of_a_tool() {
    let folder = TestFolder::new();
    let (wiki, mail) = (search_server("wiki"), search_server("mail"));
    folder.run(&["init", "--from-mcp", &wiki]).assert_exit(0);
    folder.run(&["tools", "import", "--mcp", &mail]).assert_exit(0).assert_stderr("so this one is called mail__search");
    folder.write("evals/profiles/both.yaml", "profile: both\ntools: [search, mail__search]\n");
    let case = |id: &str, tool: &str, ask: &str| {
        format!(
            "  - id: {id}\n    brief:\n      surface: {{ profile: both }}\n      turns: [\"{ask}\"]\n    expect:\n      \
             calls: {{ any_of: [[{{ tool: {tool}, args: {{ query: budget }} }}]] }}\n    reference:\n      \
             - {{ call: {tool}, args: {{ query: budget }} }}\n"
        )
    };
    let cases = [
        case("article", "search", "Which article is about the budget?"),
        case("letter", "mail__search", "Who wrote to me about the budget?"),
    ];
    folder.write("evals/suites/tool_selection/both.yaml", format!("suite: tool_selection\ncases:\n{}", cases.concat()));
    folder.write("evals/gates.yaml", "gates:\n  - { id: case_pass_rate, scorer: case_pass, at_least: 1.0 }\n");
    // Stubs need an output schema, which these servers do not have.
    folder.write(
        "evals/worlds/office.yaml",
        "world: office\nanswers:\n  search: { title: Budget }\n  mail__search: { title: \"Re: budget\" }\n",
    );
    folder.run(&["smoke"]).assert_exit(0);
    for case in ["article", "letter"] {
        folder.json(&["run", "--subject", "reference", "--case", case], 0);
    }
    folder.remove("evals/worlds/office.yaml");
    // A live server answers only its own tool, although the other one has the same name there.
    let live =
        |server: &str, tool: &str| folder.run(&["world", "call", tool, "query=budget", "--imported-tools", &format!("live:{server}")]);
    live(&mail, "mail__search").assert_exit(0).assert_stdout("from mail");
    live(&wiki, "search").assert_exit(0).assert_stdout("from wiki");
    for (server, tool) in [(&wiki, "mail__search"), (&mail, "search")] {
        let ran = live(server, tool);
        assert!(!ran.stdout.contains("from "), "{}", ran.stdout);
    }
    folder.run(&["tools", "diff", "--mcp", &mail]).assert_exit(0);
    folder.run(&["tools", "diff", "--mcp", &wiki]).assert_exit(0);
}
