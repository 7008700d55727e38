//! Source of responses for imported tools: recordings, stubs, or the MCP server.

use super::live_servers::tools_of_server;
use super::redacted_source::{RedactedSource, redact_error};
use crate::args::ImportedToolArgs;
use crate::commands::tools::{embedded_workspace_error, server};
use crate::env;
use crate::files;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use ::run::SecretRedactor;
use campaign::{RunOptions, RunPlan};
use model::{Case, Tool, UserError, Workspace};
use std::collections::BTreeSet;
use std::time::Duration;
use world::mcp::McpLimits;
use world::mcp::source::{PassthroughSource, ReadsOnlySource, RecordingSource, RenamedSource, ReplaySource, ToolSource};
use world::{ForeignSource, LiveServer, LiveServers, LiveSource};

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
pub(crate) fn names_server(from: &[String]) -> bool {
    from.iter().any(|from| is_server(from))
}

fn is_server(from: &str) -> bool {
    matches!(from.split_once(':'), Some(("live" | "record", _)))
}

fn imported_writes(workspace: &Workspace) -> BTreeSet<String> {
    workspace.tools.iter().filter(|tool| tool.is_foreign() && tool.writes()).map(|tool| tool.name.value.clone()).collect()
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
    let needed: BTreeSet<&str> = ordinary.flat_map(|case| writes_on_server(workspace, case, &writes)).collect();
    if needed.is_empty() {
        io.print_message("note: tools that write are not called on the server; --allow-writes lets them");
        return Ok(());
    }
    let what = format!("the selected cases would write on the server, with {}", needed.into_iter().collect::<Vec<_>>().join(", "));
    Err(UserError::new(what, "add --allow-writes if it holds nothing of value, or answer these tools in worlds/ or fixtures"))
}

/// Says that calls of imported tools are answered with generated values, if there is no recording and no server.
pub(crate) fn note_stubs(io: &CliOutput, source: &WorkspaceSource, plan: &RunPlan) {
    let workspace = plan.workspace();
    let has_recording = || read_recording(source).is_ok_and(|recording| recording.is_some());
    let is_stubbed = plan.spec().options.foreign_tools.iter().any(|from| from == "stub" || (from == "auto" && !has_recording()));
    // The trial of a profile may end with the first calls, whose answers are never read.
    let reads_answers = plan.cases().any(|case| case.brief.runs_agents());
    if is_stubbed && reads_answers && workspace.tools.iter().any(Tool::is_foreign) {
        io.print_message(
            "note: without a recording, imported tools answer with generated values unless a fixture answers; record real ones with \
             --imported-tools 'record:CMD' --subject reference",
        );
    }
}

/// Returns the writes of a reference that no fixture of the case or of its world answers. A fixture counts by its tool: a call that it does
/// not match is refused when it is made.
fn writes_on_server<'a>(workspace: &'a Workspace, case: &'a Case, writes: &'a BTreeSet<String>) -> impl Iterator<Item = &'a str> {
    let world = workspace.world(&case.brief.world.value);
    let answers = move |name: &str| {
        let in_case = case.brief.fixtures.iter().any(|fixture| workspace.tool(&fixture.tool.value).is_some_and(|tool| *tool.name == *name));
        in_case || world.is_some_and(|world| world.fixtures.contains_key(name))
    };
    let called = case.reference.iter().filter_map(|step| workspace.tool(step.action.called_tool()?));
    called.map(|tool| tool.name.as_str()).filter(move |name| writes.contains(*name) && !answers(name))
}

