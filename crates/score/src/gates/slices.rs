//! Slices of a gate: one per profile, agent, skill or OWASP ASI category, or one for all cases.

use model::suite::{Case, CaseSurface};
use model::{Gate, SliceAxis, SliceFilter, Workspace};

/// Key of a slice. Without axis and value it contains all cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SliceKey {
    pub axis: Option<SliceAxis>,
    pub value: Option<String>,
}

impl SliceKey {
    pub(super) fn label(&self) -> String {
        match (self.axis, &self.value) {
            (Some(axis), Some(value)) => format!("{} {value}", axis.word()),
            (Some(_) | None, Some(_) | None) => "all".to_owned(),
        }
    }
}

const ASI_TAGS: [&str; 10] = ["asi01", "asi02", "asi03", "asi04", "asi05", "asi06", "asi07", "asi08", "asi09", "asi10"];

/// Returns every slice of a gate, also those without a case.
pub(super) fn slices_of_gate(gate: &Gate, workspace: &Workspace) -> Vec<SliceKey> {
    let Some(axis) = gate.slice.each else { return vec![SliceKey { axis: None, value: None }] };
    let values: Vec<String> = match axis {
        SliceAxis::Profile => workspace.profiles.iter().map(|profile| profile.name.value.clone()).collect(),
        SliceAxis::Agent => workspace
            .agents
            .iter()
            .filter(|agent| only_writers(gate).is_none_or(|()| *agent.writes))
            .map(|agent| agent.name.value.clone())
            .collect(),
        SliceAxis::Skill => workspace.skills.iter().map(|skill| skill.name.value.clone()).collect(),
        SliceAxis::Asi => ASI_TAGS.iter().map(|id| (*id).to_owned()).collect(),
    };
    values
        .into_iter()
        .filter(|value| !gate.slice.except.iter().any(|except| **except == *value))
        .map(|value| SliceKey { axis: Some(axis), value: Some(value) })
        .collect()
}

fn only_writers(gate: &Gate) -> Option<()> {
    matches!(gate.slice.only, Some(SliceFilter::Writes)).then_some(())
}

/// Reports whether an agent has a slice of its own in the gate, for readings that are divided among agents.
pub(super) fn is_slice_of_agent(gate: &Gate, slice: &SliceKey, agent: &str, case: &Case) -> bool {
    let suites = match &gate.slice.only {
        Some(SliceFilter::Suites(kinds)) => kinds.contains(&case.kind),
        Some(SliceFilter::Profile(_) | SliceFilter::Agent(_) | SliceFilter::Skill(_) | SliceFilter::Tag(_) | SliceFilter::Writes)
        | None => true,
    };
    slice.axis == Some(SliceAxis::Agent) && slice.value.as_deref() == Some(agent) && suites
}

/// Reports whether a case belongs to a slice of the gate.
pub(super) fn slice_contains(gate: &Gate, slice: &SliceKey, workspace: &Workspace, case: &Case) -> bool {
    let on_axis = match (slice.axis, &slice.value) {
        (Some(axis), Some(value)) => is_on_axis(axis, value, case),
        (Some(_) | None, Some(_) | None) => true,
    };
    on_axis && gate.slice.only.as_ref().is_none_or(|only| matches_only(only, workspace, case))
}

fn is_on_axis(axis: SliceAxis, value: &str, case: &Case) -> bool {
    match axis {
        SliceAxis::Profile => case.profile() == Some(value),
        SliceAxis::Agent => case.brief.surface.agent().is_some_and(|agent| **agent == value),
        SliceAxis::Skill => case.expect.skill.as_ref().is_some_and(|skill| **skill == value),
        SliceAxis::Asi => case.has_tag(value),
    }
}

fn matches_only(only: &SliceFilter, workspace: &Workspace, case: &Case) -> bool {
    match only {
        SliceFilter::Profile(name) => is_on_axis(SliceAxis::Profile, name, case),
        SliceFilter::Agent(name) => is_on_axis(SliceAxis::Agent, name, case),
        SliceFilter::Skill(name) => is_on_axis(SliceAxis::Skill, name, case),
        SliceFilter::Tag(tag) => case.has_tag(tag),
        SliceFilter::Writes => match &case.brief.surface {
            CaseSurface::Agent(name) => workspace.agent(name).is_some_and(|agent| *agent.writes),
            CaseSurface::Profile(_) | CaseSurface::Skills => false,
        },
        SliceFilter::Suites(kinds) => kinds.contains(&case.kind),
    }
}
