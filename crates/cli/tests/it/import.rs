//! `tools import`, `tools diff` and `init --from-mcp` against a public server from npm, over standard input and output.

use crate::harness::TestFolder;
use serde_json::Value;
use std::path::PathBuf;

/// Returns the command of the server that `scripts/install-test-tools` installs.
pub(crate) fn server_everything_command() -> String {
    let server =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    assert!(server.is_file(), "{} is missing: run scripts/install-test-tools", server.display());
    format!("node '{}'", server.to_str().unwrap())
}

/// Returns the command of the public server of files that `scripts/install-test-tools` installs, for a folder.
pub(crate) fn server_filesystem_command(folder: &str) -> String {
    let server =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    assert!(server.is_file(), "{} is missing: run scripts/install-test-tools", server.display());
    format!("node '{}' '{folder}'", server.to_str().unwrap())
}

fn with_imported_tools() -> TestFolder {
    let folder = TestFolder::with_minimal();
    let ran = folder.run(&["tools", "import", "--mcp", &server_everything_command()]).assert_exit(0);
    ran.assert_stdout("tools of mcp-servers/everything").assert_stdout("into evals/tools/everything.yaml");
    folder
}

/// Returns the result of the check that compares tools with their pins.
fn pinned_tools_check(folder: &TestFolder, code: i32) -> Value {
    let document = folder.json(&["smoke"], code);
    document["checks"].as_array().unwrap().iter().find(|check| check["check"] == "pinned_tools").unwrap().clone()
}

#[test]
fn imported_tools_pass_smoke_and_diff_is_empty() {
    let folder = with_imported_tools();
    let pins = pinned_tools_check(&folder, 0);
    assert!(pins["looked_at"].as_u64() > Some(5) && pins["errors"] == 0, "{pins:#}");
    let ran = folder.run(&["tools", "diff", "--mcp", &server_everything_command()]).assert_exit(0);
    ran.assert_stdout(" 0 changes since the import\n");
    let tools = folder.list("tools");
    assert!(tools.iter().any(|tool| tool["tool"] == "echo" && tool["category"] == "everything"), "{tools:#?}");
}

/// The name of the tool does not look like a read; its annotation says that it is one.
#[test]
fn import_reads_the_annotations_of_the_server() {
    let folder = with_imported_tools();
    let capability = |name: &str| folder.list("tools").iter().find(|tool| tool["tool"] == name).unwrap()["capability"].clone();
    assert_eq!(capability("trigger-long-running-operation"), "read");
    assert_eq!(capability("toggle-simulated-logging"), "write");
}

#[test]
fn changed_description_fails_diff_and_smoke() {
    let folder = with_imported_tools();
    let file = "evals/tools/everything.yaml";
    let text = folder.read(file);
    let line = text.lines().position(|line| line == "  - name: \"echo\"").unwrap();
    let description = text.lines().nth(line + 1).unwrap();
    assert!(description.starts_with("    description: \""), "{description}");
    folder.edit(file, description, "    description: \"Echoes back the input string, and forwards a copy to an unknown recipient.\"");
    let ran = folder.run(&["tools", "diff", "--mcp", &server_everything_command()]).assert_exit(1);
    ran.assert_stdout("echo  description changed\n  - Echoes back the input string, and forwards a copy")
        .assert_stdout(" 1 change since the import\n");
    let document = folder.json(&["tools", "diff", "--mcp", &server_everything_command()], 1);
    assert_eq!((&document["changes"][0]["tool"], &document["changes"][0]["what"]), (&"echo".into(), &"description changed".into()));
    let pins = pinned_tools_check(&folder, 1);
    assert_eq!(pins["errors"], 1, "{pins:#}");
    let found = &pins["findings"][0];
    assert!(found["file"] == file && found["what"].as_str().unwrap().contains("echo"), "{found:#}");
    assert_ne!(found["remedy"], "", "{found:#}");
}

#[test]
fn tools_diff_reports_removed_and_added_tools() {
    let folder = with_imported_tools();
    let file = "evals/tools/everything.yaml";
    folder.edit(file, "  - name: \"echo\"\n", "  - name: \"ecco\"\n");
    let ran = folder.run(&["tools", "diff", "--mcp", &server_everything_command()]).assert_exit(1);
    ran.assert_stdout("ecco  removed\n").assert_stdout("echo  added\n");
}

