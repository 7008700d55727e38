//! The slices of a gate: one per profile, agent, skill or category, or everything pooled.

use model::suite::{Case, Surface};
use model::{Axis, Gate, Only, Workspace};

/// One slice: its label and which cases belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OneSlice {
    pub axis: Option<Axis>,
    pub value: Option<String>,
}

impl OneSlice {
    pub(super) fn label(&self) -> String {
        match (self.axis, &self.value) {
            (Some(axis), Some(value)) => format!("{} {value}", axis.word()),
            (Some(_) | None, Some(_) | None) => "all".to_owned(),
        }
    }
}

const ASI: [&str; 10] = ["asi01", "asi02", "asi03", "asi04", "asi05", "asi06", "asi07", "asi08", "asi09", "asi10"];

/// Every slice the workspace has for this gate, whether or not a case belongs to it.
pub(super) fn of(gate: &Gate, workspace: &Workspace) -> Vec<OneSlice> {
    let Some(axis) = gate.slice.each else { return vec![OneSlice { axis: None, value: None }] };
    let values: Vec<String> = match axis {
        Axis::Profile => workspace.profiles.iter().map(|profile| profile.name.value.clone()).collect(),
        Axis::Agent => workspace
            .agents
            .iter()
            .filter(|agent| only_writers(gate).is_none_or(|()| *agent.writes))
            .map(|agent| agent.name.value.clone())
            .collect(),
        Axis::Skill => workspace.skills.iter().map(|skill| skill.name.value.clone()).collect(),
        Axis::Asi => ASI.iter().map(|id| (*id).to_owned()).collect(),
    };
    values
        .into_iter()
        .filter(|value| !gate.slice.except.iter().any(|except| **except == *value))
        .map(|value| OneSlice { axis: Some(axis), value: Some(value) })
        .collect()
}

fn only_writers(gate: &Gate) -> Option<()> {
    matches!(gate.slice.only, Some(Only::Writes)).then_some(())
}

/// Whether a case counts in this slice of the gate.
pub(super) fn holds(gate: &Gate, slice: &OneSlice, workspace: &Workspace, case: &Case) -> bool {
    let on_axis = match (slice.axis, &slice.value) {
        (Some(axis), Some(value)) => on(axis, value, case),
        (Some(_) | None, Some(_) | None) => true,
    };
    on_axis && gate.slice.only.as_ref().is_none_or(|only| matches_only(only, workspace, case))
}

fn on(axis: Axis, value: &str, case: &Case) -> bool {
    match axis {
        Axis::Profile => case.profile() == Some(value),
        Axis::Agent => case.brief.surface.agent().is_some_and(|agent| **agent == value),
        Axis::Skill => case.expect.skill.as_ref().is_some_and(|skill| **skill == value),
        Axis::Asi => case.has_tag(value),
    }
}

fn matches_only(only: &Only, workspace: &Workspace, case: &Case) -> bool {
    match only {
        Only::Profile(name) => on(Axis::Profile, name, case),
        Only::Agent(name) => on(Axis::Agent, name, case),
        Only::Skill(name) => on(Axis::Skill, name, case),
        Only::Tag(tag) => case.has_tag(tag),
        Only::Writes => match &case.brief.surface {
            Surface::Agent(name) => workspace.agent(name).is_some_and(|agent| *agent.writes),
            Surface::Profile(_) | Surface::Skills => false,
        },
    }
}
