//! The tool lists a model is sent, as an MCP client sees them.

use crate::args::{ExportArgs, ToolShape};
use crate::commands::{block_on, open};
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::{files, report};
use model::{Listing, Profile, UserError, Workspace};
use serde_json::{Map, Value, json};

const SHAPES: &[ToolShape] = &[ToolShape::Anthropic, ToolShape::OpenaiChat, ToolShape::OpenaiResponses, ToolShape::Mcp];

pub(super) fn export(io: &Io, source: &Source, args: &ExportArgs) -> Exit {
    let workspace = match open(io, source, "tools export") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let profiles = match chosen(&workspace, &args.profile) {
        Ok(profiles) => profiles,
        Err(lines) => return report::refused(io, "tools export", &lines),
    };
    let shapes = if args.shape.is_empty() { SHAPES } else { &args.shape };
    let mut document = Map::new();
    for profile in profiles {
        // Through our own server and a client joined in memory: what is exported is what a client is told.
        let listings: Vec<Listing> = profile.select(&workspace.tools).into_iter().map(model::Tool::listing).collect();
        let seen = match block_on(world::mcp::list_in_memory(listings)) {
            Ok(Ok(seen)) => seen,
            Ok(Err(error)) => {
                io.say(&format!("profile {}: {error}", profile.name.value));
                return Exit::Incomplete;
            }
            Err(error) => {
                io.say(&format!("no runtime: {error}"));
                return Exit::Incomplete;
            }
        };
        let lists: Map<String, Value> = shapes.iter().map(|shape| (word(*shape).to_owned(), shaped(*shape, &seen))).collect();
        document.insert(profile.name.value.clone(), Value::Object(lists));
    }
    match &args.out {
        None => io.result(&format!("{:#}\n", Value::Object(document)), Exit::Clean),
        Some(folder) => {
            let texts: Vec<(String, String)> = document
                .iter()
                .flat_map(|(profile, lists)| {
                    let lists = lists.as_object().into_iter().flatten();
                    lists.map(move |(shape, list)| (format!("{profile}.{shape}.json"), format!("{list:#}\n")))
                })
                .collect();
            match files::write_folder(folder, texts.iter().map(|(name, text)| (name.as_str(), text.as_str()))) {
                Ok(written) => io.result(&format!("wrote {written} lists to {}\n", folder.display()), Exit::Clean),
                Err(error) => {
                    let what = format!("{} could not be written: {error}", folder.display());
                    report::complained(io, "tools export", &UserError::plain(what))
                }
            }
        }
    }
}

/// The profiles a person named, or all.
pub(super) fn chosen<'w>(workspace: &'w Workspace, names: &[String]) -> Result<Vec<&'w Profile>, Vec<UserError>> {
    if names.is_empty() {
        return Ok(workspace.profiles.iter().collect());
    }
    let known = || workspace.profiles.iter().map(|profile| profile.name.as_str());
    let missing: Vec<UserError> =
        names.iter().filter(|name| workspace.profile(name).is_none()).map(|name| UserError::unknown("profile", name, known())).collect();
    if missing.is_empty() { Ok(names.iter().filter_map(|name| workspace.profile(name)).collect()) } else { Err(missing) }
}

fn word(shape: ToolShape) -> &'static str {
    match shape {
        ToolShape::Anthropic => "anthropic",
        ToolShape::OpenaiChat => "openai-chat",
        ToolShape::OpenaiResponses => "openai-responses",
        ToolShape::Mcp => "mcp",
    }
}

fn shaped(shape: ToolShape, listings: &[Listing]) -> Value {
    let each = |make: fn(&Listing) -> Value| Value::Array(listings.iter().map(make).collect());
    match shape {
        ToolShape::Anthropic => {
            each(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema }))
        }
        ToolShape::OpenaiChat => each(|tool| {
            json!({ "type": "function",
                "function": { "name": tool.name, "description": tool.description, "parameters": tool.input_schema } })
        }),
        // Strict mode would demand that every parameter is required; ours have optional ones.
        ToolShape::OpenaiResponses => each(
            |tool| json!({ "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input_schema, "strict": false }),
        ),
        ToolShape::Mcp => {
            json!({ "tools": each(|tool| json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema })) })
        }
    }
}
