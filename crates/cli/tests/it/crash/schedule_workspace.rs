//! Workspace of the schedules: the minimal one with an imported tool, a case that changed since the last commit and a case outside of it.

use super::fixture::{CrashFixture, TICKET_QUESTION};

/// Source of responses for the imported tool.
pub(super) const LIVE_SERVER: &str = "live:/bin/sh server.sh";
/// Store with one run whose cases failed.
pub(super) const SEED_STORE: &str = "seed.sqlite";

/// MCP server with one tool, for one request a line.
const SERVER: &str = r#"tool='{"name":"desk_lookup","description":"Looks up a ticket of the help desk by its number, as asked.",
"inputSchema":{"type":"object","properties":{"ticket":{"type":"string","description":"Number of the ticket."}},"required":["ticket"]},
"outputSchema":{"type":"object","properties":{"state":{"type":"string"}},"required":["state"]},"annotations":{"readOnlyHint":true}}'
tool=$(printf '%s' "$tool" | tr -d '\n')
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  [ -n "$id" ] || continue
  case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"desk","version":"1"}}' ;;
    *'"tools/list"'*) result="{\"tools\":[$tool]}" ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"{\"state\":\"open\"}"}],"structuredContent":{"state":"open"}}' ;;
    *) result='{}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

fn suite(case: &str, question: &str, call: &str) -> String {
    format!(
        "suite: tool_selection\nabout: A case of the schedules.\ncases:\n  - id: {case}\n    brief:\n      surface: {{ profile: trader }}\n      \
         turns: [\"{question}\"]\n      world: small\n    expect:\n      calls: {{ any_of: [[{{ {} }}]] }}\n    reference:\n      - {{ {call} }}\n    tags: [happy_path]\n",
        call.replacen("call:", "tool:", 1)
    )
}

pub(super) async fn prepare_workspace(stage: &CrashFixture) {
    let write = |name: &str, text: &str| std::fs::write(stage.path(name), text).unwrap();
    let edit = |name: &str, from: &str, to: &str| {
        let text = std::fs::read_to_string(stage.path(name)).unwrap();
        assert!(text.contains(from), "{name}");
        write(name, &text.replace(from, to));
    };
    write("server.sh", SERVER);
    let imported = stage.command(&["tools", "import", "--mcp", "/bin/sh server.sh"]).output().await.unwrap();
    assert!(imported.status.success(), "{imported:?}");
    for name in ["evals/profiles/trader.yaml", "evals/agents/trader.md"] {
        edit(name, "token_transfer]", "token_transfer, desk_lookup]");
    }
    write("evals/suites/tool_selection/desk.yaml", &suite("open_ticket", TICKET_QUESTION, "call: desk_lookup, args: { ticket: T-7 }"));
    let balance = "call: wallet_get_balance, args: { token: USDC, chain: base }";
    write("outside.yaml", &suite("outside_balance", "What is my balance of USDC on Base?", balance));
    let author = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
    for args in [&["init", "-q"][..], &["add", "evals"], &[&author[..], &["commit", "-q", "-m", "Add the workspace"]].concat()] {
        let git = std::process::Command::new("git").args(args).current_dir(stage.folder()).output().unwrap();
        assert!(git.status.success(), "{git:?}");
    }
    edit("evals/suites/tool_selection/trader.yaml", "do I have left on Base?", "have I got left on Base?");
    let seeded = stage.run_to_end(&["run", "--subject", "echo", "--suite", "tool_selection", "--store", SEED_STORE]).await;
    assert_eq!(seeded["trials"]["finished"], 3, "{seeded:#}");
}
