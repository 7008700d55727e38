//! `world call`: calls one tool and shows its answer, events and effects.

use super::effects::{decoded_text, effect_row, party_name};
use super::imported_tools::{ServerAccess, ServerWrites};
use super::{chain_kind, find_world, imported_tools};
use crate::args::{CallArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{FORMAT, table};
use crate::workspace_source::WorkspaceSource;
use model::transcript::{SignatureRequest, ToolAnswer, TxOutcome};
use model::{Event, EventKind, UserError, Workspace};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use world::{ActingAgent, LiveWorld, World, WorldSettings, WorldTemplate};

pub(super) async fn call(
    io: &CliOutput,
    source: &WorkspaceSource,
    workspace: Arc<Workspace>,
    args: &CallArgs,
) -> Result<ExitKind, UserError> {
    let name = find_world(&workspace, args.live.world.as_deref())?.name.value.clone();
    let Some(tool) = workspace.tool(&args.tool) else {
        return Err(UserError::unknown("tool", &args.tool, workspace.tools.iter().map(|tool| tool.name.as_str())));
    };
    let given = parse_arguments(args, &tool.listing().input_schema)?;
    // The user names the call.
    let access = ServerAccess { writes: ServerWrites::Allowed, ..ServerAccess::of_args(&args.live.foreign) };
    let foreign = imported_tools::parse_tool_answers(source, &workspace, &args.live.foreign.foreign, access).await?;
    let template = WorldTemplate::new(workspace, &name, chain_kind::parse_chain_kind(&args.live.chain)?)?;
    let mut world = LiveWorld::new(
        &template,
        WorldSettings { defence: chain_kind::defence_mode(args.live.defence), foreign, ..WorldSettings::default() },
    );
    let who = ActingAgent::new("you", 0);
    let number = world.record_call(&who, &args.tool, &given);
    let answer = world.call(&who, number, &args.tool, &given).await;
    let events = world.take_events();
    let exit = match &answer {
        ToolAnswer::Error { .. } if world.harness_fault().or(world.missing_recording()).is_some() => ExitKind::Incomplete,
        ToolAnswer::Result(_) => ExitKind::Clean,
        ToolAnswer::Error { .. } => ExitKind::Missed,
    };
    let text = match io.format {
        ReportFormat::Json => {
            format!("{:#}\n", json!({ "format": FORMAT, "command": "world call", "answer": answer, "events": events, "exit": exit.code() }))
        }
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            as_text(io, &answer, &events)
        }
    };
    Ok(io.print_result(&text, exit))
}

fn parse_arguments(args: &CallArgs, schema: &Value) -> Result<Value, UserError> {
    if let Some(text) = &args.args {
        return serde_json::from_str(text).map_err(|error| UserError::without_remedy(format!("--args is not JSON: {error}")));
    }
    let mut map = Map::new();
    for pair in &args.pairs {
        let (name, text) = pair.split_once('=').ok_or_else(|| UserError::without_remedy(format!("\"{pair}\" is not NAME=VALUE")))?;
        let known = schema["properties"].as_object();
        if let Some(known) = known.filter(|known| !known.contains_key(name) && schema["additionalProperties"] != true) {
            let what = format!("{} has no parameter \"{name}\"", args.tool);
            return Err(UserError::new(what, model::name_remedy("parameter", name, known.keys().map(String::as_str))));
        }
        map.insert(name.to_owned(), parse_value(text, &schema["properties"][name]));
    }
    Ok(Value::Object(map))
}

/// Parses a value as JSON, unless it is none or the schema wants text: `amount=250` is the text "250".
fn parse_value(text: &str, schema: &Value) -> Value {
    let is_text = |kind: &Value| kind == "string";
    let wants_text = match schema["type"].as_array() {
        Some(kinds) => kinds.iter().all(|kind| is_text(kind) || kind == "null") && kinds.iter().any(is_text),
        None => is_text(&schema["type"]),
    };
    match serde_json::from_str(text) {
        Ok(Value::String(quoted)) => Value::String(quoted),
        Ok(value) if !wants_text => value,
        Ok(_) | Err(_) => Value::String(text.to_owned()),
    }
}

