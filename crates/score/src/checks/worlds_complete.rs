//! What a world names exists, its holes have their defaults, and its sources answer. Tier 1, worlds.

use super::words::{exact_tool, suggest_name};
use super::{Check, ExampleWorkspace, FindingCollector};
use model::world::{FixtureResult, InjectableText, MARKETS, ToolFixtures};
use model::{Location, OpClass, ParamKind, Workspace, WorldFile, WorldObject};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) struct WorldsComplete;

impl Check for WorldsComplete {
    fn id(&self) -> &'static str {
        "worlds_complete"
    }

    fn manual(&self) -> &'static str {
        "Every hole that a world uses has a benign default, its own or that of the world whose answers it takes over, and every hole it \
         declares is used. Conditions of an answer name parameters of their tool. Things lie on a chain of the world, are made of its tokens and \
         go by a word that parameters use; their contract and market exist. Notes and latencies belong to tools. A read without a view has an \
         answer: a source that never answers would be counted against the agent."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for world in &workspace.worlds {
            check_holes(workspace, world, found);
            check_answers(workspace, world, found);
            for thing in &world.objects {
                found.record_examined();
                check_thing(workspace, world, thing, found);
            }
            let notes = world.tool_notes.iter().map(|(name, note)| (name, &note.at));
            let latencies = world.latency_ms.iter().map(|(name, latency)| (name, &latency.at));
            for (name, at) in notes.chain(latencies) {
                found.record_examined();
                if let Err(no) = exact_tool(workspace, name) {
                    found.error(at, format!("world {}: {}", *world.name, no.what), no.remedy);
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("worlds/small.yaml", "balance: \"1000\" }", "balance: { hole: note } }")
    }
}

/// The world whose answers hold where this one has none.
fn fallback_world<'w>(workspace: &'w Workspace, world: &WorldFile) -> Option<&'w WorldFile> {
    world.fixtures_from.as_ref().and_then(|name| workspace.world(name))
}

fn check_holes(workspace: &Workspace, world: &WorldFile, found: &mut FindingCollector) {
    let mut used = BTreeSet::new();
    let mut read = |text: &InjectableText, at: &Location, found: &mut FindingCollector| {
        if let InjectableText::Hole(hole) = text {
            used.insert(hole.value.clone());
            check_declared(workspace, world, hole, at, found);
        }
    };
    for memory in &world.memory {
        read(&memory.text, &world.at, found);
    }
    for message in &world.messages {
        read(&message.text, &world.at, found);
    }
    for text in world.files.values().chain(world.tool_notes.values()) {
        read(&text.value, &text.at, found);
    }
    for token in &world.tokens {
        read(&token.name, &token.address.at, found);
        read(&token.symbol, &token.address.at, found);
    }
    for answers in world.fixtures.values() {
        for row in &answers.rows {
            match &row.result {
                FixtureResult::Value(value) => {
                    for hole in hole_names(value) {
                        check_declared(workspace, world, &hole, &answers.at, found);
                        used.insert(hole);
                    }
                }
                FixtureResult::Error { message, .. } => {
                    if let InjectableText::Hole(hole) = message {
                        check_declared(workspace, world, hole, &answers.at, found);
                        used.insert(hole.value.clone());
                    }
                }
            }
        }
    }
    for (name, default) in &world.holes {
        found.record_examined();
        // A world may give another default to a hole of the answers it takes over.
        let inherited = fallback_world(workspace, world).is_some_and(|base| base.holes.contains_key(name));
        if !used.contains(name) && !inherited {
            found.error(&default.at, format!("world {} declares the hole {name}, which nothing reads", *world.name), "use it or remove it");
        }
    }
}

fn check_declared(workspace: &Workspace, world: &WorldFile, hole: &str, at: &Location, found: &mut FindingCollector) {
    found.record_examined();
    let known = |world: &WorldFile| world.holes.contains_key(hole);
    if !known(world) && !fallback_world(workspace, world).is_some_and(known) {
        let what = format!("world {} reads the hole {hole}, which has no default", *world.name);
        found.error(at, what, suggest_name(hole, world.holes.keys().map(String::as_str), "add it to holes with its benign text"));
    }
}

