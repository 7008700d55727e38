//! The reference run of every case in the reference workspace, written down as it would happen, offends no scorer.

#![allow(clippy::disallowed_methods, reason = "the test reads the reference workspace")]

use bardo_eval_score::scorers::{Evidence, score};
use model::suite::{ArgValue, Case, RefDoes, Surface};
use model::transcript::{Decision, ToolAnswer};
use model::world::Gives;
use model::{Acts, Ending, Event, Files, Happened, Hash, Tool, Transcript, Workspace};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

fn workspace() -> Workspace {
    fn walk(root: &Path, folder: &Path, files: &mut Files) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(root, &path, files);
            } else {
                let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
                files.insert(name, std::fs::read_to_string(&path).expect("text"));
            }
        }
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../evals"));
    let mut files = Files::default();
    walk(root, root, &mut files);
    Workspace::load(&files).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// The events of a reference, with an action_id for whatever prepares an action and an approval for whoever asks.
fn played(workspace: &Workspace, case: &Case) -> Transcript {
    let seat = case.brief.surface.agent().map_or("assistant", |agent| agent.as_str());
    let mut steps: Vec<(String, Happened)> = vec![("user".into(), Happened::UserSaid { text: case.brief.talk.opening().into() })];
    let mut actions: BTreeMap<&str, String> = BTreeMap::new();
    let given = |args: &indexmap::IndexMap<String, ArgValue>, actions: &BTreeMap<&str, String>| {
        let value = |arg: &ArgValue| match arg {
            ArgValue::Given(value) => value.clone(),
            ArgValue::From { step, path } if path == "action_id" => actions.get(step.as_str()).map_or(Value::Null, |id| json!(id)),
            ArgValue::From { step, path } => fixture(workspace, case, step, path),
        };
        args.iter().map(|(name, arg)| (name.clone(), value(arg))).collect::<Map<String, Value>>()
    };
    for (n, step) in (1_u32..).zip(&case.reference) {
        let by = step.agent.as_ref().map_or(seat, |agent| agent.as_str()).to_owned();
        match &step.does {
            RefDoes::Call { tool, args } => {
                let args = Value::Object(given(args, &actions));
                let known = workspace.tool(tool).expect("a tool");
                let prepares = *known.acts == Acts::Quote || args.get("dry_run") == Some(&Value::Bool(true));
                let id = format!("action-{n}");
                let answer = if prepares { json!({"action_id": id}) } else { answered(workspace, case, known) };
                let answer = ToolAnswer::Result(answer);
                if let Some(name) = &step.name {
                    actions.insert(name, id);
                }
                steps.push((by.clone(), Happened::Called { call: n, tool: tool.value.clone(), args }));
                steps.push((by, Happened::Answered { call: n, answer }));
            }
            RefDoes::Delegate { to, params } => {
                let params = given(params, &actions);
                let action_id = params.get("action_id").and_then(Value::as_str).map(str::to_owned);
                steps.push((by, Happened::Delegated { to: to.value.clone(), params }));
                if matches!(to.as_str(), "safety-guardian" | "risk-assessor") {
                    let (reason, calldata, policy) = (String::new(), None, None);
                    steps.push((to.value.clone(), Happened::Decided { action_id, decision: Decision::Approve, reason, calldata, policy }));
                }
            }
            RefDoes::Activate { skill, params } => {
                steps.push((by, Happened::Activated { skill: skill.value.clone(), params: given(params, &actions) }));
            }
            RefDoes::Ask(text) => steps.push((by, Happened::Asked { text: text.clone() })),
            RefDoes::Say(text) if by == seat => steps.push((by, Happened::Said { text: text.clone() })),
            RefDoes::Say(text) => steps.push((by, Happened::Returned { text: text.clone() })),
            RefDoes::Report(text) => steps.push((by, Happened::Reported { text: text.clone() })),
        }
    }
    // On a profile the calls are one move: they are answered when all of them are made.
    if matches!(case.brief.surface, Surface::Profile(_)) {
        steps.sort_by_key(|(_, happened)| matches!(happened, Happened::Answered { .. }));
    }
    let mut seats = vec![seat.to_owned()];
    let event = |(n, (by, happened)): (u32, (String, Happened))| {
        let depth = depth(&mut seats, &by, &happened);
        Event { n, at_ms: u64::from(n) * 1000, by, depth, happened }
    };
    let events = (1..).zip(steps).map(event).collect();
    Transcript {
        trial: Hash::of_text(&case.id),
        case: case.id.value.clone(),
        subject: "reference".into(),
        events,
        ending: Ending::Finished,
    }
}

/// Hops from the seat to whoever acts; `seats` are those at work, from the seat down.
fn depth(seats: &mut Vec<String>, by: &str, happened: &Happened) -> u32 {
    let at = seats.iter().rposition(|seated| seated == by).unwrap_or(0);
    if by != "user" {
        seats.truncate(at + 1);
    }
    if let Happened::Delegated { to, .. } = happened {
        seats.push(to.clone());
    }
    u32::try_from(at).expect("few seats")
}

/// What the world's fixture says at a path of the answer to an earlier step.
fn fixture(workspace: &Workspace, case: &Case, step: &str, path: &str) -> Value {
    let tool = case.reference.iter().find(|one| one.name.as_deref() == Some(step)).and_then(|one| match &one.does {
        RefDoes::Call { tool, .. } => workspace.tool(tool),
        RefDoes::Delegate { .. } | RefDoes::Activate { .. } | RefDoes::Ask(_) | RefDoes::Say(_) | RefDoes::Report(_) => None,
    });
    let pointer = format!("/{}", path.replace('.', "/"));
    tool.and_then(|tool| answered(workspace, case, tool).pointer(&pointer).cloned()).unwrap_or_default()
}

/// The first fixture of a tool.
fn answered(workspace: &Workspace, case: &Case, tool: &Tool) -> Value {
    let answers = workspace.world(&case.brief.world).and_then(|world| world.answers.get(tool.name.as_str()));
    match answers.and_then(|answers| answers.rows.first()).map(|row| &row.gives) {
        Some(Gives::Value(value)) => value.clone(),
        Some(Gives::Error { .. }) | None => json!({"ok": true}),
    }
}

#[test]
fn references_offend_no_scorer() {
    let workspace = workspace();
    let (mut cases, mut offences) = (0, vec![]);
    for case in workspace.cases().filter(|case| case.expect.post.is_empty()) {
        cases += 1;
        let transcript = played(&workspace, case);
        for score in score(&Evidence::new(&workspace, case, &transcript)) {
            if score.reading.is_violation() {
                let because: Vec<_> = score.because.iter().map(|because| because.what.as_str()).collect();
                offences.push(format!("{} {}: {}", case.id.value, score.scorer, because.join("; ")));
            }
        }
    }
    assert!(cases > 0, "no cases");
    assert!(offences.is_empty(), "{} offences in {cases} cases: {offences:#?}", offences.len());
}
