//! Who answers for tools that were imported from an MCP server: what was recorded, stubs, or the server itself.

use crate::commands::tools::server;
use crate::env;
use crate::files;
use crate::open::Source;
use model::Workspace;
use std::time::Duration;
use world::mcp::Limits;
use world::mcp::source::{Passed, Recorded, Recording};
use world::{Foreign, LiveSource, is_foreign};

/// What a server once said, beside the suites.
const RECORDED: &str = "cassettes/tools.jsonl";
const PATIENCE: Duration = Duration::from_secs(30);

/// `auto` never asks a server: recordings where there are any, else stubs.
pub(crate) async fn of(source: &Source, workspace: &Workspace, from: &str) -> Result<Foreign, String> {
    match from.split_once(':') {
        None if from == "auto" && !workspace.tools.iter().any(is_foreign) => Ok(Foreign::Nobody),
        None if from == "auto" => Ok(recorded(source)?.unwrap_or_else(|| Foreign::stubs(workspace, SEED))),
        None if from == "recorded" => recorded(source)?.ok_or_else(|| format!("there is no {RECORDED} in {}", source.label())),
        None if from == "stub" => Ok(Foreign::stubs(workspace, SEED)),
        Some(("live", command)) => Ok(Foreign::Live(LiveSource::new(opened(command).await?))),
        Some(("record", command)) => {
            let Source::Folder(folder) = source else {
                return Err(
                    "the embedded workspace cannot be changed; run `bardo-eval init` first, or name a folder with --workspace".to_owned()
                );
            };
            let path = folder.join(RECORDED);
            let out = files::append(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(Foreign::Live(LiveSource::new(Recording::new(opened(command).await?, out))))
        }
        None | Some(_) => Err(format!("\"{from}\" answers for no tool  write auto, recorded, stub, live:CMD or record:CMD")),
    }
}

/// The same stubs in every run.
const SEED: u64 = 1;

fn recorded(source: &Source) -> Result<Option<Foreign>, String> {
    // The embedded workspace has no recordings.
    let Source::Folder(folder) = source else { return Ok(None) };
    let path = folder.join(RECORDED);
    let text = files::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.map(|text| Recorded::read(&text).map(Foreign::Recorded).map_err(|error| format!("{}: {error}", path.display()))).transpose()
}

async fn opened(command: &str) -> Result<Passed, String> {
    let server = if command.starts_with("http://") || command.starts_with("https://") {
        world::mcp::Source::Url(command.to_owned())
    } else {
        server::from_command(command, env::for_child(&[]))?
    };
    let limits = Limits { time: PATIENCE, ..Limits::default() };
    Passed::open(&server, &limits).await.map_err(|error| error.to_string())
}