/// Parses `--imported-tools`. `auto` never contacts a server: recordings if there are any, else stubs. A server answers only the tools that
/// were imported from it; those of others are answered by the source that is named beside it, or from recordings.
pub(crate) async fn parse_tool_answers(
    source: &WorkspaceSource,
    workspace: &Workspace,
    from: &[String],
    access: ServerAccess,
) -> Result<ForeignSource, UserError> {
    let (servers, words): (Vec<&String>, Vec<&String>) = from.iter().partition(|from| is_server(from));
    let others = match (words.as_slice(), servers.is_empty()) {
        ([], true) => offline_source(source, workspace, "auto")?,
        ([], false) => read_recording(source)?.unwrap_or_default(),
        ([word], _) => offline_source(source, workspace, word)?,
        (_, _) => {
            let what = "--imported-tools names more than one of auto, recorded and stub";
            return Err(UserError::new(what, "name one of them; only live:CMD and record:CMD may be repeated"));
        }
    };
    if servers.is_empty() {
        return Ok(others);
    }
    let mut running: Vec<LiveServer> = vec![];
    for server in servers {
        let started = start_server(source, workspace, server, &access).await?;
        if let Some(tool) = running.iter().find_map(|other| other.tools.intersection(&started.tools).next()) {
            let what = format!("two servers of --imported-tools would answer {tool}");
            return Err(UserError::new(what, "name each server once"));
        }
        running.push(started);
    }
    Ok(ForeignSource::Live(LiveServers::new(running, others, workspace)))
}

fn offline_source(source: &WorkspaceSource, workspace: &Workspace, word: &str) -> Result<ForeignSource, UserError> {
    match word {
        "auto" if !workspace.tools.iter().any(Tool::is_foreign) => Ok(ForeignSource::NoSource),
        "auto" => Ok(read_recording(source)?.unwrap_or_else(|| ForeignSource::stubs(workspace, STUB_SEED))),
        "recorded" => {
            read_recording(source)?.ok_or_else(|| UserError::without_remedy(format!("there is no {RECORDING_PATH} in {}", source.label())))
        }
        "stub" => Ok(ForeignSource::stubs(workspace, STUB_SEED)),
        _ => Err(UserError::new(format!("invalid --imported-tools \"{word}\""), "expected auto, recorded, stub, live:CMD or record:CMD")),
    }
}

/// Starts a server, or connects to it, and finds its tools.
async fn start_server(source: &WorkspaceSource, workspace: &Workspace, from: &str, access: &ServerAccess) -> Result<LiveServer, UserError> {
    let (tools, answers): (_, Box<dyn ToolSource>) = match from.split_once(':') {
        Some(("record", command)) => {
            let WorkspaceSource::Folder(folder) = source else {
                return Err(embedded_workspace_error());
            };
            let (tools, server) = connect(command, workspace, &access.passed).await?;
            let path = folder.join(RECORDING_PATH);
            let earlier = match read_recording(source)? {
                Some(ForeignSource::Recorded(earlier)) => earlier,
                Some(_) | None => ReplaySource::default(),
            };
            let out = files::open_append(&path).map_err(|error| UserError::caused_by(error).with_context(path.display()))?;
            (tools, Box::new(RecordingSource::new(server, out, &earlier)))
        }
        Some((_, command)) => {
            let (tools, server) = connect(command, workspace, &access.passed).await?;
            (tools, Box::new(server))
        }
        None => return Err(UserError::without_remedy(format!("\"{from}\" names no server"))),
    };
    let source = match access.writes {
        ServerWrites::Allowed => LiveSource::new(answers),
        ServerWrites::Refused => LiveSource::new(ReadsOnlySource::new(answers, imported_writes(workspace))),
    };
    Ok(LiveServer { tools, source })
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

/// Server whose answers are free of the variables that it is given.
type ConnectedServer = RedactedSource<RenamedSource>;

/// Connects to a server and returns the names of its tools in the workspace with it.
async fn connect(command: &str, workspace: &Workspace, passed: &[String]) -> Result<(BTreeSet<String>, ConnectedServer), UserError> {
    env::check_passed(passed)?;
    let server = if command.starts_with("http://") || command.starts_with("https://") {
        world::mcp::McpEndpoint::Url(command.to_owned())
    } else {
        server::command_source(command, env::child_env(passed))?
    };
    let limits = McpLimits { timeout: SERVER_TIMEOUT, ..McpLimits::default() };
    let secrets = SecretRedactor::default().with_variables(passed, env::var);
    let opened = PassthroughSource::open(&server, &limits).await.map_err(|error| redact_error(&secrets, error.into()))?;
    let offered = opened.offers().iter().map(|offer| offer.listing.name.as_str()).collect();
    let tools = tools_of_server(workspace, opened.own_name(), &offered).map_err(|error| redact_error(&secrets, error))?;
    Ok((tools, RedactedSource::new(RenamedSource::new(opened, workspace), secrets)))
}