fn hole_names(value: &Value) -> Vec<String> {
    match value {
        Value::Object(map) => match (map.len(), map.get("hole")) {
            (1, Some(Value::String(hole))) => vec![hole.clone()],
            (_, Some(_) | None) => map.values().flat_map(hole_names).collect(),
        },
        Value::Array(items) => items.iter().flat_map(hole_names).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
    }
}

fn check_answers(workspace: &Workspace, world: &WorldFile, found: &mut FindingCollector) {
    if let Some(name) = &world.fixtures_from {
        found.record_examined();
        match workspace.world(name) {
            None => {
                let known = workspace.worlds.iter().map(|world| world.name.as_str());
                found.error(
                    &name.at,
                    format!("there is no world {} to take answers from", **name),
                    suggest_name(name, known, "name a world"),
                );
            }
            Some(other) if other.fixtures_from.is_some() => {
                let what = format!("world {} takes answers from {}, which takes them from another", *world.name, **name);
                found.error(&name.at, what, "name the world that has them");
            }
            Some(_) => {}
        }
    }
    for (name, answers) in &world.fixtures {
        check_conditions(workspace, world, name, answers, found);
    }
    for tool in workspace.tools.iter().filter(|tool| tool.acts.class() == OpClass::Read && tool.view.is_none()) {
        found.record_examined();
        let answered = |world: &WorldFile| world.fixtures.contains_key(tool.name.as_str());
        if !answered(world) && !fallback_world(workspace, world).is_some_and(answered) {
            found.warning(
                &tool.at,
                format!("{} never answers in world {}", *tool.name, *world.name),
                "add an answer, or a view to the tool",
            );
        }
    }
}

fn check_conditions(workspace: &Workspace, world: &WorldFile, name: &str, answers: &ToolFixtures, found: &mut FindingCollector) {
    let Some(tool) = workspace.tool(name) else { return };
    for param in answers.rows.iter().flat_map(|row| row.when.keys()) {
        found.record_examined();
        if !tool.params.contains_key(param) {
            let what = format!("world {} answers {name} by {param}, which is no parameter of it", *world.name);
            found.error(&answers.at, what, suggest_name(param, tool.params.keys().map(String::as_str), "name a parameter"));
        }
    }
}

fn check_thing(workspace: &Workspace, world: &WorldFile, thing: &WorldObject, found: &mut FindingCollector) {
    let at = &thing.id.at;
    if !ParamKind::is_object_kind(&thing.is) {
        found.error(
            at,
            format!("{} is a {}, which no parameter asks for", *thing.id, thing.is),
            "use the word of an id or of an address role",
        );
    }
    let Some(chain) = workspace.chains.iter().find(|chain| chain.id == thing.chain && world.chains.contains(&chain.id)) else {
        found.error(
            at,
            format!("{} lies on chain {}, which world {} does not have", *thing.id, thing.chain, *world.name),
            "correct the chain",
        );
        return;
    };
    for asset in &thing.assets {
        let known = chain.tokens.iter().map(|token| token.symbol.as_str()).chain([chain.native.as_str()]);
        if !known.clone().any(|symbol| symbol.eq_ignore_ascii_case(asset)) {
            found.error(
                &asset.at,
                format!("{} is made of {}, which {} does not have", *thing.id, **asset, chain.name),
                suggest_name(asset, known, "name a token"),
            );
        }
    }
    let of_role = || chain.contracts.iter().filter(|contract| thing.role.is_none_or(|role| contract.role == role));
    let named = thing.contract.as_ref();
    if thing.role.is_some() && !of_role().any(|contract| named.is_none_or(|name| contract.name.eq_ignore_ascii_case(name))) {
        found.error(at, format!("{} lies in a contract that {} does not have", *thing.id, chain.name), "correct role or contract");
    }
    if let Some(market) = thing.market.as_ref().filter(|market| !MARKETS.contains(&market.as_str())) {
        found.error(
            at,
            format!("{} lies in the market {market}, which no venue opens", *thing.id),
            format!("one of: {}", MARKETS.join(", ")),
        );
    }
}
