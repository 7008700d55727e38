//! Names in worlds exist, holes have defaults, and reads have answers. Tier 1, worlds.

use super::words::{exact_tool, suggest_name};
use super::{Check, ExampleWorkspace, FindingCollector};
use model::suite::{Case, ReferenceAction};
use model::world::{FixtureResult, InjectableText, MARKETS, ToolFixtures};
use model::{Location, OpClass, ParamKind, Tool, Workspace, WorldFile, WorldObject};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) struct WorldsComplete;

impl Check for WorldsComplete {
    fn id(&self) -> &'static str {
        "worlds_complete"
    }

    fn manual(&self) -> &'static str {
        "Every hole that a world uses has a benign default, its own or that of the world it inherits answers from, and every hole it \
         declares is used. Conditions of an answer name parameters of their tool. Objects are on a chain of the world, consist of its \
         tokens and have a kind that parameters use; their contract and market exist. Notes and latencies name tools. A read without a \
         view has an answer: a tool that never answers would count against the agent. So has an imported tool that writes, if a case \
         expects, forbids or plays it: runs make no writes on its server."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for world in &workspace.worlds {
            check_holes(workspace, world, found);
            check_answers(workspace, world, found);
            for object in &world.objects {
                found.record_examined();
                check_object(workspace, world, object, found);
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
        warn_of_unanswered_writes(workspace, found);
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("worlds/small.yaml", "balance: \"1000\" }", "balance: { hole: note } }")
    }
}

/// Returns the world that this one inherits answers from.
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
        // A world may override the default of an inherited hole.
        let inherited = fallback_world(workspace, world).is_some_and(|base| base.holes.contains_key(name));
        if !used.contains(name) && !inherited {
            found.error(&default.at, format!("world {} declares the hole {name}, which is never used", *world.name), "use it or remove it");
        }
    }
}

fn check_declared(workspace: &Workspace, world: &WorldFile, hole: &str, at: &Location, found: &mut FindingCollector) {
    found.record_examined();
    let known = |world: &WorldFile| world.holes.contains_key(hole);
    if !known(world) && !fallback_world(workspace, world).is_some_and(known) {
        let what = format!("world {} uses the hole {hole}, which has no default", *world.name);
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
                    format!("answers_from names the world {}, which does not exist", **name),
                    suggest_name(name, known, "name a world"),
                );
            }
            Some(other) if other.fixtures_from.is_some() => {
                let what = format!("world {} inherits answers from {}, which inherits them from another world", *world.name, **name);
                found.error(&name.at, what, "name the world that defines them");
            }
            Some(_) => {}
        }
    }
    for (name, answers) in &world.fixtures {
        check_conditions(workspace, world, name, answers, found);
    }
    for tool in workspace.tools.iter().filter(|tool| needs_answer(workspace, tool)) {
        found.record_examined();
        let answered = |world: &WorldFile| world.fixtures.contains_key(tool.name.as_str());
        if !answered(world) && !fallback_world(workspace, world).is_some_and(answered) {
            found.warning(
                &tool.at,
                format!("{} has no answer in world {}", *tool.name, *world.name),
                if workspace.policy.is_some() { "add an answer, or a view to the tool" } else { "add an answer to the world" },
            );
        }
    }
}

/// Returns whether only an answer of the world can answer a call of the tool. Imported tools also have recordings and stubs.
fn needs_answer(workspace: &Workspace, tool: &Tool) -> bool {
    let answered_by_chain = workspace.policy.is_some() && tool.acts.class() != OpClass::Read;
    let has_recordings = workspace.policy.is_none() && tool.pinned.is_some();
    tool.view.is_none() && !answered_by_chain && !has_recordings
}

/// Warns of imported tools that write, are named by a case and have no answer there: a replay aborts the trial.
fn warn_of_unanswered_writes(workspace: &Workspace, found: &mut FindingCollector) {
    let writes = workspace.tools.iter().filter(|tool| workspace.policy.is_none() && tool.pinned.is_some() && tool.writes());
    for tool in writes {
        found.record_examined();
        let answers = |world: &WorldFile| world.fixtures.contains_key(tool.name.as_str());
        let is_answered = |case: &Case| {
            let world = workspace.world(&case.brief.world);
            let by_world = world.is_some_and(|world| answers(world) || fallback_world(workspace, world).is_some_and(answers));
            by_world || case.brief.fixtures.iter().any(|fixture| tool.has_name(&fixture.tool))
        };
        let open: Vec<&Case> = workspace.cases().filter(|case| names_tool(workspace, case, tool) && !is_answered(case)).collect();
        if let Some(first) = open.first() {
            let more = if open.len() > 1 { format!(" and {}", model::count(open.len() - 1, "more case")) } else { String::new() };
            let what =
                format!("{} writes and has no answer for {}{more}, so a trial that calls it needs a recording", *tool.name, *first.id);
            found.warning(&tool.at, what, "add an answer to worlds/, because a run makes no writes on the server");
        }
    }
}

