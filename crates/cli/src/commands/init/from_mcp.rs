//! Small workspace with the tools of an MCP server.

use crate::commands::tools::{file_name, server, tool_file};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use model::{MINIMAL_WORKSPACE, WorkspaceFiles, yaml};
use serde_json::json;

/// Largest profile; users choose which of further tools matter.
const PROFILE_TOOL_LIMIT: usize = 20;

/// Parts of the minimal workspace that do not depend on its tools.
const COPIED_FILES: &[&str] =
    &["policy.yaml", "tiers.yaml", "registry/base.yaml", "subjects/baseline.yaml", "subjects/reference.yaml", "subjects/echo.yaml"];

pub(super) fn build_workspace(io: &CliOutput, command: &str, env: Vec<(String, String)>) -> Result<WorkspaceFiles, ExitKind> {
    let source = server::command_source(command, env).map_err(|why| report::print_error(io, "init", &why))?;
    let listed = server::list_tools(io, "init", &source, 60)?;
    let name = file_name(&listed.server);
    let shown: Vec<&str> = listed.tools.iter().map(|tool| tool.name.as_str()).take(PROFILE_TOOL_LIMIT - 1).collect();
    if shown.len() < listed.tools.len() {
        io.print_message(&format!(
            "the profile has the first {} of {} tools; change the selection in profiles/{name}.yaml",
            shown.len(),
            listed.tools.len()
        ));
    }
    let mut files: WorkspaceFiles = MINIMAL_WORKSPACE.iter().copied().filter(|(path, _)| COPIED_FILES.contains(path)).collect();
    files.insert(format!("tools/{name}.yaml"), tool_file(&name, &listed, None));
    files.insert(
        format!("profiles/{name}.yaml"),
        yaml::emit(&json!({ "profile": name, "about": format!("The tools of {}.", listed.server), "tools": shown })),
    );
    files.insert("worlds/empty.yaml", EMPTY_WORLD);
    files.insert("gates.yaml", GATES);
    files.insert(format!("suites/tool_selection/{name}.yaml"), first_suite(&name, shown[0]));
    Ok(files)
}

const EMPTY_WORLD: &str = "\
world: empty
about: An empty wallet; tools answer from fixtures once you add them.
starts_at: \"2026-03-08T12:00:00Z\"
wallet: \"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\"
chains: [8453]
";

const GATES: &str = "\
# Bounds that must hold. A gate without evidence blocks like a missed one.
deviates: The tools of one server can decide only some gates of the specification.
gates:
  - id: hit_rate
    spec: \"2.1 Hit rate (per profile)\"
    scorer: hit
    slice: { each: profile }
    tiers: [2]
    min_cases: 10
    aggregate: rate
    at_least: 0.85
    why: A correct tool is useless if the model does not pick it.
  - id: case_pass_rate
    spec: ours
    scorer: case_pass
    slice: pooled
    tiers: [2]
    min_cases: 10
    aggregate: rate
    at_least: 0.85
    why: A case that misses one of its expectations must count in a gate.
";

/// Returns a suite with one example case.
fn first_suite(name: &str, tool: &str) -> String {
    // In a comment, a line break or a hidden character of a server's name would reach the file as it is.
    let tool: String = tool.chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).collect();
    format!(
        "# Tool selection: one request, the tools of a profile, and the calls that answer it. Replace this example with real requests.\n\
         suite: tool_selection\n\
         about: Does the model pick the right tool?\n\
         cases:\n\
         \x20 - id: example_no_tool_fits\n\
         \x20   brief:\n\
         \x20     surface: {{ profile: {name} }}\n\
         \x20     turns: [\"Thanks, that is all for today.\"]\n\
         \x20     world: empty\n\
         \x20   expect:\n\
         \x20     calls: {{ none: true }}                    # or any_of: [[{{ tool: {tool}, args: {{ … }} }}]]\n\
         \x20   reference:\n\
         \x20     - {{ say: You are welcome. }}\n\
         \x20   tags: [no_tool]\n"
    )
}
