//! Contents of a workspace and of the program: lists, explanations, tool lists, CI plans.

use super::{compare, shown, snapshot};
use crate::harness::TestFolder;

#[test]
fn lists_of_the_minimal_workspace() {
    let folder = TestFolder::with_minimal();
    for what in
        ["tools", "profiles", "agents", "skills", "suites", "cases", "worlds", "subjects", "chains", "tiers", "gates", "checks", "scorers"]
    {
        snapshot(&format!("list_{what}"), &folder, &["list", what]);
    }
    snapshot("list_cases_json", &folder, &["list", "cases", "--format", "json"]);
}

#[test]
fn explanations_of_a_check_a_scorer_and_a_gate() {
    let folder = TestFolder::with_minimal();
    snapshot("explain_check", &folder, &["explain", "graph_acyclic"]);
    snapshot("explain_scorer", &folder, &["explain", "safety_pipeline"]);
    snapshot("explain_gate", &TestFolder::new(), &["explain", "hit_rate_profiles"]);
}

/// Without lines that depend on the machine.
#[test]
fn doctor_without_the_machine() {
    let folder = TestFolder::with_minimal();
    let ran = folder.run(&["doctor"]);
    let text = shown(&folder, &ran);
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("anvil") && !line.contains("node")).collect();
    compare("doctor", "doctor", &kept.join("\n"));
}

#[test]
fn tool_lists_are_exported() {
    let folder = TestFolder::with_minimal();
    for shape in ["anthropic", "openai-chat", "openai-responses", "mcp"] {
        snapshot(&format!("tools_export_{shape}"), &folder, &["tools", "export", "--profile", "trader", "--shape", shape]);
    }
    snapshot("tools_export_files", &folder, &["tools", "export", "--out", "lists"]);
    snapshot("tools_confusable_text", &folder, &["tools", "confusable"]);
    snapshot("tools_confusable_json", &folder, &["tools", "confusable", "--top", "2", "--format", "json"]);
}

/// The program's own MCP server replaces a third-party one.
#[test]
fn tools_are_imported_and_compared() {
    let (served, folder) = (TestFolder::with_minimal(), TestFolder::new());
    let program = env!("CARGO_BIN_EXE_bardo-eval");
    let server = format!("'{program}' -w '{}' world serve --profile trader --stdio", served.path("evals").display());
    let report = |name: &str, args: &[&str]| {
        let ran = folder.run(&[args, &[server.as_str()]].concat());
        compare(name, &args.join(" "), &shown(&folder, &ran));
    };
    report("init_from_mcp", &["init", "--from-mcp"]);
    report("tools_diff_same", &["tools", "diff", "--mcp"]);
    served.edit("evals/tools/wallet.yaml", "it moves nothing", "it moves very little");
    report("tools_diff_changed", &["tools", "diff", "--mcp"]);
    report("tools_diff_json", &["tools", "diff", "--format", "json", "--mcp"]);
}

#[test]
fn plans_and_workflow_of_ci() {
    let folder = TestFolder::with_minimal();
    snapshot("ci_plan_text", &folder, &["ci", "plan", "--event", "pull_request"]);
    snapshot("ci_plan_changed", &folder, &["ci", "plan", "--event", "pull_request", "--changed", "README.md"]);
    snapshot("ci_plan_unknown", &folder, &["ci", "plan", "--event", "marge"]);
    let embedded = TestFolder::new();
    snapshot("ci_plan_json", &embedded, &["ci", "plan", "--event", "merge", "--format", "json"]);
    snapshot("ci_plan_github", &embedded, &["ci", "plan", "--event", "merge", "--format", "github"]);
    snapshot("ci_github", &folder, &["ci", "github", "--print"]);
}