fn as_text(io: &CliOutput, answer: &ToolAnswer, events: &[Event]) -> String {
    let mut text = match answer {
        ToolAnswer::Result(value) => format!("{}\n{value:#}\n", io.paint.good("answered")),
        ToolAnswer::Error { code, message } => format!("{} {message}\n", io.paint.bad(code)),
    };
    let mut rows = vec![];
    for event in events {
        text.push_str(&io.paint.dim(&event_line(event)));
        if let EventKind::Mined { what, .. } = &event.happened {
            rows.extend(what.effects.iter().map(effect_row));
        }
    }
    if !rows.is_empty() {
        text.push_str(&format!("\n{}\n", table(&["effect", "who", "what", "before", "after"], rows)));
    }
    text
}

/// Formats one event as a line. Calls and answers, which are shown separately, and other events without a line give an empty string.
fn event_line(event: &Event) -> String {
    let line = match &event.happened {
        EventKind::Signed { what, .. } => match what.as_ref() {
            SignatureRequest::Transaction { chain, to, .. } => {
                format!("signed a transaction to {} on chain {chain}", to.as_ref().map(party_name).unwrap_or_default())
            }
            SignatureRequest::Typed { primary, .. } => format!("signed {primary}"),
            SignatureRequest::Authorization { delegate, .. } => format!("signed an EIP-7702 authorization for {}", party_name(delegate)),
        },
        EventKind::Mined { what, .. } => match &what.outcome {
            TxOutcome::Success => format!("mined on chain {}, gas {}", what.chain, what.gas_used),
            TxOutcome::Reverted { error } => format!("mined on chain {}, reverted: {}", what.chain, decoded_text(error)),
            TxOutcome::Halted => format!("mined on chain {}, halted", what.chain),
        },
        EventKind::WouldBlock { hook, why, .. } => format!("{hook} would block: {why}"),
        EventKind::Blocked { hook, why, .. } => format!("{hook} blocked: {why}"),
        EventKind::Prepared { action, .. } => format!("prepared {} for {}", action.action_id, action.tool),
        EventKind::Simulated { error, .. } => format!("simulated: {}", error.as_deref().unwrap_or("success")),
        EventKind::Confirmed { granted, .. } => format!("the owner {}", if *granted { "agreed" } else { "declined" }),
        EventKind::HoleRead { hole, filled } => format!("read hole {hole}{}", if *filled { ", filled" } else { "" }),
        EventKind::FixtureUsed { fixture, .. } => format!("answered by fixture {fixture}"),
        EventKind::Remembered { key, .. } => format!("remembered {key}"),
        EventKind::Recalled { key, provenance } => format!("recalled {key} from {}", provenance.source),
        EventKind::Resolved { addresses, .. } => {
            let parties: Vec<String> = addresses.iter().map(|one| format!("{} is {}", one.param, party_name(&one.party))).collect();
            parties.join(", ")
        }
        EventKind::UserSaid { .. }
        | EventKind::Revealed { .. }
        | EventKind::Unmatched { .. }
        | EventKind::Judged { .. }
        | EventKind::Misjudged { .. }
        | EventKind::Scored { .. }
        | EventKind::Used { .. }
        | EventKind::Said { .. }
        | EventKind::Asked { .. }
        | EventKind::Refused { .. }
        | EventKind::Activated { .. }
        | EventKind::Called { .. }
        | EventKind::Answered { .. }
        | EventKind::Delegated { .. }
        | EventKind::Decided { .. }
        | EventKind::Returned { .. }
        | EventKind::Reported { .. }
        | EventKind::Claimed { .. }
        | EventKind::Messaged { .. } => return String::new(),
    };
    format!("{:>6} ms  {line}\n", event.at_ms)
}

#[cfg(test)]
mod tests {
    use super::parse_value;
    use serde_json::json;

    #[test]
    fn values_become_text_where_the_schema_wants_text() {
        let text = json!({ "type": "string" });
        for (value, schema, parsed) in [
            ("250", &text, json!("250")),
            ("\"250\"", &text, json!("250")),
            ("true", &text, json!("true")),
            ("{}", &text, json!("{}")),
            ("250", &json!({ "type": ["string", "null"] }), json!("250")),
            ("250", &json!({ "type": ["string", "integer"] }), json!(250)),
            ("250", &json!({ "type": "integer" }), json!(250)),
            ("250", &json!(null), json!(250)),
            ("WETH", &json!(null), json!("WETH")),
        ] {
            assert_eq!(parse_value(value, schema), parsed, "{value} {schema}");
        }
    }
}
