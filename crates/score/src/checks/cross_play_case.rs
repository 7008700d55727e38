//! Case in cross play: the parts of its reference and expectation that decide which other references may pass it.

use super::expectations_measured::needs_words;
use crate::quality::StaticCase;
use model::Workspace;
use model::suite::{Case, ExpectedCall, ExpectedCalls, ReferenceAction, SuiteKind};

pub(super) struct CrossPlayCase<'w> {
    pub(super) case: &'w Case,
    pub(super) static_case: StaticCase<'w>,
    /// Tools called by its reference, sorted.
    tools: Vec<&'w str>,
    /// Skills activated by its reference.
    skills: Vec<&'w str>,
    /// Expected tools of each alternative.
    wanted: Vec<Vec<&'w str>>,
}

impl<'w> CrossPlayCase<'w> {
    pub(super) fn new(workspace: &'w Workspace, case: &'w Case, static_case: StaticCase<'w>) -> Self {
        let (tools, skills, wanted) = (reference_tools(workspace, case), reference_skills(case), expected_tools(workspace, case));
        Self { case, static_case, tools, skills, wanted }
    }

    /// Returns everything about the reference that [`Self::may_be_passed_by`] reads.
    pub(super) fn reference_kind(&self) -> ReferenceKind<'_> {
        ReferenceKind { tools: &self.tools, skills: &self.skills, has_no_calls: reference_has_no_calls(self.case) }
    }

    /// Returns everything about the expectation that [`Self::may_be_passed_by`] reads.
    pub(super) fn expectation_kind(&self) -> ExpectationKind<'_> {
        ExpectationKind {
            wanted: &self.wanted,
            skill: self.case.expect.skill.as_ref().map(|skill| skill.as_str()),
            exact_tools: (self.case.kind == SuiteKind::ToolSelection && !has_alternatives(self.case)).then_some(&self.tools),
            expects_no_calls: expects_no_calls(self.case),
        }
    }

    pub(super) fn may_be_passed_by(&self, other: &CrossPlayCase<'_>) -> bool {
        if expects_no_calls(self.case) && reference_has_no_calls(other.case) {
            return false;
        }
        let has_tools = self.wanted.is_empty() || self.wanted.iter().any(|tools| tools.iter().all(|tool| other.tools.contains(tool)));
        let has_skill = self.case.expect.skill.as_ref().is_none_or(|skill| other.skills.contains(&skill.as_str()));
        if !has_tools || !has_skill {
            return false;
        }
        // In tool selection a hit needs exactly the tools of an alternative.
        self.case.kind != SuiteKind::ToolSelection || self.tools == other.tools || has_alternatives(self.case)
    }
}

/// References of one kind may pass the same cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ReferenceKind<'c> {
    tools: &'c [&'c str],
    skills: &'c [&'c str],
    has_no_calls: bool,
}

/// Cases of one kind may be passed by the same references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ExpectationKind<'c> {
    wanted: &'c [Vec<&'c str>],
    skill: Option<&'c str>,
    exact_tools: Option<&'c [&'c str]>,
    expects_no_calls: bool,
}

fn has_alternatives(case: &Case) -> bool {
    matches!(&case.expect.calls, Some(ExpectedCalls::AnyOf(alternatives)) if alternatives.len() > 1)
}

/// Returns whether the case expects no call and nothing in particular to be said.
fn expects_no_calls(case: &Case) -> bool {
    let calls = matches!(case.expect.calls, None | Some(ExpectedCalls::NoTool(_)));
    calls && case.expect.skill.is_none() && case.expect.carry.is_empty() && !case.expect.assertions.iter().any(needs_words)
}

fn reference_has_no_calls(case: &Case) -> bool {
    case.reference.iter().all(|step| matches!(step.action, ReferenceAction::Ask(_) | ReferenceAction::Say(_) | ReferenceAction::Report(_)))
}

fn expected_tools<'w>(workspace: &'w Workspace, case: &'w Case) -> Vec<Vec<&'w str>> {
    let Some(ExpectedCalls::AnyOf(alternatives)) = &case.expect.calls else { return vec![] };
    let name = |call: &'w ExpectedCall| workspace.tool(&call.tool).map_or(call.tool.as_str(), |known| known.name.as_str());
    alternatives.iter().map(|calls| calls.iter().map(name).collect()).collect()
}

fn reference_skills(case: &Case) -> Vec<&str> {
    let activated = case.reference.iter().filter_map(|step| match &step.action {
        ReferenceAction::Activate { skill, .. } => Some(skill.as_str()),
        ReferenceAction::Call { .. }
        | ReferenceAction::Delegate { .. }
        | ReferenceAction::Ask(_)
        | ReferenceAction::Say(_)
        | ReferenceAction::Report(_) => None,
    });
    activated.collect()
}

fn reference_tools<'w>(workspace: &'w Workspace, case: &'w Case) -> Vec<&'w str> {
    let called = case.reference.iter().filter_map(|step| match &step.action {
        ReferenceAction::Call { tool, .. } => Some(workspace.tool(tool).map_or(tool.as_str(), |known| known.name.as_str())),
        ReferenceAction::Delegate { .. }
        | ReferenceAction::Activate { .. }
        | ReferenceAction::Ask(_)
        | ReferenceAction::Say(_)
        | ReferenceAction::Report(_) => None,
    });
    let mut called: Vec<&str> = called.collect();
    called.sort_unstable();
    called
}
