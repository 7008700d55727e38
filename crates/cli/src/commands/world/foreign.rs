//! Who answers for tools that were imported from an MCP server: what was recorded, stubs, or the server itself.

use crate::commands::tools::{embedded_is_fixed, server};
use crate::env;
use crate::files;
use crate::open::Source;
use model::{UserError, Workspace};
use std::time::Duration;
use world::mcp::Limits;
use world::mcp::source::{Passed, Recorded, Recording};
use world::{Foreign, LiveSource, is_foreign};

/// What a server once said, beside the suites.
const RECORDED: &str = "cassettes/tools.jsonl";
const PATIENCE: Duration = Duration::from_secs(30);

/// `auto` never asks a server: recordings where there are any, else stubs.
pub(crate) async fn of(source: &Source, workspace: &Workspace, from: &str) -> Result<Foreign, UserError> {
    match from.split_once(':') {
        None if from == "auto" && !workspace.tools.iter().any(is_foreign) => Ok(Foreign::Nobody),
        None if from == "auto" => Ok(recorded(source)?.unwrap_or_else(|| Foreign::stubs(workspace, SEED))),
        None if from == "recorded" => {
            recorded(source)?.ok_or_else(|| UserError::plain(format!("there is no {RECORDED} in {}", source.label())))
        }
        None if from == "stub" => Ok(Foreign::stubs(workspace, SEED)),
        Some(("live", command)) => Ok(Foreign::Live(LiveSource::new(opened(command).await?))),
        Some(("record", command)) => {
            let Source::Folder(folder) = source else {
                return Err(embedded_is_fixed());
            };
            let path = folder.join(RECORDED);
            let out = files::append(&path).map_err(|error| UserError::caused_by(error).within(path.display()))?;
            Ok(Foreign::Live(LiveSource::new(Recording::new(opened(command).await?, out))))
        }
        None | Some(_) => {
            Err(UserError::new(format!("\"{from}\" answers for no tool"), "write auto, recorded, stub, live:CMD or record:CMD"))
        }
    }
}

/// The same stubs in every run.
const SEED: u64 = 1;

fn recorded(source: &Source) -> Result<Option<Foreign>, UserError> {
    // The embedded workspace has no recordings.
    let Source::Folder(folder) = source else { return Ok(None) };
    let path = folder.join(RECORDED);
    let text = files::read(&path).map_err(|error| UserError::caused_by(error).within(path.display()))?;
    text.map(|text| Recorded::read(&text).map(Foreign::Recorded).map_err(|error| UserError::from(error).within(path.display()))).transpose()
}

async fn opened(command: &str) -> Result<Passed, UserError> {
    let server = if command.starts_with("http://") || command.starts_with("https://") {
        world::mcp::Source::Url(command.to_owned())
    } else {
        server::from_command(command, env::for_child(&[]))?
    };
    let limits = Limits { time: PATIENCE, ..Limits::default() };
    Ok(Passed::open(&server, &limits).await?)
}
