//! `tools import`, `tools diff` and `init --from-mcp` against a public server from npm, over standard input and output.

use crate::harness::Folder;
use serde_json::Value;
use std::path::PathBuf;

/// As `scripts/install-test-tools` installs it.
fn everything() -> String {
    let server =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    assert!(server.is_file(), "{} is missing: run scripts/install-test-tools", server.display());
    format!("node '{}'", server.to_str().unwrap())
}

fn imported() -> Folder {
    let folder = Folder::with_minimal();
    let ran = folder.run(&["tools", "import", "--mcp", &everything()]).exits(0);
    ran.prints("tools of mcp-servers/everything").prints("into evals/tools/everything.yaml");
    folder
}

/// The check that compares tools with their pins.
fn pins(folder: &Folder, code: i32) -> Value {
    let document = folder.json(&["smoke"], code);
    document["checks"].as_array().unwrap().iter().find(|check| check["check"] == "pinned_tools").unwrap().clone()
}

#[test]
fn imported_tools_pass_smoke_and_have_not_changed() {
    let folder = imported();
    let pins = pins(&folder, 0);
    assert!(pins["looked_at"].as_u64() > Some(5) && pins["errors"] == 0, "{pins:#}");
    let ran = folder.run(&["tools", "diff", "--mcp", &everything()]).exits(0);
    ran.prints(" 0 changes since the import\n");
    let tools = folder.list("tools");
    assert!(tools.iter().any(|tool| tool["tool"] == "echo" && tool["category"] == "everything"), "{tools:#?}");
}

#[test]
fn a_changed_description_is_seen_by_diff_and_by_smoke() {
    let folder = imported();
    let file = "evals/tools/everything.yaml";
    let text = folder.read(file);
    let line = text.lines().position(|line| line == "  - name: \"echo\"").unwrap();
    let description = text.lines().nth(line + 1).unwrap();
    assert!(description.starts_with("    description: \""), "{description}");
    folder.edit(file, description, "    description: \"Echoes back the input string, and forwards a copy to somebody you do not know.\"");
    let ran = folder.run(&["tools", "diff", "--mcp", &everything()]).exits(1);
    ran.prints("echo  description changed\n  - Echoes back the input string, and forwards a copy").prints(" 1 changes since the import\n");
    let document = folder.json(&["tools", "diff", "--mcp", &everything()], 1);
    assert_eq!((&document["changes"][0]["tool"], &document["changes"][0]["what"]), (&"echo".into(), &"description changed".into()));
    let pins = pins(&folder, 1);
    assert_eq!(pins["errors"], 1, "{pins:#}");
    let found = &pins["findings"][0];
    assert!(found["file"] == file && found["what"].as_str().unwrap().contains("echo"), "{found:#}");
    assert_ne!(found["remedy"], "", "{found:#}");
}

#[test]
fn removed_and_added_tools_are_seen() {
    let folder = imported();
    let file = "evals/tools/everything.yaml";
    folder.edit(file, "  - name: \"echo\"\n", "  - name: \"ecco\"\n");
    let ran = folder.run(&["tools", "diff", "--mcp", &everything()]).exits(1);
    ran.prints("ecco  removed\n").prints("echo  added\n");
}

#[test]
fn importing_again_keeps_what_people_said() {
    let folder = imported();
    let file = "evals/tools/everything.yaml";
    let text = folder.read(file);
    let tool = text.split("  - name: ").find(|tool| tool.starts_with("\"get-sum\"")).unwrap().to_owned();
    let said = tool
        .replace("capability: \"read\"", "capability: \"write\"")
        .replace("risk: \"layer1\"", "risk: \"layer3\"")
        .replace("acts: \"read\"", "acts: \"configure\"")
        .replace("a: \"ratio\"", "a: \"percent\"");
    assert_ne!(tool, said);
    folder.edit(file, &tool, &said);
    folder.run(&["tools", "import", "--mcp", &everything()]).exits(0);
    let again = folder.read(file);
    assert!(again.contains(&said), "{again}");
    assert_eq!(again, text.replace(&tool, &said), "nothing else changed");
}

#[test]
fn the_embedded_workspace_cannot_be_changed() {
    let folder = Folder::new();
    folder.run(&["tools", "import", "--mcp", &everything()]).exits(2).says("the embedded workspace cannot be changed");
    assert!(folder.files().is_empty());
}

#[test]
fn a_server_that_dies_is_named_and_nothing_is_written() {
    let folder = Folder::with_minimal();
    let before = folder.files();
    for command in ["import", "diff"] {
        let ran = folder.run(&["tools", command, "--mcp", "sh -c 'echo no licence >&2; exit 7'"]).exits(2);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
        ran.says("MCP server `sh -c").says("no licence");
    }
    folder.run(&["tools", "import", "--mcp", "/no/such/server --flag"]).exits(2).says("/no/such/server");
    folder.run(&["tools", "import", "--mcp-url", "http://127.0.0.1:1/mcp"]).exits(2).says("127.0.0.1:1");
    assert_eq!(folder.files(), before);
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let folder = Folder::with_minimal();
    let ran = folder.run(&["tools", "import", "--mcp", "sleep 300", "--timeout", "2"]).exits(2);
    ran.says("waiting for the server, 2 s at most").says("sleep 300");
}

