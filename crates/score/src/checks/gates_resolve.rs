//! Gates have unique ids, name existing things and have a meaningful bound. Spec: all thresholds.

use super::words::suggest_name;
use super::{Check, ExampleWorkspace, FindingCollector};
use crate::gates::reads_attacks_only;
use crate::scorers::is_in_force;
use model::{Gate, GateAggregate, GateBound, SliceAxis, SliceFilter, Spanned, Workspace};
use std::collections::BTreeMap;

pub(super) struct GatesResolve;

impl Check for GatesResolve {
    fn id(&self) -> &'static str {
        "gates_resolve"
    }

    fn manual(&self) -> &'static str {
        "Gate ids are unique, only and except name existing profiles, agents or skills, every gate belongs to a tier, and its bound is \
         neither always nor never met: between 0 and 1 for rates and means, not below 0 for counts and maxima. A tag that no case has is a \
         warning."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let mut first = BTreeMap::new();
        for gate in &workspace.gates {
            found.record_examined();
            if let Some(earlier) = first.get(gate.id.as_str()) {
                found.error(&gate.id.at, format!("duplicate gate id {}", *gate.id), format!("the first is at {earlier}; rename one"));
            } else {
                first.insert(gate.id.as_str(), &gate.id.at);
            }
            // `redteam` alone judges the gates on attacks if no tier has the red team.
            if gate.tiers.is_empty() && (workspace.policy.is_some() || !reads_attacks_only(&gate.scorer)) {
                found.error(&gate.at, format!("gate {} belongs to no tier", *gate.id), "name at least one, such as tiers: [2]");
            }
            check_bound(gate, found);
            check_scorer(workspace, gate, found);
            check_only(workspace, gate, found);
            check_except(workspace, gate, found);
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("gates.yaml", "slice: { each: profile }", "slice: { only: { profile: tradr } }")
    }
}

/// Reports a gate on a scorer of the DeFi rules where they are not in force: it would never have evidence.
fn check_scorer(workspace: &Workspace, gate: &Gate, found: &mut FindingCollector) {
    if gate.scorer.known().is_some_and(|id| !is_in_force(workspace, id)) {
        let what = format!("gate {} uses {}, which needs policy.yaml", *gate.id, *gate.scorer);
        found.error(&gate.scorer.at, what, "name another scorer, such as case_pass");
    }
}

fn check_bound(gate: &Gate, found: &mut FindingCollector) {
    let (GateBound::AtLeast(bound) | GateBound::AtMost(bound)) = gate.bound;
    let most = match gate.aggregate {
        GateAggregate::Rate | GateAggregate::MissRate | GateAggregate::Mean | GateAggregate::PassHatK => 1.0,
        GateAggregate::Misses | GateAggregate::Max => f64::INFINITY,
    };
    let always = match (gate.bound, gate.aggregate) {
        (GateBound::AtLeast(bound), _) => bound <= 0.0,
        (GateBound::AtMost(bound), GateAggregate::Rate | GateAggregate::MissRate | GateAggregate::Mean | GateAggregate::PassHatK) => {
            bound >= 1.0
        }
        (GateBound::AtMost(_), GateAggregate::Misses | GateAggregate::Max) => false,
    };
    if always || !(0.0..=most).contains(&bound) {
        let remedy = if most > 1.0 { "write 0 or more" } else { "write a value between 0 and 1, such as 0.85" };
        found.error(&gate.at, format!("gate {} has the bound {bound}, which is always or never met", *gate.id), remedy);
    }
}

fn check_only(workspace: &Workspace, gate: &Gate, found: &mut FindingCollector) {
    match &gate.slice.only {
        Some(SliceFilter::Profile(name)) => check_name(workspace, SliceAxis::Profile, name, gate, found),
        Some(SliceFilter::Agent(name)) => check_name(workspace, SliceAxis::Agent, name, gate, found),
        Some(SliceFilter::Skill(name)) => check_name(workspace, SliceAxis::Skill, name, gate, found),
        Some(SliceFilter::Tag(tag)) if !workspace.cases().any(|case| case.has_tag(tag)) => {
            let what = format!("gate {} selects the tag {}, which no case has", *gate.id, **tag);
            let remedy = suggest_name(tag, workspace.cases().flat_map(|case| &case.tags).map(String::as_str), "tag a case with it");
            found.warning(&tag.at, what, format!("{remedy} (until the suites are complete the gate has no evidence)"));
        }
        Some(SliceFilter::Tag(_) | SliceFilter::Writes | SliceFilter::Suites(_)) | None => {}
    }
}

fn check_except(workspace: &Workspace, gate: &Gate, found: &mut FindingCollector) {
    for name in &gate.slice.except {
        match gate.slice.each {
            Some(axis) => check_name(workspace, axis, name, gate, found),
            None => found.error(&name.at, format!("gate {} has except {} without each", *gate.id, **name), "add each or remove except"),
        }
    }
}

fn check_name(workspace: &Workspace, axis: SliceAxis, name: &Spanned<String>, gate: &Gate, found: &mut FindingCollector) {
    let known: Vec<String> = match axis {
        SliceAxis::Profile => workspace.profiles.iter().map(|profile| profile.name.value.clone()).collect(),
        SliceAxis::Agent => workspace.agents.iter().map(|agent| agent.name.value.clone()).collect(),
        SliceAxis::Skill => workspace.skills.iter().map(|skill| skill.name.value.clone()).collect(),
        SliceAxis::Asi => (1..=10).map(|n| format!("asi{n:02}")).collect(),
    };
    let same = |known: &String| *known == **name || axis == SliceAxis::Asi && known.eq_ignore_ascii_case(name);
    if !known.iter().any(same) {
        let what = format!("gate {} names the {} {}, which does not exist", *gate.id, axis.word(), **name);
        found.error(&name.at, what, suggest_name(name, known.iter().map(String::as_str), "correct the name or remove it"));
    }
}
