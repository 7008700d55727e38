//! `tools export`: tool lists as models are given them.

use crate::args::{ExportArgs, ToolShape};
use crate::commands::{block_on, open_workspace};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use crate::{files, report};
use model::{ToolListing, ToolProfile, UserError, Workspace};
use serde_json::{Map, Value, json};

const SHAPES: &[ToolShape] = &[ToolShape::Anthropic, ToolShape::OpenaiChat, ToolShape::OpenaiResponses, ToolShape::Mcp];

pub(super) fn export(io: &CliOutput, source: &WorkspaceSource, args: &ExportArgs) -> ExitKind {
    let workspace = match open_workspace(io, source, "tools export") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let profiles = match select_profiles(&workspace, &args.profile) {
        Ok(profiles) => profiles,
        Err(lines) => return report::print_refusal(io, "tools export", &lines),
    };
    let shapes = if args.shape.is_empty() { SHAPES } else { &args.shape };
    let mut document = Map::new();
    for profile in profiles {
        // Listed through our MCP server and an in-memory client, so that the export is what clients receive.
        let listings: Vec<ToolListing> = profile.select(&workspace.tools).into_iter().map(model::Tool::listing).collect();
        let seen = match block_on(world::mcp::list_in_memory(listings)) {
            Ok(Ok(seen)) => seen,
            Ok(Err(error)) => {
                io.print_message(&format!("profile {}: {error}", profile.name.value));
                return ExitKind::Incomplete;
            }
            Err(error) => {
                io.print_message(&format!("cannot start the async runtime: {error}"));
                return ExitKind::Incomplete;
            }
        };
        let lists: Map<String, Value> = shapes.iter().map(|shape| (shape_name(*shape).to_owned(), render_tools(*shape, &seen))).collect();
        document.insert(profile.name.value.clone(), Value::Object(lists));
    }
    match &args.out {
        None => io.print_result(&format!("{:#}\n", Value::Object(document)), ExitKind::Clean),
        Some(folder) => {
            let texts: Vec<(String, String)> = document
                .iter()
                .flat_map(|(profile, lists)| {
                    let lists = lists.as_object().into_iter().flatten();
                    lists.map(move |(shape, list)| (format!("{profile}.{shape}.json"), format!("{list:#}\n")))
                })
                .collect();
            match files::write_folder(folder, texts.iter().map(|(name, text)| (name.as_str(), text.as_str()))) {
                Ok(written) => {
                    io.print_result(&format!("wrote {} to {}\n", model::count(written, "list"), folder.display()), ExitKind::Clean)
                }
                Err(error) => {
                    let what = format!("{} could not be written: {error}", folder.display());
                    report::print_error(io, "tools export", &UserError::without_remedy(what))
                }
            }
        }
    }
}

/// Returns the named profiles, or all if none is named.
pub(super) fn select_profiles<'w>(workspace: &'w Workspace, names: &[String]) -> Result<Vec<&'w ToolProfile>, Vec<UserError>> {
    if names.is_empty() {
        return Ok(workspace.profiles.iter().collect());
    }
    let known = || workspace.profiles.iter().map(|profile| profile.name.as_str());
    let missing: Vec<UserError> =
        names.iter().filter(|name| workspace.profile(name).is_none()).map(|name| UserError::unknown("profile", name, known())).collect();
    if missing.is_empty() { Ok(names.iter().filter_map(|name| workspace.profile(name)).collect()) } else { Err(missing) }
}

fn shape_name(shape: ToolShape) -> &'static str {
    match shape {
        ToolShape::Anthropic => "anthropic",
        ToolShape::OpenaiChat => "openai-chat",
        ToolShape::OpenaiResponses => "openai-responses",
        ToolShape::Mcp => "mcp",
    }
}

fn render_tools(shape: ToolShape, listings: &[ToolListing]) -> Value {
    let each = |make: fn(&ToolListing) -> Value| Value::Array(listings.iter().map(make).collect());
    match shape {
        ToolShape::Anthropic => {
            each(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema }))
        }
        ToolShape::OpenaiChat => each(|tool| {
            json!({ "type": "function",
                "function": { "name": tool.name, "description": tool.description, "parameters": tool.input_schema } })
        }),
        // Strict mode would require every parameter; ours have optional ones.
        ToolShape::OpenaiResponses => each(
            |tool| json!({ "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input_schema, "strict": false }),
        ),
        ToolShape::Mcp => {
            json!({ "tools": each(|tool| json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema })) })
        }
    }
}
