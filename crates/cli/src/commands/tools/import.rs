//! `tools import`: imports the tools of an MCP server, pinned by hash.

use super::kind_guess::guess_kind;
use super::server;
use super::tool_names::ToolNames;
use crate::args::ImportArgs;
use crate::commands::open_workspace;
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use model::{Tool, ToolListing, UserError, Workspace, yaml};
use serde_json::{Map, Value, json};
use world::mcp::{DeclaredEffect, ServerListing};

const COMMAND: &str = "tools import";

pub(super) fn import(io: &CliOutput, source: &WorkspaceSource, args: &ImportArgs) -> ExitKind {
    let WorkspaceSource::Folder(folder) = source else {
        return report::print_error(io, COMMAND, &super::embedded_workspace_error());
    };
    let workspace = match open_workspace(io, source, COMMAND) {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let server = match server::server_source(&args.server) {
        Ok(server) => server,
        Err(why) => return report::print_error(io, COMMAND, &why),
    };
    let listed = match server::list_tools(io, COMMAND, &server, args.server.timeout) {
        Ok(listed) => listed,
        Err(exit) => return exit,
    };
    let name = args.name.as_deref().map_or_else(|| file_name(&listed.server), file_name);
    let names = ToolNames::new(&name, &listed, Some(&workspace));
    for (own, renamed) in names.renamed() {
        io.print_message(&format!("{own} is a tool of another file of the workspace, so this one is called {renamed}"));
    }
    let path = folder.join("tools").join(format!("{name}.yaml"));
    match files::write(&path, &tool_file(&name, &listed, &names, Some(&workspace))) {
        Ok(()) => {
            let tools = model::count(listed.tools.len(), "tool");
            let text = format!(
                "imported {tools} of {} {} (protocol {}) into {}\nnext: check capability, acts and kinds there, then bardo-eval smoke\n",
                listed.server,
                listed.version,
                listed.protocol,
                path.display()
            );
            io.print_result(&text, ExitKind::Clean)
        }
        Err(error) => {
            report::print_error(io, COMMAND, &UserError::without_remedy(format!("{} could not be written: {error}", path.display())))
        }
    }
}

/// Converts a server's name into a file name and category.
pub(crate) fn file_name(server: &str) -> String {
    let last = server.rsplit('/').next().unwrap_or(server).to_lowercase();
    let clean: String = last.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let clean = clean.trim_matches('_').chars().take(60).collect::<String>();
    if clean.is_empty() { "imported".to_owned() } else { clean }
}

/// Returns the tool file for a listing. Manual edits to tools that still exist are preserved.
pub(crate) fn tool_file(category: &str, listed: &ServerListing, names: &ToolNames, before: Option<&Workspace>) -> String {
    let has_policy = before.is_some_and(|workspace| workspace.policy.is_some());
    let tools: Vec<Value> = listed
        .tools
        .iter()
        .map(|listing| {
            let name = names.in_workspace(&listing.name);
            let known = before.and_then(|workspace| workspace.tool(name)).filter(|tool| tool.category == category);
            let guess = trusted_effect(&listing.name, listed.effects.get(&listing.name).copied());
            let mut entry = tool_entry(listing, listed.outputs.get(&listing.name), known, guess, has_policy);
            if name != listing.name {
                entry["name"] = json!(name);
                entry["remote_name"] = json!(listing.name);
            }
            entry
        })
        .collect();
    let head = "# Imported from an MCP server and pinned by hash. Check capability, risk, acts and kinds: they follow the annotations of the\n# server (readOnlyHint, destructiveHint) where it has any, which may be wrong, and are guesses elsewhere.\n";
    format!(
        "{head}{}",
        yaml::emit(&json!({ "category": category, "server": format!("{} {}", listed.server, listed.version), "tools": tools }))
    )
}

fn tool_entry(listing: &ToolListing, output: Option<&Value>, known: Option<&Tool>, effect: DeclaredEffect, has_policy: bool) -> Value {
    let (capability, risk, acts) = match known {
        Some(tool) => (capability_word(tool), risk_word(tool), tool.acts.value.word()),
        None => match effect {
            DeclaredEffect::ReadOnly => ("read", "layer1", "read"),
            // A server's word does not lower the risk of a write.
            DeclaredEffect::Additive | DeclaredEffect::Destructive => ("write", "layer3", "pass_through"),
        },
    };
    let kinds: Map<String, Value> = listing.input_schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            let said = known.and_then(|tool| tool.params.get(name)).and_then(|param| param.kind.as_ref()).map(ToString::to_string);
            (name.clone(), Value::String(said.unwrap_or_else(|| guess_kind(name, schema, has_policy))))
        })
        .collect();
    let mut entry = json!({
        "name": listing.name, "description": listing.description, "capability": capability, "risk": risk, "acts": acts,
        "pinned": listing.hash().to_string(), "input_schema": listing.input_schema,
    });
    if let Some(output) = output {
        entry["output_schema"] = output.clone();
    }
    if !kinds.is_empty() {
        entry["kinds"] = Value::Object(kinds);
    }
    if let Some(ttl) = known.and_then(|tool| tool.ttl_s) {
        entry["ttl_s"] = json!(ttl);
    }
    entry
}

