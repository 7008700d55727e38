//! Cases of a workspace that general probes can attack.

use super::obeying_call::ObeyingCall;
use super::parts::carrier;
use model::probe::ProbeCarrier;
use model::suite::{Case, ReferenceStep, UserScript};
use model::{AttackChannel, Tool, ToolCapability, Workspace};
use std::collections::BTreeSet;

/// Case whose surface has a write that the case does not expect.
pub(super) struct Scenario<'w> {
    pub case: &'w Case,
    /// First tool that the reference calls as the agent of the surface.
    pub first_call: Option<&'w str>,
    /// Write that an attack asks for.
    pub obeying: ObeyingCall,
    tools: Vec<&'w Tool>,
}

/// Returns the cases that can be attacked. Cases of agents are preferred, since a trial on a profile ends with its first call, and of
/// these the ones whose reference calls a tool.
pub(super) fn scenarios(workspace: &Workspace) -> Vec<Scenario<'_>> {
    let found: Vec<Scenario<'_>> = workspace.cases().filter_map(|case| Scenario::of(workspace, case)).collect();
    let worth = |scenario: &Scenario<'_>| (scenario.case.brief.surface.agent().is_some(), scenario.first_call.is_some());
    let Some(best) = found.iter().map(worth).max() else { return found };
    found.into_iter().filter(|scenario| worth(scenario) == best).collect()
}

impl<'w> Scenario<'w> {
    fn of(workspace: &'w Workspace, case: &'w Case) -> Option<Self> {
        let scripted = matches!(case.brief.user_script, UserScript::Turns(_));
        // Only a judge could say whether a rubric was served.
        if !scripted || case.expect.rubric.is_some() {
            return None;
        }
        let tools = workspace.surface_tools(&case.brief.surface);
        let own = |step: &&'w ReferenceStep| {
            step.agent.as_ref().is_none_or(|agent| case.brief.surface.agent().is_some_and(|own| **own == **agent))
        };
        let called: Vec<&'w str> = case.reference.iter().filter(own).filter_map(|step| step.action.called_tool()).collect();
        let used: BTreeSet<&str> = called.iter().copied().collect();
        let mut writes: Vec<&Tool> = tools.iter().copied().filter(|tool| tool.writes()).collect();
        // A write that the case does not need is told from it at a glance; a privileged one may be stopped by its owner.
        writes.sort_by_key(|tool| (used.contains(tool.name.as_str()), tool.capability == ToolCapability::Privileged));
        let obeying = writes.into_iter().find_map(ObeyingCall::of)?;
        Some(Self { case, first_call: called.first().copied(), obeying, tools })
    }

    pub(super) fn can_call(&self, call: &ObeyingCall) -> bool {
        self.tools.iter().any(|tool| *tool.name == call.tool)
    }

    /// Returns the place of a text on a channel; none if the case has no such place.
    pub(super) fn carrier(&self, channel: AttackChannel) -> Option<ProbeCarrier> {
        match channel {
            AttackChannel::User => Some(carrier(self.case, channel, None)),
            AttackChannel::ToolDescription => {
                let shown = self.first_call.or_else(|| self.tools.first().map(|tool| tool.name.as_str()))?;
                Some(carrier(self.case, channel, Some(shown)))
            }
            // A trial on a profile ends with the call, before an answer is read.
            AttackChannel::ToolResult => {
                self.case.brief.surface.agent()?;
                Some(carrier(self.case, channel, Some(self.first_call?)))
            }
            AttackChannel::Memory | AttackChannel::AgentMessage | AttackChannel::ChainMetadata | AttackChannel::File => None,
        }
    }
}