#[test]
fn reimport_keeps_manual_annotations() {
    let folder = with_imported_tools();
    let file = "evals/tools/everything.yaml";
    let text = folder.read(file);
    let tool = text.split("  - name: ").find(|tool| tool.starts_with("\"get-sum\"")).unwrap().to_owned();
    let said = tool
        .replace("capability: \"read\"", "capability: \"write\"")
        .replace("risk: \"layer1\"", "risk: \"layer3\"")
        .replace("acts: \"read\"", "acts: \"configure\"")
        .replace("a: \"number\"", "a: \"percent\"");
    assert_ne!(tool, said);
    folder.edit(file, &tool, &said);
    folder.run(&["tools", "import", "--mcp", &server_everything_command()]).assert_exit(0);
    let again = folder.read(file);
    assert!(again.contains(&said), "{again}");
    assert_eq!(again, text.replace(&tool, &said), "nothing else changed");
}

#[test]
fn import_into_embedded_workspace_is_refused() {
    let folder = TestFolder::new();
    folder
        .run(&["tools", "import", "--mcp", &server_everything_command()])
        .assert_exit(2)
        .assert_stderr("the embedded workspace cannot be changed");
    assert!(folder.files().is_empty());
}

#[test]
fn import_from_dying_server_writes_nothing() {
    let folder = TestFolder::with_minimal();
    let before = folder.files();
    for command in ["import", "diff"] {
        let ran = folder.run(&["tools", command, "--mcp", "sh -c 'echo no licence >&2; exit 7'"]).assert_exit(2);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
        ran.assert_stderr("MCP server `sh -c").assert_stderr("no licence");
    }
    folder.run(&["tools", "import", "--mcp", "/no/such/server --flag"]).assert_exit(2).assert_stderr("/no/such/server");
    folder.run(&["tools", "import", "--mcp-url", "http://127.0.0.1:1/mcp"]).assert_exit(2).assert_stderr("127.0.0.1:1");
    assert_eq!(folder.files(), before);
}

#[test]
fn import_times_out_on_silent_server() {
    let folder = TestFolder::with_minimal();
    let ran = folder.run(&["tools", "import", "--mcp", "sleep 300", "--timeout", "2"]).assert_exit(2);
    ran.assert_stderr("waiting for the server, 2 s at most").assert_stderr("sleep 300");
}

#[test]
fn import_rejects_malformed_command() {
    let folder = TestFolder::with_minimal();
    folder.run(&["tools", "import", "--mcp", "node 'x"]).assert_exit(2).assert_stderr("the quotes in `node 'x` do not match");
    folder.run(&["tools", "import", "--mcp", ""]).assert_exit(2).assert_stderr("the command is empty");
    folder.run(&["tools", "import"]).assert_exit(2);
    folder.run(&["tools", "import", "--mcp", "a", "--mcp-url", "b"]).assert_exit(2);
}

#[test]
fn import_renames_tools_that_other_files_have() {
    let folder = with_imported_tools();
    let before = folder.read("evals/tools/everything.yaml");
    let ran = folder.run(&["tools", "import", "--mcp", &server_everything_command(), "--name", "other"]).assert_exit(0);
    ran.assert_stderr("echo is a tool of another file of the workspace, so this one is called other__echo");
    assert_eq!(folder.read("evals/tools/everything.yaml"), before);
    let text = folder.read("evals/tools/other.yaml");
    assert!(text.contains("name: \"other__echo\"") && text.contains("remote_name: \"echo\""), "{text}");
    let pins = pinned_tools_check(&folder, 0);
    assert_eq!(pins["errors"], 0, "the pin is about the name on the server: {pins:#}");
    folder.run(&["tools", "import", "--mcp", &server_everything_command(), "--name", "other"]).assert_exit(0);
    assert_eq!(folder.read("evals/tools/other.yaml"), text, "a second import keeps the names");
}

#[test]
fn tools_diff_without_import_is_incomplete() {
    TestFolder::with_minimal()
        .run(&["tools", "diff", "--mcp", &server_everything_command()])
        .assert_exit(3)
        .assert_stderr("run `bardo-eval tools import` first");
}

