//! Hostile programs: each must give its typed error in time and leave no process behind.

use std::path::Path;
use std::time::Duration;

use bardo_eval_world::mcp::{BoundedQuantity, McpEndpoint, McpError, McpFault, McpLimits, list_tools};

use crate::mcp::{command, generous_limits};

/// Valid server that answers a `tools/list` request `m` with the expression `page`.
fn node_server(page: &str) -> McpEndpoint {
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

fn shell_server(script: &str) -> McpEndpoint {
    command("sh", &["-c", script])
}

async fn error(source: &McpEndpoint, limits: &McpLimits) -> McpError {
    list_tools(source, limits).await.expect_err("a hostile server was accepted")
}

async fn fault_of(page: &str) -> McpFault {
    *error(&node_server(page), &generous_limits()).await.fault
}

/// Limits that are long enough for a shell to start on a busy machine.
fn short_limits() -> McpLimits {
    McpLimits { timeout: Duration::from_secs(2), ..McpLimits::default() }
}

#[expect(clippy::disallowed_methods, reason = "the test reads /proc and its own folder")]
fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Returns whether a process runs. Zombies count as ended, since init may reap a grandchild late.
fn is_alive(pid: &str) -> bool {
    let stat = read(format!("/proc/{pid}/stat"));
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

async fn wait_for<T>(mut ready: impl FnMut() -> Option<T>) -> T {
    for _ in 0..1500 {
        if let Some(it) = ready() {
            return it;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no result within 30 s");
}

#[tokio::test]
async fn well_behaved_stdio_server_is_listed() {
    let listed = list_tools(&node_server("{tools: [tool('b'), tool('a')], nextCursor: ''}"), &generous_limits()).await.unwrap();
    let names: Vec<&str> = listed.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((listed.server.as_str(), names), ("hostile", vec!["b", "a"]));
}

/// The SDK gives its first request up after 10 seconds, and such a server answers it afterwards.
#[tokio::test]
async fn server_that_starts_slowly_is_listed() {
    let McpEndpoint::Command { program, args, env } = node_server("{tools: [tool('a')]}") else { panic!("a command") };
    let quoted = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    let line = [&[program], args.as_slice()].concat().iter().map(quoted).collect::<Vec<_>>().join(" ");
    let slow = McpEndpoint::Command { program: "sh".into(), args: vec!["-c".into(), format!("sleep 11; exec {line}")], env };
    let listed = list_tools(&slow, &McpLimits { timeout: Duration::from_secs(60), ..McpLimits::default() }).await.unwrap();
    assert_eq!((listed.server.as_str(), listed.tools.len()), ("hostile", 1));
}

#[tokio::test]
async fn silent_stdio_server_is_killed_with_children() {
    let error = error(&shell_server("echo $$ >&2; sleep 300 & echo $! >&2; wait"), &short_limits()).await;
    assert_eq!(*error.fault, McpFault::NoAnswer { within: short_limits().timeout });
    let pids: Vec<&str> = error.stderr.lines().collect();
    assert_eq!(pids.len(), 2, "{error}");
    for pid in pids {
        // A killed grandchild may take a moment to end; one that was not killed runs for minutes.
        wait_for(|| (!is_alive(pid)).then_some(())).await;
    }
}

#[tokio::test]
async fn server_that_ignores_sigterm_is_killed() {
    let error = error(&shell_server("trap '' TERM INT HUP PIPE; echo $$ >&2; while :; do sleep 1; done"), &short_limits()).await;
    assert_eq!(*error.fault, McpFault::NoAnswer { within: short_limits().timeout });
    let pid = error.stderr.lines().next().unwrap().to_owned();
    wait_for(|| (!is_alive(&pid)).then_some(())).await;
}

#[tokio::test]
async fn cancelled_listing_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let source = shell_server(&format!("echo $$ > {}; exec sleep 300", file.display()));
    let listing = tokio::spawn(async move { list_tools(&source, &generous_limits()).await });
    let pid = wait_for(|| Some(read(&file)).filter(|pid| pid.ends_with('\n'))).await;
    assert!(is_alive(pid.trim()));
    listing.abort();
    wait_for(|| (!is_alive(pid.trim())).then_some(())).await;
}

#[tokio::test]
async fn stderr_of_failed_start_is_quoted_and_escaped() {
    let error = error(&shell_server("printf 'no \\033[31mconfig\\n' >&2; exit 3"), &generous_limits()).await;
    assert_eq!(*error.fault, McpFault::Ended { how: "exit status: 3".to_owned() });
    assert_eq!(error.stderr, "no \\u{1b}[31mconfig");
    assert!(error.to_string().contains("MCP server `sh -c printf"), "{error}");
}

#[tokio::test]
async fn stderr_is_kept_to_its_tail() {
    let error = error(&shell_server("head -c 100000 /dev/zero | tr '\\0' 'x' >&2; echo ' the end' >&2; exit 1"), &generous_limits()).await;
    assert!(error.stderr.len() <= 2100 && error.stderr.ends_with("the end"), "{}", error.stderr.len());
}

#[tokio::test]
async fn missing_program_is_named() {
    let error = error(&command("/no/such/server", &[]), &generous_limits()).await;
    assert!(matches!(*error.fault, McpFault::NotStarted { .. }), "{error}");
    assert_eq!(error.server, "/no/such/server");
}

#[tokio::test]
async fn server_sees_only_passed_env_vars() {
    let McpEndpoint::Command { program, args, mut env } = shell_server("env >&2; exit 1") else { unreachable!() };
    env.push(("ALLOWED".to_owned(), "yes".to_owned()));
    let error = error(&McpEndpoint::Command { program, args, env }, &generous_limits()).await;
    let mut names: Vec<&str> = error.stderr.lines().filter_map(|line| line.split('=').next()).collect();
    names.retain(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(name)); // set by the shell
    names.sort_unstable();
    assert_eq!(names, ["ALLOWED", "PATH"]);
}

#[tokio::test]
async fn garbage_on_stdout_is_quoted() {
    let ended = error(&shell_server("echo Welcome to my server"), &generous_limits()).await;
    assert_eq!(
        (ended.fault.as_ref(), ended.stray.as_str()),
        (&McpFault::Ended { how: "exit status: 0".to_owned() }, "Welcome to my server")
    );
    let stayed = error(&shell_server("echo Welcome to my server; exec sleep 300"), &short_limits()).await;
    assert_eq!(
        (stayed.fault.as_ref(), stayed.stray.as_str()),
        (&McpFault::NoAnswer { within: short_limits().timeout }, "Welcome to my server")
    );
    let unended = error(&shell_server("yes garbage"), &generous_limits()).await;
    assert_eq!(*unended.fault, McpFault::TooMuch { what: BoundedQuantity::StrayLines, limit: 100 });
}

#[tokio::test]
async fn banner_before_messages_is_ignored() {
    let McpEndpoint::Command { program, mut args, env } = node_server("{tools: [tool('a')]}") else { unreachable!() };
    args[1].insert_str(0, "console.log('Listening on stdio');");
    assert_eq!(list_tools(&McpEndpoint::Command { program, args, env }, &generous_limits()).await.unwrap().tools.len(), 1);
}

#[tokio::test]
async fn endless_stdio_reply_is_cut() {
    let limits = McpLimits { message_bytes: 100_000, total_bytes: 200_000, ..generous_limits() };
    let line = error(&shell_server("printf '{'; exec cat /dev/zero"), &limits).await;
    assert_eq!(*line.fault, McpFault::TooMuch { what: BoundedQuantity::Message, limit: 100_000 });
    let page = error(&node_server("{tools: [{...tool('a'), description: 'x'.repeat(100000)}]}"), &limits).await;
    assert_eq!(*page.fault, McpFault::TooMuch { what: BoundedQuantity::Message, limit: 100_000 });
    let news = format!("yes '{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}'", "x".repeat(1000));
    let lines = error(&shell_server(&news), &limits).await;
    assert_eq!(*lines.fault, McpFault::TooMuch { what: BoundedQuantity::Total, limit: 200_000 });
    let pings = error(&shell_server("yes '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}'"), &generous_limits()).await;
    assert_eq!(*pings.fault, McpFault::TooMuch { what: BoundedQuantity::Lines, limit: 10_000 });
}

#[tokio::test]
async fn endless_tool_list_is_cut() {
    let pages = fault_of("{tools: [], nextCursor: 'c' + m.id}").await;
    assert_eq!(pages, McpFault::TooMuch { what: BoundedQuantity::Pages, limit: 100 });
    let tools = fault_of("{tools: Array.from({length: 50}, (_, i) => tool(m.id + '_' + i)), nextCursor: 'c' + m.id}").await;
    assert_eq!(tools, McpFault::TooMuch { what: BoundedQuantity::Tools, limit: 2_000 });
    assert_eq!(fault_of("{tools: [], nextCursor: 'same'}").await, McpFault::RepeatedCursor { cursor: "same".to_owned() });
}

#[tokio::test]
async fn unusable_tool_is_named() {
    assert_eq!(fault_of("{tools: [tool('a'), tool('b'), tool('a')]}").await, McpFault::RepeatedTool { tool: "a".to_owned() });
    for (tool, name, why) in [
        ("{name: 'a', inputSchema: 'text'}", "a", "its input schema is not an object"),
        ("{name: 'a'}", "a", "it has no input schema"),
        ("tool('')", "", "its name is empty"),
        ("{inputSchema: {}}", "{\"inputSchema\":{}}", "it has no name"),
    ] {
        let bad = McpFault::BadTool { tool: name.to_owned(), why: why.to_owned() };
        assert_eq!(fault_of(&format!("{{tools: [tool('good'), {tool}]}}")).await, bad, "{tool}");
    }
}

#[tokio::test]
async fn tool_text_sizes_are_bounded() {
    let mib = 1024 * 1024;
    for (tool, what, limit) in [
        ("{...tool('a'), description: 'x'.repeat(1024 * 1024 + 1)}", BoundedQuantity::Description, mib),
        ("{name: 'a', inputSchema: {title: 'x'.repeat(1024 * 1024)}}", BoundedQuantity::Schema, mib),
        ("tool('x'.repeat(257))", BoundedQuantity::Name, 256),
    ] {
        assert_eq!(fault_of(&format!("{{tools: [{tool}]}}")).await, McpFault::TooMuch { what, limit }, "{tool}");
    }
}

#[tokio::test]
async fn server_refusal_message_is_shown() {
    let McpEndpoint::Command { program, mut args, env } = node_server("{}") else { unreachable!() };
    args[1] = args[1].replace("'tools/list'", "'never'");
    let refused = McpFault::Refused { code: -32601, message: "no such method".to_owned() };
    assert_eq!(*error(&McpEndpoint::Command { program, args, env }, &generous_limits()).await.fault, refused);
    assert!(matches!(fault_of("{nothing: 'useful'}").await, McpFault::NotMcp { .. }));
}