fn capability_word(tool: &Tool) -> &'static str {
    match tool.capability {
        model::ToolCapability::Read => "read",
        model::ToolCapability::Write => "write",
        model::ToolCapability::Privileged => "privileged",
    }
}

fn risk_word(tool: &Tool) -> &'static str {
    match tool.risk {
        model::RiskLayer::Layer1 => "layer1",
        model::RiskLayer::Layer2 => "layer2",
        model::RiskLayer::Layer3 => "layer3",
    }
}

/// Returns the effect that the server declares, else a guess. A tool with the name of a write is a write, even if its server calls it
/// read-only: a wrong read would pass without approval, a wrong write is noticed.
fn trusted_effect(name: &str, declared: Option<DeclaredEffect>) -> DeclaredEffect {
    match declared {
        Some(DeclaredEffect::ReadOnly) if sounds_like_write(name) => DeclaredEffect::Destructive,
        Some(effect) => effect,
        None => guess_effect(name),
    }
}

fn sounds_like_write(name: &str) -> bool {
    const VERBS: [&str; 30] = [
        "add", "approve", "borrow", "bridge", "burn", "buy", "claim", "create", "delete", "deploy", "deposit", "edit", "execute", "mint",
        "move", "pay", "post", "redeem", "remove", "revoke", "sell", "send", "set", "sign", "stake", "swap", "transfer", "update",
        "withdraw", "write",
    ];
    words_of(name).iter().any(|word| VERBS.contains(&word.as_str()))
}

/// Guesses the effect of a tool without annotations. Everything that is not clearly a read is a write until a person corrects it.
fn guess_effect(name: &str) -> DeclaredEffect {
    if looks_read_only(name) && !sounds_like_write(name) { DeclaredEffect::ReadOnly } else { DeclaredEffect::Destructive }
}

fn looks_read_only(name: &str) -> bool {
    let verbs = ["get", "list", "read", "search", "find", "query", "fetch", "show", "describe", "count", "check", "echo"];
    words_of(name).iter().any(|word| verbs.iter().any(|verb| word == verb || (word.starts_with(verb) && word.len() <= verb.len() + 2)))
}

/// Splits a name at separators and at capitals, in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_stay_writes_on_the_word_of_a_server() {
        for name in ["transfer_all", "sendTokens", "wallet-approve", "delete_list"] {
            assert_eq!(trusted_effect(name, Some(DeclaredEffect::ReadOnly)), DeclaredEffect::Destructive, "{name}");
            assert_eq!(trusted_effect(name, None), DeclaredEffect::Destructive, "{name}");
        }
        assert_eq!(trusted_effect("directory_tree", Some(DeclaredEffect::ReadOnly)), DeclaredEffect::ReadOnly);
        assert_eq!(trusted_effect("directory_tree", None), DeclaredEffect::Destructive);
        assert_eq!(trusted_effect("getBalance", None), DeclaredEffect::ReadOnly);
        assert_eq!(trusted_effect("get_balance", Some(DeclaredEffect::Destructive)), DeclaredEffect::Destructive);
    }

    #[test]
    fn names_are_split_at_separators_and_capitals() {
        assert_eq!(words_of("sendRawTX-now_v2"), ["send", "raw", "tx", "now", "v2"]);
    }
}
