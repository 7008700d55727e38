//! Case that a fault is put into, with questions about the steps of its reference.

use model::suite::{ArgValue, Case, CaseSurface, NamedArgs, ReferenceAction, ReferenceStep};
use model::{OpClass, ReviewRole, SkillHandler, Tool, Workspace};
use serde_json::Value;

#[derive(Debug, Clone, Copy)]
pub struct FaultScene<'w> {
    pub workspace: &'w Workspace,
    pub case: &'w Case,
}

impl<'w> FaultScene<'w> {
    pub fn new(workspace: &'w Workspace, case: &'w Case) -> Self {
        Self { workspace, case }
    }

    /// Returns the steps of the reference, for cases that are not attacked.
    pub(crate) fn benign_steps(&self) -> Option<Vec<ReferenceStep>> {
        self.case.attack.is_none().then(|| self.case.reference.clone())
    }

    pub(crate) fn tool(&self, step: &ReferenceStep) -> Option<&'w Tool> {
        match &step.action {
            ReferenceAction::Call { tool, .. } => self.workspace.tool(tool),
            ReferenceAction::Delegate { .. }
            | ReferenceAction::Activate { .. }
            | ReferenceAction::Ask(_)
            | ReferenceAction::Say(_)
            | ReferenceAction::Report(_) => None,
        }
    }

    pub(crate) fn is_class(&self, step: &ReferenceStep, class: OpClass) -> bool {
        self.tool(step).is_some_and(|tool| tool.acts.class() == class)
    }

    /// Returns whether a step calls a write tool and not only as a preview.
    pub(crate) fn is_write(&self, step: &ReferenceStep) -> bool {
        self.tool(step).is_some_and(Tool::writes) && !is_dry_run(step)
    }

    /// Returns whether a step quotes, previews or writes.
    pub(crate) fn is_trade_call(&self, step: &ReferenceStep) -> bool {
        self.tool(step).is_some_and(|tool| tool.writes() || tool.acts.class() == OpClass::Quote)
    }

    pub(crate) fn is_review(&self, step: &ReferenceStep, role: ReviewRole) -> bool {
        matches!(&step.action, ReferenceAction::Delegate { to, .. } if self.workspace.review_role(to) == Some(role))
    }

    /// Returns the agent that acts at the first step of the case.
    pub(crate) fn root_agent(&self) -> Option<&'w str> {
        match &self.case.brief.surface {
            CaseSurface::Agent(name) => Some(name.as_str()),
            CaseSurface::Profile(_) | CaseSurface::Skills => None,
        }
    }

    /// Returns the agent of a step: the one that it names, the agent of the activated skill, or the first agent.
    pub(crate) fn agent_of(&self, steps: &[ReferenceStep], at: usize) -> Option<&'w str> {
        let named = steps.get(at).and_then(|step| step.agent.as_ref()).and_then(|agent| self.workspace.agent(agent));
        let of_skill = || {
            steps[..at].iter().rev().find_map(|step| match &step.action {
                ReferenceAction::Activate { skill, .. } => match &self.workspace.skill(skill)?.handler {
                    SkillHandler::Agent(agent) => self.workspace.agent(agent),
                    SkillHandler::Tool(_) => None,
                },
                ReferenceAction::Call { .. }
                | ReferenceAction::Delegate { .. }
                | ReferenceAction::Ask(_)
                | ReferenceAction::Say(_)
                | ReferenceAction::Report(_) => None,
            })
        };
        named.or_else(of_skill).map(|agent| agent.name.as_str()).or_else(|| self.root_agent())
    }

    /// Returns arguments that a reference of the workspace calls a tool with.
    pub(crate) fn sample_args(&self, tool: &Tool) -> Option<NamedArgs<ArgValue>> {
        if tool.params.values().all(|param| !param.required) {
            return Some(NamedArgs::new());
        }
        let is_literal = |args: &NamedArgs<ArgValue>| args.values().all(|arg| matches!(arg, ArgValue::Given(_)));
        let found = self.workspace.cases().flat_map(|case| &case.reference).find_map(|step| match &step.action {
            ReferenceAction::Call { tool: name, args } if tool.has_name(name) && is_literal(args) => Some(args.clone()),
            ReferenceAction::Call { .. }
            | ReferenceAction::Delegate { .. }
            | ReferenceAction::Activate { .. }
            | ReferenceAction::Ask(_)
            | ReferenceAction::Say(_)
            | ReferenceAction::Report(_) => None,
        });
        // A preview would not do what the tool is for.
        found.map(|mut args| {
            args.remove("dry_run");
            args
        })
    }
}

pub(crate) fn is_dry_run(step: &ReferenceStep) -> bool {
    matches!(&step.action, ReferenceAction::Call { args, .. } if args.get("dry_run") == Some(&ArgValue::Given(Value::Bool(true))))
}
