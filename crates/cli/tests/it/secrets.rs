//! Secrets that a model or an agent repeats, in any encoding, are in no file and no output of the program.

use crate::harness::{ProgramOutput, TestFolder};
use serde_json::{Value, json};
use std::fs;
use testkit::{PostgresServer, SecretEcho, chat, find_secret_trace, secret_echoes};

const SECRET: &str = "sk-My\"Canary/5555+aa~Zz?end";
const VARIABLE: &str = "CANARY_KEY";
const CASE: &str = "sell_usdc_for_ether";

/// Runs a subject on one case, then asserts that neither its output, the stored files nor any report gives the secret away.
#[track_caller]
fn assert_kept_secret(folder: &TestFolder, subject: &str, more: &[&str]) -> Value {
    let run = [&["run", "--subject", subject, "--case", CASE][..], more].concat();
    let mut outputs: Vec<(String, ProgramOutput)> = vec![("run".into(), folder.run_with_variable(&run, VARIABLE, SECRET))];
    for format in ["text", "json", "junit", "markdown", "sarif", "github"] {
        outputs.push((format!("score {format}"), folder.run(&["score", "--format", format])));
    }
    for args in [&["show", CASE][..], &["show", CASE, "-v"], &["runs", "list"], &["cost"]] {
        outputs.push((args.join(" "), folder.run(args)));
    }
    for format in ["jsonl", "csv", "otlp", "inspect"] {
        outputs.push((format!("export {format}"), folder.run(&["export", "--to", format]).assert_exit(0)));
    }
    outputs.push(("score html".into(), folder.run(&["score", "--report", "html=written/report.html"])));
    outputs.push(("case new".into(), folder.run(&["case", "new", "--from", CASE, "-o", "written/case.yaml"])));
    let shown = folder.run(&["show", CASE, "--format", "json"]).assert_exit(0);
    let trial = serde_json::from_str(&shown.stdout).unwrap();
    outputs.push(("show json".into(), shown));
    for (what, ran) in &outputs {
        for text in [&ran.stdout, &ran.stderr] {
            assert_eq!(find_secret_trace(text.as_bytes(), SECRET), None, "{subject} {what}: {text}");
        }
    }
    let files = folder.files();
    let is_stored = |name: &&String| ["sqlite", "cassettes", "written/"].iter().any(|part| name.contains(part));
    let stored: Vec<&String> = files.iter().filter(is_stored).collect();
    assert!(["sqlite", "report.html"].iter().all(|part| stored.iter().any(|name| name.contains(part))), "{files:?}");
    for name in stored {
        assert_eq!(find_secret_trace(&fs::read(folder.path(name)).unwrap(), SECRET), None, "{subject}: {name}");
    }
    trial
}

/// Writes a process agent that prints these lines, then a last line on standard error, and exits.
fn write_agent(folder: &TestFolder, name: &str, provider: &str, out: &[String], err: &str, code: u8) {
    let print = |text: &str| json!(text).to_string();
    let lines: Vec<String> = out.iter().map(|line| format!("process.stdout.write({} + '\\n')\n", print(line))).collect();
    let wait = if provider == "process" { "await new Promise((done) => process.stdin.once('data', done))\n" } else { "" };
    let check = format!("if (process.env.{VARIABLE} !== {}) throw new Error('no secret')\n", print(SECRET));
    let script = format!(
        "{check}{wait}{}process.stderr.write({} + '\\n')\nprocess.exitCode = {code}\nprocess.stdin.pause()\n",
        lines.concat(),
        print(err)
    );
    folder.write(&format!("{name}.mjs"), script);
    let limits = "{ turns: 60, calls: 60, output_tokens: 4096, seconds: 20 }";
    let file = format!(
        "subject: {name}\nprovider: {provider}\ncommand: [node, {name}.mjs]\nenv: [{VARIABLE}]\nlimits: {limits}\nabout: A test.\n"
    );
    folder.write(&format!("evals/subjects/{name}.yaml"), file);
}

fn all_echoes() -> String {
    secret_echoes(SECRET).iter().map(|echo| format!("({})", echo.text)).collect::<Vec<_>>().join(" and ")
}

#[test]
fn variables_that_an_agent_repeats_in_its_moves_are_redacted() {
    let folder = TestFolder::with_minimal();
    let (all, echoes) = (all_echoes(), secret_echoes(SECRET));
    let call = |echo: &SecretEcho| json!({ "tool": echo.text, "args": { echo.text.as_str(): [echo.text] } });
    let calls: Vec<Value> = echoes.iter().map(call).collect();
    for (name, line) in [
        ("says", json!({ "say": all })),
        ("refuses", json!({ "refuse": all })),
        ("calls", json!({ "call": calls })),
        ("delegates", json!({ "delegate": { "to": all, "params": { all.as_str(): all } } })),
        ("claims", json!({ "say": "x", "claims": [{ "reported": { "text": all } }] })),
        ("odd", json!({ "unknown": all })),
        ("odder", json!({ "call": { "tool": 7, all.as_str(): all } })),
    ] {
        write_agent(&folder, name, "process", &[line.to_string()], "", 0);
        let trial = assert_kept_secret(&folder, name, &[]);
        assert!(trial.to_string().contains("[secret]"), "{name}: {trial:#}");
    }
    write_agent(&folder, "prints", "mcp", std::slice::from_ref(&all), "", 0);
    assert!(assert_kept_secret(&folder, "prints", &[]).to_string().contains("[secret]"));
}