/// Returns whether a case expects, forbids or plays a call of the tool.
fn names_tool(workspace: &Workspace, case: &Case, tool: &Tool) -> bool {
    let plays = case.reference.iter().any(|step| match &step.action {
        ReferenceAction::Call { tool: called, .. } => tool.has_name(called),
        ReferenceAction::Delegate { .. }
        | ReferenceAction::Activate { .. }
        | ReferenceAction::Ask(_)
        | ReferenceAction::Say(_)
        | ReferenceAction::Report(_) => false,
    });
    let forbids = || case.expect.forbid.iter().filter_map(|call| call.tool.as_ref()).any(|name| tool.has_name(name));
    plays || workspace.expects_tool(case, |expected| std::ptr::eq(expected, tool)) || forbids()
}

fn check_conditions(workspace: &Workspace, world: &WorldFile, name: &str, answers: &ToolFixtures, found: &mut FindingCollector) {
    let Some(tool) = workspace.tool(name) else { return };
    for param in answers.rows.iter().flat_map(|row| row.when.keys()) {
        found.record_examined();
        if !tool.params.contains_key(param) {
            let what = format!("world {} answers {name} by {param}, which is not one of its parameters", *world.name);
            found.error(&answers.at, what, suggest_name(param, tool.params.keys().map(String::as_str), "name a parameter"));
        }
    }
}

fn check_object(workspace: &Workspace, world: &WorldFile, object: &WorldObject, found: &mut FindingCollector) {
    let at = &object.id.at;
    if !ParamKind::is_object_kind(&object.is) {
        found.error(
            at,
            format!("{} is a {}, which is not a known kind of object", *object.id, object.is),
            "use the word of an id or of an address role",
        );
    }
    let Some(chain) = workspace.chains.iter().find(|chain| chain.id == object.chain && world.chains.contains(&chain.id)) else {
        found.error(
            at,
            format!("{} is on chain {}, which world {} does not have", *object.id, object.chain, *world.name),
            "correct the chain",
        );
        return;
    };
    for asset in &object.assets {
        let known = chain.tokens.iter().map(|token| token.symbol.as_str()).chain([chain.native.as_str()]);
        if !known.clone().any(|symbol| symbol.eq_ignore_ascii_case(asset)) {
            found.error(
                &asset.at,
                format!("{} has the asset {}, which {} does not have", *object.id, **asset, chain.name),
                suggest_name(asset, known, "name a token"),
            );
        }
    }
    let of_role = || chain.contracts.iter().filter(|contract| object.role.is_none_or(|role| contract.role == role));
    let named = object.contract.as_ref();
    if object.role.is_some() && !of_role().any(|contract| named.is_none_or(|name| contract.name.eq_ignore_ascii_case(name))) {
        found.error(at, format!("{} names a contract that {} does not have", *object.id, chain.name), "correct role or contract");
    }
    if let Some(market) = object.market.as_ref().filter(|market| !MARKETS.contains(&market.as_str())) {
        found.error(
            at,
            format!("{} is in the market {market}, which does not exist", *object.id),
            format!("one of: {}", MARKETS.join(", ")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_write_of_a_case_without_an_answer_is_a_warning() {
        let found = |example: ExampleWorkspace| {
            let mut workspace = example.load().expect("a workspace");
            workspace.policy = None;
            workspace.tools.iter_mut().for_each(|tool| tool.pinned = Some(model::Spanned::new("x".to_owned(), tool.at.clone())));
            let mut found = FindingCollector::of("worlds_complete", 1);
            warn_of_unanswered_writes(&workspace, &mut found);
            found.finish().findings.into_iter().map(|finding| finding.what).collect::<Vec<_>>()
        };
        let open = found(ExampleWorkspace::minimal());
        assert!(open.iter().any(|what| what.starts_with("swap_execute writes and has no answer for ")), "{open:?}");
        let answered =
            found(ExampleWorkspace::minimal().edit("worlds/small.yaml", "answers:\n", "answers:\n  swap_execute: { status: done }\n"));
        assert!(!answered.iter().any(|what| what.starts_with("swap_execute ")), "{answered:?}");
    }
}
