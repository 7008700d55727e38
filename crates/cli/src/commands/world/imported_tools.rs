//! Source of responses for imported tools: recordings, stubs, or the MCP server.

use crate::commands::tools::{embedded_workspace_error, server};
use crate::env;
use crate::files;
use crate::workspace_source::WorkspaceSource;
use model::{UserError, Workspace};
use std::time::Duration;
use world::mcp::McpLimits;
use world::mcp::source::{PassthroughSource, RecordingSource, RenamedSource, ReplaySource};
use world::{ForeignSource, LiveSource, is_foreign};

/// Recorded responses, relative to the workspace.
const RECORDING_PATH: &str = "cassettes/tools.jsonl";
/// Time for the server to start, which may include the download of its package, and for each call.
const SERVER_TIMEOUT: Duration = Duration::from_secs(90);

/// Parses `--imported-tools`. `auto` never contacts a server: recordings if there are any, else stubs.
pub(crate) async fn parse_tool_answers(source: &WorkspaceSource, workspace: &Workspace, from: &str) -> Result<ForeignSource, UserError> {
    match from.split_once(':') {
        None if from == "auto" && !workspace.tools.iter().any(is_foreign) => Ok(ForeignSource::NoSource),
        None if from == "auto" => Ok(read_recording(source)?.unwrap_or_else(|| ForeignSource::stubs(workspace, STUB_SEED))),
        None if from == "recorded" => {
            read_recording(source)?.ok_or_else(|| UserError::without_remedy(format!("there is no {RECORDING_PATH} in {}", source.label())))
        }
        None if from == "stub" => Ok(ForeignSource::stubs(workspace, STUB_SEED)),
        Some(("live", command)) => Ok(ForeignSource::Live(LiveSource::new(connect(command, workspace).await?))),
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
            Ok(ForeignSource::Live(LiveSource::new(RecordingSource::new(connect(command, workspace).await?, out, &earlier))))
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

async fn connect(command: &str, workspace: &Workspace) -> Result<RenamedSource, UserError> {
    let server = if command.starts_with("http://") || command.starts_with("https://") {
        world::mcp::McpEndpoint::Url(command.to_owned())
    } else {
        server::command_source(command, env::child_env(&[]))?
    };
    let limits = McpLimits { timeout: SERVER_TIMEOUT, ..McpLimits::default() };
    Ok(RenamedSource::new(PassthroughSource::open(&server, &limits).await?, workspace))
}