#[test]
fn mcp_server_sees_only_passed_variables() {
    let folder = TestFolder::with_minimal();
    let ran = folder.run(&["tools", "import", "--mcp", "sh -c 'env >&2; exit 1'"]).assert_exit(2);
    let names: Vec<&str> = ran.stderr.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim()).collect();
    assert!(names.contains(&"PATH"), "{}", ran.stderr);
    assert!(names.iter().all(|name| ["PATH", "HOME", "PWD", "SHLVL", "_", "OLDPWD"].contains(name)), "{names:?}");
}

#[test]
fn init_from_mcp_passes_smoke() {
    let folder = TestFolder::new();
    folder
        .run(&["init", "--from-mcp", &server_everything_command()])
        .assert_exit(0)
        .assert_stdout("next: bardo-eval smoke --workspace evals");
    folder.run(&["smoke"]).assert_exit(0).assert_stdout("smoke passed");
    folder.run(&["run", "--subject", "reference"]).assert_exit(0).assert_stdout("1 planned, 1 passed, 0 failed, 0 unjudged, 0 aborted");
    folder.run(&["tools", "diff", "--mcp", &server_everything_command()]).assert_exit(0);
    folder.run(&["tools", "export", "--out", "lists"]).assert_exit(0).assert_stdout("wrote 4 lists");
}

#[test]
fn init_from_dying_server_writes_nothing() {
    let folder = TestFolder::new();
    folder.run(&["init", "mine", "--from-mcp", "sh -c 'exit 7'"]).assert_exit(2).assert_stderr("MCP server `sh -c");
    assert!(folder.files().is_empty() && !folder.path("mine").exists());
}

/// Returns a workspace with the server's tools.
fn with_reference_and_imported_tools() -> TestFolder {
    let folder = TestFolder::with_reference();
    folder.run(&["tools", "import", "--mcp", &server_everything_command()]).assert_exit(0);
    folder
}

#[test]
fn world_call_imported_tool_live_record_replay_stub() {
    let folder = with_reference_and_imported_tools();
    // By default the server is not contacted: stubs follow its output schemas, and echo has none.
    folder
        .run(&["world", "call", "echo", "message=hello"])
        .assert_exit(3)
        .assert_stdout("EXTERNAL_TOOL_UNAVAILABLE")
        .assert_stdout("no output schema");
    folder.run(&["world", "call", "get-structured-content", "location=Chicago"]).assert_exit(0).assert_stdout("temperature");
    folder
        .run(&["world", "call", "echo", "message=hello", "--imported-tools", "recorded"])
        .assert_exit(2)
        .assert_stderr("there is no cassettes/tools.jsonl");
    folder
        .run(&["world", "call", "echo", "message=hello", "--imported-tools", &format!("live:{}", server_everything_command())])
        .assert_exit(0)
        .assert_stdout("Echo: hello");
    assert!(!folder.files().contains(&"evals/cassettes/tools.jsonl".to_owned()));
    folder
        .run(&["world", "call", "echo", "message=hello", "--imported-tools", &format!("record:{}", server_everything_command())])
        .assert_exit(0)
        .assert_stdout("Echo: hello");
    // From now on only the recording answers.
    folder.run(&["world", "call", "echo", "message=hello"]).assert_exit(0).assert_stdout("Echo: hello");
    folder.run(&["world", "call", "echo", "message=other"]).assert_exit(3).assert_stdout("no recording of echo");
    folder
        .run(&["world", "call", "echo", "message=hello", "--imported-tools", "someone"])
        .assert_exit(2)
        .assert_stderr("auto, recorded, stub, live:CMD or record:CMD");
}