#[test]
fn a_command_line_that_cannot_be_read() {
    let folder = Folder::with_minimal();
    folder.run(&["tools", "import", "--mcp", "node 'x"]).exits(2).says("the quotes in `node 'x` do not match");
    folder.run(&["tools", "import", "--mcp", ""]).exits(2).says("the command is empty");
    folder.run(&["tools", "import"]).exits(2);
    folder.run(&["tools", "import", "--mcp", "a", "--mcp-url", "b"]).exits(2);
}

#[test]
fn tools_that_another_file_has_are_not_taken_over() {
    let folder = imported();
    let before = folder.read("evals/tools/everything.yaml");
    let ran = folder.run(&["tools", "import", "--mcp", &everything(), "--name", "other"]).exits(2);
    ran.says("already have: ").says("nothing was written");
    assert!(!folder.path("evals/tools/other.yaml").exists());
    assert_eq!(folder.read("evals/tools/everything.yaml"), before);
}

#[test]
fn a_server_nothing_was_imported_from_has_no_diff() {
    Folder::with_minimal().run(&["tools", "diff", "--mcp", &everything()]).exits(3).says("run `bardo-eval tools import` first");
}

#[test]
fn the_server_sees_no_variable_but_those_passed() {
    let folder = Folder::with_minimal();
    let ran = folder.run(&["tools", "import", "--mcp", "sh -c 'env >&2; exit 1'"]).exits(2);
    let names: Vec<&str> = ran.stderr.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim()).collect();
    assert!(names.contains(&"PATH"), "{}", ran.stderr);
    assert!(names.iter().all(|name| ["PATH", "HOME", "PWD", "SHLVL", "_", "OLDPWD"].contains(name)), "{names:?}");
}

#[test]
fn a_workspace_around_a_server_passes() {
    let folder = Folder::new();
    folder.run(&["init", "--from-mcp", &everything()]).exits(0).prints("next: bardo-eval smoke --workspace evals");
    folder.run(&["smoke"]).exits(0).prints("smoke passed");
    folder.run(&["run", "--subject", "reference"]).exits(0).prints("1 planned, 1 finished, 0 aborted");
    folder.run(&["tools", "diff", "--mcp", &everything()]).exits(0);
    folder.run(&["tools", "export", "--out", "lists"]).exits(0).prints("wrote 4 lists");
}

#[test]
fn a_server_that_dies_leaves_no_workspace_behind() {
    let folder = Folder::new();
    folder.run(&["init", "mine", "--from-mcp", "sh -c 'exit 7'"]).exits(2).says("MCP server `sh -c");
    assert!(folder.files().is_empty() && !folder.path("mine").exists());
}

/// A workspace that can be played in, with the server's tools.
fn playable() -> Folder {
    let folder = Folder::with_reference();
    folder.run(&["tools", "import", "--mcp", &everything()]).exits(0);
    folder
}

#[test]
fn an_imported_tool_is_called_live_recorded_replayed_and_stubbed() {
    let folder = playable();
    // By default nobody is asked: what the server says of its answers is all there is, and echo says nothing.
    folder.run(&["world", "call", "echo", "message=hello"]).exits(3).prints("EXTERNAL_TOOL_UNAVAILABLE").prints("no output schema");
    folder.run(&["world", "call", "get-structured-content", "location=Chicago"]).exits(0).prints("temperature");
    folder
        .run(&["world", "call", "echo", "message=hello", "--foreign-tools", "recorded"])
        .exits(2)
        .says("there is no cassettes/tools.jsonl");
    folder
        .run(&["world", "call", "echo", "message=hello", "--foreign-tools", &format!("live:{}", everything())])
        .exits(0)
        .prints("Echo: hello");
    assert!(!folder.files().contains(&"evals/cassettes/tools.jsonl".to_owned()));
    folder
        .run(&["world", "call", "echo", "message=hello", "--foreign-tools", &format!("record:{}", everything())])
        .exits(0)
        .prints("Echo: hello");
    // From now on the recording answers, and only it.
    folder.run(&["world", "call", "echo", "message=hello"]).exits(0).prints("Echo: hello");
    folder.run(&["world", "call", "echo", "message=other"]).exits(3).prints("no recording of echo");
    folder
        .run(&["world", "call", "echo", "message=hello", "--foreign-tools", "someone"])
        .exits(2)
        .says("auto, recorded, stub, live:CMD or record:CMD");
}

/// Two cases whose answers come from the imported server.
fn with_cases() -> Folder {
    let folder = playable();
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

#[test]
fn a_run_has_its_imported_tools_answered_as_it_says() {
    let folder = with_cases();
    let run = |case: &str, from: Option<&str>| {
        let mut args = vec!["run", "--subject", "reference", "--case", case, "--format", "json"];
        args.extend(from.iter().flat_map(|from| ["--foreign-tools", from]));
        let ran = folder.run(&args);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        (document["trials"]["finished"].as_u64().unwrap(), document["trials"]["aborted"].as_u64().unwrap())
    };
    assert_eq!(run("hear_hello", None), (0, 1), "nobody can answer, which is no miss of the subject");
    folder.run(&["show", "hear_hello"]).exits(0).prints("no output schema");
    assert_eq!(run("hear_hello", Some(&format!("live:{}", everything()))), (1, 0));
    folder.run(&["show", "hear_hello"]).exits(0).prints("Echo: hello");
    assert_eq!(run("hear_hello", Some(&format!("record:{}", everything()))), (1, 0));
    assert_eq!(run("hear_hello", None), (1, 0), "from the recording");
    assert_eq!(run("hear_goodbye", None), (0, 1), "a missing recording is an error");
    folder.run(&["show", "hear_goodbye"]).exits(0).prints("no recording of echo");
}
