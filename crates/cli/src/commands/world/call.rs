//! `world call`: one tool, its answer and everything that came of it.

use super::effects::{name, row, words};
use super::{chosen, foreign, kind};
use crate::args::{CallArgs, Format};
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report::{FORMAT, table};
use model::transcript::{Signed, ToolAnswer, TxOutcome};
use model::{Event, Happened, UserError, Workspace};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use world::{LiveWorld, Setup, Who, World, WorldTemplate};

pub(super) async fn call(io: &Io, source: &Source, workspace: Arc<Workspace>, args: &CallArgs) -> Result<Exit, UserError> {
    let name = chosen(&workspace, args.live.world.as_deref())?.name.value.clone();
    if workspace.tool(&args.tool).is_none() {
        return Err(UserError::unknown("tool", &args.tool, workspace.tools.iter().map(|tool| tool.name.as_str())));
    }
    let given = arguments(args)?;
    let foreign = foreign::of(source, &workspace, &args.live.foreign.foreign).await?;
    let template = WorldTemplate::new(workspace, &name, kind::of_world(&args.live.chain)?)?;
    let mut world = LiveWorld::new(&template, Setup { defence: kind::defence(args.live.defence), foreign, ..Setup::default() });
    let who = Who::new("you", 0);
    let number = world.asked(&who, &args.tool, &given);
    let answer = world.call(&who, number, &args.tool, &given).await;
    let events = world.take_events();
    let exit = match &answer {
        ToolAnswer::Error { .. } if world.broken().is_some() => Exit::Incomplete,
        ToolAnswer::Result(_) => Exit::Clean,
        ToolAnswer::Error { .. } => Exit::Missed,
    };
    let text = match io.format {
        Format::Json => {
            format!("{:#}\n", json!({ "format": FORMAT, "command": "world call", "answer": answer, "events": events, "exit": exit.code() }))
        }
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => as_text(io, &answer, &events),
    };
    Ok(io.result(&text, exit))
}

fn arguments(args: &CallArgs) -> Result<Value, UserError> {
    if let Some(text) = &args.args {
        return serde_json::from_str(text).map_err(|error| UserError::plain(format!("--args is not JSON: {error}")));
    }
    let mut map = Map::new();
    for pair in &args.pairs {
        let (name, text) = pair.split_once('=').ok_or_else(|| UserError::plain(format!("\"{pair}\" is not NAME=VALUE")))?;
        // Amounts are text in most tools: a number stays text where the schema wants it so, which the tool's answer will say.
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        map.insert(name.to_owned(), value);
    }
    Ok(Value::Object(map))
}

fn as_text(io: &Io, answer: &ToolAnswer, events: &[Event]) -> String {
    let mut text = match answer {
        ToolAnswer::Result(value) => format!("{}\n{value:#}\n", io.paint.good("answered")),
        ToolAnswer::Error { code, message } => format!("{} {message}\n", io.paint.bad(code)),
    };
    let mut rows = vec![];
    for event in events {
        text.push_str(&io.paint.dim(&line(event)));
        if let Happened::Mined { what, .. } = &event.happened {
            rows.extend(what.effects.iter().map(row));
        }
    }
    if !rows.is_empty() {
        text.push_str(&format!("\n{}\n", table(&["effect", "who", "what", "before", "after"], rows)));
    }
    text
}

/// One event in one line; calls and answers were shown already.
fn line(event: &Event) -> String {
    let said = match &event.happened {
        Happened::Signed { what, .. } => match what.as_ref() {
            Signed::Transaction { chain, to, .. } => {
                format!("signed a transaction to {} on chain {chain}", to.as_ref().map(name).unwrap_or_default())
            }
            Signed::Typed { primary, .. } => format!("signed {primary}"),
            Signed::Authorization { delegate, .. } => format!("signed its account over to {}", name(delegate)),
        },
        Happened::Mined { what, .. } => match &what.outcome {
            TxOutcome::Success => format!("mined on chain {}, gas {}", what.chain, what.gas_used),
            TxOutcome::Reverted { error } => format!("mined on chain {}, reverted: {}", what.chain, words(error)),
            TxOutcome::Halted => format!("mined on chain {}, halted", what.chain),
        },
        Happened::WouldBlock { hook, why, .. } => format!("{hook} would block: {why}"),
        Happened::Blocked { hook, why, .. } => format!("{hook} blocked: {why}"),
        Happened::Prepared { action, .. } => format!("prepared {} for {}", action.action_id, action.tool),
        Happened::Simulated { error, .. } => format!("simulated: {}", error.as_deref().unwrap_or("success")),
        Happened::Confirmed { granted, .. } => format!("the owner {}", if *granted { "agreed" } else { "declined" }),
        Happened::HoleRead { hole, filled } => format!("read the hole {hole}{}", if *filled { ", filled" } else { "" }),
        Happened::Remembered { key, .. } => format!("remembered {key}"),
        Happened::Recalled { key, provenance } => format!("recalled {key} from {}", provenance.source),
        Happened::Resolved { addresses, .. } => {
            let parties: Vec<String> = addresses.iter().map(|one| format!("{} is {}", one.param, name(&one.party))).collect();
            parties.join(", ")
        }
        Happened::UserSaid { .. }
        | Happened::Revealed { .. }
        | Happened::Unmatched { .. }
        | Happened::Judged { .. }
        | Happened::Misjudged { .. }
        | Happened::Said { .. }
        | Happened::Asked { .. }
        | Happened::Refused { .. }
        | Happened::Activated { .. }
        | Happened::Called { .. }
        | Happened::Answered { .. }
        | Happened::Delegated { .. }
        | Happened::Decided { .. }
        | Happened::Returned { .. }
        | Happened::Reported { .. }
        | Happened::Claimed { .. }
        | Happened::Messaged { .. } => return String::new(),
    };
    format!("{:>6} ms  {said}\n", event.at_ms)
}