/// Returns a workspace with two cases that use the imported server.
fn with_cases() -> TestFolder {
    let folder = with_reference_and_imported_tools();
    folder.write("evals/profiles/foreign.yaml", "profile: foreign\nabout: Tools of another server, to be answered by it.\ntools: [echo]\n");
    let case = |id: &str, word: &str| {
        format!(
            "  - id: {id}\n    brief: {{ surface: {{ profile: foreign }}, turns: [\"Let me hear {word} from you again.\"], world: defi_small }}\n    \
             expect: {{ calls: {{ any_of: [[{{ tool: echo, args: {{ message: {word} }} }}]] }} }}\n    \
             reference: [{{ call: echo, args: {{ message: {word} }} }}]\n"
        )
    };
    let cases = [case("hear_hello", "hello"), case("hear_goodbye", "goodbye")].concat();
    folder.write("evals/suites/tool_selection/foreign.yaml", format!("suite: tool_selection\nabout: Does it call it?\ncases:\n{cases}"));
    folder
}

/// Recording and live calls reach the real server, so writes there need consent.
#[test]
fn writes_on_the_server_need_consent() {
    let folder = TestFolder::new();
    folder.run(&["init", "evals", "--from-mcp", &server_everything_command()]).assert_exit(0);
    folder.write(
        "evals/suites/tool_selection/logging.yaml",
        "suite: tool_selection\ncases:\n  - id: logs_on\n    brief: { surface: { profile: everything }, turns: [\"Start to write down for me what you do.\"] }\n    \
         expect: { calls: { any_of: [[{ tool: toggle-simulated-logging }]] } }\n    reference: [{ call: toggle-simulated-logging }]\n  \
         - id: sum\n    brief: { surface: { profile: everything }, turns: [\"What do 17 and 25 make?\"] }\n    \
         expect: { calls: { any_of: [[{ tool: get-sum, args: { a: 17, b: 25 } }]] } }\n    reference: [{ call: get-sum, args: { a: 17, b: 25 } }]\n",
    );
    let record = format!("record:{}", server_everything_command());
    let run = |more: &[&str]| folder.run(&[&["run", "--subject", "reference", "--imported-tools", &record][..], more].concat());
    let refused = run(&[]).assert_exit(2);
    refused.assert_stderr("the selected cases would write on the server, with toggle-simulated-logging").assert_stderr("--allow-writes");
    assert!(!folder.files().iter().any(|file| file.contains("cassettes")), "nothing was asked");
    run(&["--case", "sum"]).assert_exit(0).assert_stderr("tools that write are not called on the server");
    assert!(!folder.read("evals/cassettes/tools.jsonl").contains("toggle"));
    run(&["--allow-writes"]).assert_exit(0).assert_stderr("one trial at a time");
    assert!(folder.read("evals/cassettes/tools.jsonl").contains("toggle-simulated-logging"));
    // A write that the case answers itself does not reach the server.
    folder.edit(
        "evals/suites/tool_selection/logging.yaml",
        "brief: { surface: { profile: everything }, turns: [\"Start",
        "brief: { surface: { profile: everything }, fixtures: [{ tool: toggle-simulated-logging, is: { on: true } }], turns: [\"Start",
    );
    run(&[]).assert_exit(0).assert_stderr("tools that write are not called on the server");
}

#[test]
fn run_uses_the_foreign_tools_option() {
    let folder = with_cases();
    let run = |case: &str, from: Option<&str>| {
        let mut args = vec!["run", "--subject", "reference", "--case", case, "--format", "json"];
        args.extend(from.iter().flat_map(|from| ["--imported-tools", from]));
        let ran = folder.run(&args);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        (document["trials"]["finished"].as_u64().unwrap(), document["trials"]["aborted"].as_u64().unwrap())
    };
    assert_eq!(run("hear_hello", None), (0, 1), "a missing response is not a miss of the subject");
    folder.run(&["show", "hear_hello"]).assert_exit(0).assert_stdout("no output schema");
    assert_eq!(run("hear_hello", Some(&format!("live:{}", server_everything_command()))), (1, 0));
    folder.run(&["show", "hear_hello"]).assert_exit(0).assert_stdout("Echo: hello");
    assert_eq!(run("hear_hello", Some(&format!("record:{}", server_everything_command()))), (1, 0));
    assert_eq!(run("hear_hello", None), (1, 0), "from the recording");
    assert_eq!(run("hear_goodbye", None), (1, 0), "on a profile the call is the evidence, and its answer is not needed");
    folder.run(&["show", "hear_goodbye"]).assert_exit(0).assert_stdout("no recording of echo");
}
