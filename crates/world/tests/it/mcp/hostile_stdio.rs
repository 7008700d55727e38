//! Programs that mean us harm: each must end in its own typed error, soon, and leave no process behind.

use std::path::Path;
use std::time::Duration;

use bardo_eval_world::mcp::{Fault, Limits, McpError, Quantity, Source, list};

use crate::mcp::{command, patient};

/// A correct server except for what `page` makes of a `tools/list` request `m`.
fn node(page: &str) -> Source {
    let script = format!(
        "const send = (id, rest) => process.stdout.write(JSON.stringify({{jsonrpc: '2.0', id, ...rest}}) + '\\n');
         const tool = name => ({{name, inputSchema: {{type: 'object'}}}});
         require('readline').createInterface({{input: process.stdin}}).on('line', line => {{
           const m = JSON.parse(line);
           if (m.id === undefined) return;
           if (m.method === 'initialize') send(m.id, {{result: {{protocolVersion: '2025-11-25', capabilities: {{tools: {{}}}}, serverInfo: {{name: 'hostile', version: '1'}}}}}});
           else if (m.method === 'tools/list') send(m.id, {{result: {page}}});
           else send(m.id, {{error: {{code: -32601, message: 'no such method'}}}});
         }});"
    );
    command("node", &["-e", &script])
}

fn sh(script: &str) -> Source {
    command("sh", &["-c", script])
}

async fn error(source: &Source, limits: &Limits) -> McpError {
    list(source, limits).await.expect_err("a hostile server was believed")
}

async fn fault_of(page: &str) -> Fault {
    *error(&node(page), &patient()).await.fault
}

/// Long enough for a shell to start and speak on a busy machine.
fn soon() -> Limits {
    Limits { time: Duration::from_secs(2), ..Limits::default() }
}

