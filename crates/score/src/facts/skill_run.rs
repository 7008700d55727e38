//! Run of a skill: from the activation that closed the conversation to the report of the agent that carried the skill out.

use super::delegations::takes_turn;
use crate::evidence::Evidence;
use model::view::ASSISTANT;
use model::{Event, EventKind, SkillHandler};

#[derive(Debug, Clone, Copy)]
pub(crate) struct SkillRun<'a> {
    pub skill: &'a str,
    /// Event of the activation.
    pub activation: u32,
    /// Agent that carried the skill out; the assistant if the skill is a single tool.
    pub agent: &'a str,
    /// Event of the hand-over to the agent; absent if the skill is a single tool.
    pub hand_over: Option<u32>,
    /// Everything that happened after the activation.
    pub during: &'a [Event],
}

impl<'a> SkillRun<'a> {
    /// Returns the answer of the agent, which is the report to the user.
    pub(crate) fn report(&self) -> Option<(&'a Event, &'a str)> {
        self.during.iter().rev().find_map(|event| {
            let EventKind::Returned { text } = &event.happened else { return None };
            self.is_by_agent(event).then_some((event, text.as_str()))
        })
    }

    /// Returns whether the agent called a tool or delegated.
    pub(crate) fn has_acted(&self) -> bool {
        let acts = |event: &Event| matches!(event.happened, EventKind::Called { .. } | EventKind::Delegated { .. });
        self.during.iter().any(|event| self.is_by_agent(event) && acts(event))
    }

    fn is_by_agent(&self, event: &Event) -> bool {
        event.depth == 1 && event.by == self.agent
    }
}

/// Returns the run of the skill; `None` if the case is not carried out or no activation closed the conversation.
pub(crate) fn skill_run<'a>(evidence: &Evidence<'a>) -> Option<SkillRun<'a>> {
    let events: &'a [Event] = &evidence.transcript.events;
    if !evidence.case.brief.carry_out {
        return None;
    }
    events.iter().enumerate().find_map(|(at, event)| {
        let EventKind::Activated { skill, .. } = &event.happened else { return None };
        let during = events.get(at + 1..).filter(|_| event.depth == 0)?;
        // Only the driver starts an agent directly after an activation; a reply of the user would come between.
        let first = during.iter().find(|later| takes_turn(later) || matches!(later.happened, EventKind::UserSaid { .. }))?;
        let started = |agent, hand_over| SkillRun { skill, activation: event.n, agent, hand_over, during };
        match &evidence.workspace.skill(skill)?.handler {
            SkillHandler::Agent(agent) => is_hand_over(first, agent).then(|| started(agent.as_str(), Some(first.n))),
            SkillHandler::Tool(_) => (first.depth == 1).then(|| started(ASSISTANT, None)),
        }
    })
}

fn is_hand_over(event: &Event, agent: &str) -> bool {
    event.depth == 0 && matches!(&event.happened, EventKind::Delegated { to, .. } if to == agent)
}

/// Returns whether a delegation of the transcript is the start of the agent that carries out the skill, which the driver makes.
pub(crate) fn starts_skill_run(evidence: &Evidence<'_>, delegation: &Event) -> bool {
    skill_run(evidence).is_some_and(|run| run.hand_over == Some(delegation.n))
}