#[test]
fn variables_in_the_last_words_of_an_agent_are_redacted() {
    let folder = TestFolder::with_minimal();
    let mut echoes = secret_echoes(SECRET);
    echoes.dedup_by_key(|echo| echo.encoding);
    for (n, echo) in echoes.iter().enumerate().filter(|(n, _)| n % 3 == 0) {
        let provider = if n % 2 == 0 { "process" } else { "mcp" };
        write_agent(&folder, "dies", provider, &[], &format!("::error:: {}", echo.text), 3);
        let trial = assert_kept_secret(&folder, "dies", &[]);
        let why = trial["ending"]["why"].as_str().unwrap();
        assert!(why.starts_with("it exited with code 3: ::error:: ") && why.contains("[secret]"), "{echo:?}: {why}");
    }
}

#[test]
fn keys_that_a_model_repeats_are_redacted() {
    let all = all_echoes();
    let malformed = format!("{{\"a\": \"{}\"", secret_echoes(SECRET)[2].text);
    for (place, reply) in [
        ("text", chat::text_reply(&all)),
        ("arguments", chat::tool_call_reply(1, "swap_get_quote", &json!({ "token_in": all, all.as_str(): 1 }))),
        ("tool", chat::tool_call_reply(1, &all, &json!({}))),
        ("malformed", {
            let mut reply = chat::tool_call_reply(1, "swap_get_quote", &json!({}));
            reply["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = malformed.clone().into();
            reply
        }),
    ] {
        let folder = TestFolder::with_minimal();
        let url = chat::serve_chat(move |_, n| if n == 0 { reply.clone() } else { chat::text_reply("Done.") });
        folder.write("evals/subjects/local.yaml", format!("{}key_env: {VARIABLE}\n", chat::subject_file("local", &url)));
        let trial = assert_kept_secret(&folder, "local", &["--budget", "1", "--record"]);
        assert!(folder.files().iter().any(|name| name.contains("cassettes/")), "{place}: {:?}", folder.files());
        // Malformed arguments are not part of the transcript.
        assert!(place == "malformed" || trial.to_string().contains("[secret]"), "{place}: {trial:#}");
    }
}

#[test]
fn secrets_are_redacted_before_they_reach_postgres() {
    let (folder, all, server) = (TestFolder::with_minimal(), all_echoes(), PostgresServer::shared());
    let url = server.create_database();
    write_agent(&folder, "says", "process", &[json!({ "say": all }).to_string()], "", 0);
    write_agent(&folder, "dies", "process", &[], &all, 3);
    let reply = chat::tool_call_reply(1, "swap_get_quote", &json!({ "token_in": all }));
    let model = chat::serve_chat(move |_, n| if n == 0 { reply.clone() } else { chat::text_reply("Done.") });
    folder.write("evals/subjects/local.yaml", format!("{}key_env: {VARIABLE}\n", chat::subject_file("local", &model)));
    for subject in ["says", "dies", "local"] {
        let run = ["run", "--subject", subject, "--case", CASE, "--budget", "1", "--store", &url];
        let ran = folder.run_with_variable(&run, VARIABLE, SECRET);
        for text in [&ran.stdout, &ran.stderr] {
            assert_eq!(find_secret_trace(text.as_bytes(), SECRET), None, "{subject}: {text}");
        }
    }
    let database = url.trim_start_matches("postgres://bardo@/").split('?').next().unwrap();
    let mut rows = String::new();
    for table in ["runs", "trials", "calls", "cache", "agent_output", "telemetry", "contents"] {
        rows.push_str(&server.psql(database, &format!("SELECT * FROM bardo_eval.{table}")));
    }
    assert_eq!(rows.matches("[secret]").count().min(3), 3, "all three subjects told it: {rows}");
    assert_eq!(find_secret_trace(rows.as_bytes(), SECRET), None);
}

/// Returns an MCP server that repeats a variable in its answer and on stderr.
fn telling_server() -> String {
    let script = format!(
        "const send = (id, result) => process.stdout.write(JSON.stringify({{jsonrpc: '2.0', id, result}}) + '\\n');
         const key = process.env.{VARIABLE} ?? 'nothing';
         console.error(key);
         require('readline').createInterface({{input: process.stdin}}).on('line', line => {{
           const m = JSON.parse(line);
           if (m.id === undefined) return;
           if (m.method === 'initialize') send(m.id, {{protocolVersion: '2025-06-18', capabilities: {{tools: {{}}}}, serverInfo: {{name: 'teller', version: '1'}}}});
           else if (m.method === 'tools/list') send(m.id, {{tools: [{{name: 'tell', description: 'Tells the word of the day, and nothing else, for a city.', annotations: {{readOnlyHint: true}}, inputSchema: {{type: 'object', properties: {{city: {{type: 'string', description: 'A city.'}}}}, required: ['city']}}}}]}});
           else if (m.method === 'tools/call') send(m.id, {{content: [{{type: 'text', text: 'the word is ' + key}}]}});
           else process.stdout.write(JSON.stringify({{jsonrpc: '2.0', id: m.id, error: {{code: -32601, message: 'no'}}}}) + '\\n');
         }});"
    );
    format!("node -e '{}'", script.replace('\'', "'\\''"))
}

/// Variables of `--pass-env` reach agents, servers and scorers, and are in no file and no output.
#[test]
fn passed_variables_reach_programs_and_are_redacted() {
    let folder = TestFolder::new();
    let server = telling_server();
    folder.run(&["init", "--from-mcp", &server]).assert_exit(0);
    let echo = "import json, os, sys\nkey = os.environ.get('CANARY_KEY', 'nothing')\nsys.stderr.write(key + '\\n')\nfor line in sys.stdin:\n    \
                last = json.loads(line)['news'][-1]\n    move = {'say': 'key ' + key} if 'answer' in last else {'call': {'tool': 'tell', 'args': {'city': 'Oslo'}}}\n    \
                print(json.dumps(move), flush=True)\n";
    folder.write("agent.py", echo);
    folder.write(
        "evals/scorers/key.py",
        "import json, os, sys\nkey = os.environ.get('CANARY_KEY', 'nothing')\nprint(json.dumps({'hit': int(len(key) == 27), 'of': 1, 'because': ['it reads ' + key]}))\n",
    );
    folder.write(
        "evals/scorers.yaml",
        "scorers: [{ id: key, about: Reads the key., command: [python3, scorers/key.py], applies: { suites: [behavior] } }]\n",
    );
    folder.write("evals/agents/teller.md", "---\nname: teller\ntools: [tell]\n---\nTell the word.\n");
    folder.write(
        "evals/suites/behavior/teller.yaml",
        "suite: behavior\ncases:\n  - id: word\n    brief: { surface: { agent: teller }, turns: [\"What do they say in Oslo today?\"] }\n    \
         expect: { calls: { any_of: [[{ tool: tell, args: { city: Oslo } }]] }, assert: [{ type: contains, value: \"[secret]\" }] }\n    \
         reference: [{ agent: teller, call: tell, args: { city: Oslo } }, { agent: teller, say: \"[secret]\" }]\n",
    );
    folder.write(
        "evals/gates.yaml",
        "gates:\n  - { id: pass, scorer: case_pass, at_least: 1.0 }\n  - { id: key, scorer: key, at_least: 1.0 }\n",
    );
    let from = format!("record:{server}");
    let run = ["run", "--subject", "process:python3 agent.py", "--case", "word", "--imported-tools", &from];
    // Without the flag no program has it.
    folder.run_with_variable(&run, VARIABLE, SECRET).assert_exit(1);
    fs::remove_file(folder.path("evals/cassettes/tools.jsonl")).unwrap();
    let passing = [&run[..], &["--pass-env", VARIABLE]].concat();
    let mut outputs = vec![folder.run_with_variable(&passing, VARIABLE, SECRET).assert_exit(0)];
    outputs.push(folder.run(&["show", "word", "--verbose"]).assert_exit(0).assert_stdout("[secret]"));
    outputs.push(folder.run(&["show", "word", "--format", "json"]).assert_exit(0));
    outputs.push(folder.run(&["runs", "list", "--verbose", "--format", "json"]));
    // A server that does not speak, and says the variable instead.
    let mute = format!("live:bash -c 'echo ${VARIABLE} >&2; exit 3'");
    let live = ["run", "--subject", "reference", "--imported-tools", &mute, "--pass-env", VARIABLE];
    outputs.push(folder.run_with_variable(&live, VARIABLE, SECRET).assert_exit(2).assert_stderr("[secret]"));
    for ran in &outputs {
        for text in [&ran.stdout, &ran.stderr] {
            assert_eq!(find_secret_trace(text.as_bytes(), SECRET), None, "{text}");
        }
    }
    for name in folder.files().iter().filter(|name| name.contains("sqlite") || name.contains("cassettes")) {
        assert_eq!(find_secret_trace(&fs::read(folder.path(name)).unwrap(), SECRET), None, "{name}");
    }
}

/// A variable is named, never written, and must be set, also when a run is resumed.
#[test]
fn passed_variables_are_named_and_must_be_set() {
    let folder = TestFolder::with_minimal();
    let run = |name: &str| folder.run(&["run", "--subject", "reference", "--case", CASE, "--pass-env", name]);
    run("NO_SUCH_VARIABLE").assert_exit(2).assert_stderr("--pass-env names NO_SUCH_VARIABLE, which the environment does not have");
    let refused = run("API_KEY=sk-1234567890").assert_exit(2).assert_stderr("expected the name alone");
    assert!(refused.stdout.is_empty());
    folder.run(&["run", "--resume", "--pass-env", "HOME"]).assert_exit(2).assert_stderr("cannot be used with");
}
