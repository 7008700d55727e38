//! Source of responses for imported tools: recordings, stubs, or the MCP server.

use super::redacted_source::{RedactedSource, redact_error};
use crate::args::ImportedToolArgs;
use crate::commands::tools::{embedded_workspace_error, server};
use crate::env;
use crate::files;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use ::run::SecretRedactor;
use campaign::{RunOptions, RunPlan};
use model::{UserError, Workspace};
use std::collections::BTreeSet;
use std::time::Duration;
use world::mcp::McpLimits;
use world::mcp::source::{PassthroughSource, ReadsOnlySource, RecordingSource, RenamedSource, ReplaySource, ToolSource};
use world::{ForeignSource, LiveSource, is_foreign};

/// Recorded responses, relative to the workspace.
const RECORDING_PATH: &str = "cassettes/tools.jsonl";
/// Time for the server to start, which may include the download of its package, and for each call.
const SERVER_TIMEOUT: Duration = Duration::from_secs(90);

/// Calls of imported tools that write, where the server itself is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ServerWrites {
    Allowed,
    #[default]
    Refused,
}

/// Rights and variables of a server that is asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerAccess {
    pub(crate) writes: ServerWrites,
    /// Names of variables that it is given.
    pub(crate) passed: Vec<String>,
}

impl ServerAccess {
    pub(crate) fn of(options: &RunOptions) -> Self {
        Self::new(options.allow_writes, &options.pass_env)
    }

    pub(crate) fn of_args(args: &ImportedToolArgs) -> Self {
        Self::new(args.allow_writes, &args.pass_env)
    }

    fn new(allow_writes: bool, passed: &[String]) -> Self {
        let writes = if allow_writes { ServerWrites::Allowed } else { ServerWrites::Refused };
        Self { writes, passed: passed.to_vec() }
    }
}

/// Returns whether `--imported-tools` names a server.
pub(crate) fn names_server(from: &str) -> bool {
    matches!(from.split_once(':'), Some(("live" | "record", _)))
}

fn imported_writes(workspace: &Workspace) -> BTreeSet<String> {
    workspace.tools.iter().filter(|tool| is_foreign(tool) && tool.writes()).map(|tool| tool.name.value.clone()).collect()
}

/// Refuses a run whose references would write on the server without consent, and says what the run does there.
pub(crate) fn check_server_writes(io: &CliOutput, plan: &RunPlan) -> Result<(), UserError> {
    let options = &plan.spec().options;
    let workspace = plan.workspace();
    let writes = imported_writes(workspace);
    if !names_server(&options.foreign_tools) || writes.is_empty() {
        return Ok(());
    }
    if options.allow_writes {
        io.print_message("note: tools that write are called on the server itself, one trial at a time");
        return Ok(());
    }
    // Attacks are answered without the server, so that obeying one does no harm.
    let ordinary = plan.cases().filter(|case| case.attack.is_none());
    let called = ordinary.flat_map(|case| &case.reference).filter_map(|step| workspace.tool(step.action.called_tool()?));
    let needed: BTreeSet<&str> = called.map(|tool| tool.name.as_str()).filter(|name| writes.contains(*name)).collect();
    if needed.is_empty() {
        io.print_message("note: tools that write are not called on the server; --allow-writes lets them");
        return Ok(());
    }
    let what = format!("the selected cases would write on the server, with {}", needed.into_iter().collect::<Vec<_>>().join(", "));
    Err(UserError::new(what, "add --allow-writes if it holds nothing of value, or answer these tools in worlds/ or fixtures"))
}

/// Parses `--imported-tools`. `auto` never contacts a server: recordings if there are any, else stubs.
pub(crate) async fn parse_tool_answers(
    source: &WorkspaceSource,
    workspace: &Workspace,
    from: &str,
    access: ServerAccess,
) -> Result<ForeignSource, UserError> {
    let live = |source: Box<dyn ToolSource>| match access.writes {
        ServerWrites::Allowed => ForeignSource::Live(LiveSource::new(source)),
        ServerWrites::Refused => ForeignSource::Live(LiveSource::new(ReadsOnlySource::new(source, imported_writes(workspace)))),
    };
    match from.split_once(':') {
        None if from == "auto" && !workspace.tools.iter().any(is_foreign) => Ok(ForeignSource::NoSource),
        None if from == "auto" => Ok(read_recording(source)?.unwrap_or_else(|| ForeignSource::stubs(workspace, STUB_SEED))),
        None if from == "recorded" => {
            read_recording(source)?.ok_or_else(|| UserError::without_remedy(format!("there is no {RECORDING_PATH} in {}", source.label())))
        }
        None if from == "stub" => Ok(ForeignSource::stubs(workspace, STUB_SEED)),
        Some(("live", command)) => Ok(live(Box::new(connect(command, workspace, &access.passed).await?))),
        Some(("record", command)) => {
            let WorkspaceSource::Folder(folder) = source else {
                return Err(embedded_workspace_error());
            };
            let path = folder.join(RECORDING_PATH);
            let earlier = match read_recording(source)? {
                Some(ForeignSource::Recorded(earlier)) => earlier,
                Some(_) | None => ReplaySource::default(),
            };
            let out = files::open_append(&path).map_err(|error| UserError::caused_by(error).with_context(path.display()))?;
            Ok(live(Box::new(RecordingSource::new(connect(command, workspace, &access.passed).await?, out, &earlier))))
        }
        None | Some(_) => {
            Err(UserError::new(format!("invalid --imported-tools \"{from}\""), "expected auto, recorded, stub, live:CMD or record:CMD"))
        }
    }
}

/// Seed of the stubs, the same in every run.
const STUB_SEED: u64 = 1;

fn read_recording(source: &WorkspaceSource) -> Result<Option<ForeignSource>, UserError> {
    // The embedded workspace has no recordings.
    let WorkspaceSource::Folder(folder) = source else { return Ok(None) };
    let path = folder.join(RECORDING_PATH);
    let text = files::read_if_exists(&path).map_err(|error| UserError::caused_by(error).with_context(path.display()))?;
    text.map(|text| {
        ReplaySource::parse(&text).map(ForeignSource::Recorded).map_err(|error| UserError::from(error).with_context(path.display()))
    })
    .transpose()
}

/// Connects to a server. What it says is free of the variables that it is given.
async fn connect(command: &str, workspace: &Workspace, passed: &[String]) -> Result<RedactedSource<RenamedSource>, UserError> {
    env::check_passed(passed)?;
    let server = if command.starts_with("http://") || command.starts_with("https://") {
        world::mcp::McpEndpoint::Url(command.to_owned())
    } else {
        server::command_source(command, env::child_env(passed))?
    };
    let limits = McpLimits { timeout: SERVER_TIMEOUT, ..McpLimits::default() };
    let secrets = SecretRedactor::default().with_variables(passed, env::var);
    let opened = PassthroughSource::open(&server, &limits).await.map_err(|error| redact_error(&secrets, error.into()))?;
    Ok(RedactedSource::new(RenamedSource::new(opened, workspace), secrets))
}