#[expect(clippy::disallowed_methods, reason = "the test asks the kernel and its own folder, not us")]
fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Zombies are not alive: a grandchild is buried by init, which may take its time.
fn alive(pid: &str) -> bool {
    let stat = read(format!("/proc/{pid}/stat"));
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

async fn eventually<T>(mut ready: impl FnMut() -> Option<T>) -> T {
    for _ in 0..1500 {
        if let Some(it) = ready() {
            return it;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("30 s were not enough");
}

#[tokio::test]
async fn the_harness_of_these_tests_can_list() {
    let listed = list(&node("{tools: [tool('b'), tool('a')], nextCursor: ''}"), &patient()).await.unwrap();
    let names: Vec<&str> = listed.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((listed.server.as_str(), names), ("hostile", vec!["b", "a"]));
}

#[tokio::test]
async fn one_that_never_answers_is_ended_with_all_it_started() {
    let error = error(&sh("echo $$ >&2; sleep 300 & echo $! >&2; wait"), &soon()).await;
    assert_eq!(*error.fault, Fault::NoAnswer { within: soon().time });
    let pids: Vec<&str> = error.stderr.lines().collect();
    assert_eq!(pids.len(), 2, "{error}");
    for pid in pids {
        // A killed grandchild may take a moment to be gone; one that was not killed stays for minutes.
        eventually(|| (!alive(pid)).then_some(())).await;
    }
}

#[tokio::test]
async fn one_that_ignores_polite_signals_is_ended_too() {
    let error = error(&sh("trap '' TERM INT HUP PIPE; echo $$ >&2; while :; do sleep 1; done"), &soon()).await;
    assert_eq!(*error.fault, Fault::NoAnswer { within: soon().time });
    let pid = error.stderr.lines().next().unwrap().to_owned();
    eventually(|| (!alive(&pid)).then_some(())).await;
}

#[tokio::test]
async fn a_listing_that_is_given_up_leaves_nobody_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let source = sh(&format!("echo $$ > {}; exec sleep 300", file.display()));
    let listing = tokio::spawn(async move { list(&source, &patient()).await });
    let pid = eventually(|| Some(read(&file)).filter(|pid| pid.ends_with('\n'))).await;
    assert!(alive(pid.trim()));
    listing.abort();
    eventually(|| (!alive(pid.trim())).then_some(())).await;
}

#[tokio::test]
async fn one_that_dies_at_start_is_quoted_without_its_terminal_commands() {
    let error = error(&sh("printf 'no \\033[31mconfig\\n' >&2; exit 3"), &patient()).await;
    assert_eq!(*error.fault, Fault::Ended { how: "exit status: 3".to_owned() });
    assert_eq!(error.stderr, "no \\u{1b}[31mconfig");
    assert!(error.to_string().contains("MCP server `sh -c printf"), "{error}");
}

#[tokio::test]
async fn only_the_end_of_stderr_is_kept() {
    let error = error(&sh("head -c 100000 /dev/zero | tr '\\0' 'x' >&2; echo ' the end' >&2; exit 1"), &patient()).await;
    assert!(error.stderr.len() <= 2100 && error.stderr.ends_with("the end"), "{}", error.stderr.len());
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let error = error(&command("/no/such/server", &[]), &patient()).await;
    assert!(matches!(*error.fault, Fault::NotStarted { .. }), "{error}");
    assert_eq!(error.server, "/no/such/server");
}

#[tokio::test]
async fn it_sees_no_variable_that_was_not_passed() {
    let Source::Command { program, args, mut env } = sh("env >&2; exit 1") else { unreachable!() };
    env.push(("ALLOWED".to_owned(), "yes".to_owned()));
    let error = error(&Source::Command { program, args, env }, &patient()).await;
    let mut names: Vec<&str> = error.stderr.lines().filter_map(|line| line.split('=').next()).collect();
    names.retain(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(name)); // the shell's own
    names.sort_unstable();
    assert_eq!(names, ["ALLOWED", "PATH"]);
}

#[tokio::test]
async fn garbage_is_quoted_whether_it_ends_or_stays() {
    let ended = error(&sh("echo Welcome to my server"), &patient()).await;
    assert_eq!((ended.fault.as_ref(), ended.stray.as_str()), (&Fault::Ended { how: "exit status: 0".to_owned() }, "Welcome to my server"));
    let stayed = error(&sh("echo Welcome to my server; exec sleep 300"), &soon()).await;
    assert_eq!((stayed.fault.as_ref(), stayed.stray.as_str()), (&Fault::NoAnswer { within: soon().time }, "Welcome to my server"));
    let unended = error(&sh("yes garbage"), &patient()).await;
    assert_eq!(*unended.fault, Fault::TooMuch { what: Quantity::StrayLines, limit: 100 });
}

#[tokio::test]
async fn a_banner_before_good_messages_is_forgiven() {
    let Source::Command { program, mut args, env } = node("{tools: [tool('a')]}") else { unreachable!() };
    args[1].insert_str(0, "console.log('Listening on stdio');");
    assert_eq!(list(&Source::Command { program, args, env }, &patient()).await.unwrap().tools.len(), 1);
}

#[tokio::test]
async fn a_reply_without_end_is_cut() {
    let limits = Limits { message: 100_000, total: 200_000, ..patient() };
    let line = error(&sh("printf '{'; exec cat /dev/zero"), &limits).await;
    assert_eq!(*line.fault, Fault::TooMuch { what: Quantity::Message, limit: 100_000 });
    let page = error(&node("{tools: [{...tool('a'), description: 'x'.repeat(100000)}]}"), &limits).await;
    assert_eq!(*page.fault, Fault::TooMuch { what: Quantity::Message, limit: 100_000 });
    let news = format!("yes '{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}'", "x".repeat(1000));
    let lines = error(&sh(&news), &limits).await;
    assert_eq!(*lines.fault, Fault::TooMuch { what: Quantity::Total, limit: 200_000 });
    let pings = error(&sh("yes '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}'"), &patient()).await;
    assert_eq!(*pings.fault, Fault::TooMuch { what: Quantity::Lines, limit: 10_000 });
}

#[tokio::test]
async fn a_list_without_end_is_cut() {
    let pages = fault_of("{tools: [], nextCursor: 'c' + m.id}").await;
    assert_eq!(pages, Fault::TooMuch { what: Quantity::Pages, limit: 100 });
    let tools = fault_of("{tools: Array.from({length: 50}, (_, i) => tool(m.id + '_' + i)), nextCursor: 'c' + m.id}").await;
    assert_eq!(tools, Fault::TooMuch { what: Quantity::Tools, limit: 2_000 });
    assert_eq!(fault_of("{tools: [], nextCursor: 'same'}").await, Fault::RepeatedCursor { cursor: "same".to_owned() });
}

#[tokio::test]
async fn a_tool_that_cannot_be_used_is_named() {
    assert_eq!(fault_of("{tools: [tool('a'), tool('b'), tool('a')]}").await, Fault::RepeatedTool { tool: "a".to_owned() });
    for (tool, name, why) in [
        ("{name: 'a', inputSchema: 'text'}", "a", "its input schema is not an object"),
        ("{name: 'a'}", "a", "it has no input schema"),
        ("tool('')", "", "its name is empty"),
        ("{inputSchema: {}}", "{\"inputSchema\":{}}", "it has no name"),
    ] {
        let bad = Fault::BadTool { tool: name.to_owned(), why: why.to_owned() };
        assert_eq!(fault_of(&format!("{{tools: [tool('good'), {tool}]}}")).await, bad, "{tool}");
    }
}

#[tokio::test]
async fn texts_of_a_tool_are_bounded() {
    let mib = 1024 * 1024;
    for (tool, what, limit) in [
        ("{...tool('a'), description: 'x'.repeat(1024 * 1024 + 1)}", Quantity::Description, mib),
        ("{name: 'a', inputSchema: {title: 'x'.repeat(1024 * 1024)}}", Quantity::Schema, mib),
        ("tool('x'.repeat(257))", Quantity::Name, 256),
    ] {
        assert_eq!(fault_of(&format!("{{tools: [{tool}]}}")).await, Fault::TooMuch { what, limit }, "{tool}");
    }
}

#[tokio::test]
async fn a_refusal_is_told_in_the_words_of_the_server() {
    let Source::Command { program, mut args, env } = node("{}") else { unreachable!() };
    args[1] = args[1].replace("'tools/list'", "'never'");
    let refused = Fault::Refused { code: -32601, message: "no such method".to_owned() };
    assert_eq!(*error(&Source::Command { program, args, env }, &patient()).await.fault, refused);
    assert!(matches!(fault_of("{nothing: 'useful'}").await, Fault::NotMcp { .. }));
}
