//! Agent of the system under test, read from Markdown with front matter.

use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::review::ReviewRole;
use crate::rule::Rule;
use crate::yaml::{YamlFields, YamlNode, flag, list, name, one_of, spanned, text};

#[derive(Debug, Clone)]
pub struct Agent {
    pub name: Spanned<String>,
    pub role: String,
    pub category: String,
    pub tier: AgentTier,
    /// The agent may call write tools. Without the key this follows from its tools.
    pub writes: Spanned<bool>,
    pub terminal: bool,
    /// Repeats calls of other agents to verify them; these do not count as redundant.
    pub verifier: bool,
    /// Review this agent gives before others write.
    pub serves: Option<Spanned<ReviewRole>>,
    pub tools: Vec<Spanned<String>>,
    pub delegates_to: Vec<Spanned<String>>,
    /// Keys that a delegation to this agent must pass.
    pub needs: Vec<String>,
    /// Absent if the agent may answer in any form.
    pub output: Option<Spanned<String>>,
    pub workflow: Vec<WorkflowStep>,
    pub invariants: Vec<AgentInvariant>,
    pub prompt: String,
    pub at: Location,
}

impl Agent {
    /// Returns whether the agent gives this review.
    pub fn serves_as(&self, role: ReviewRole) -> bool {
        self.serves.as_ref().is_some_and(|serves| serves.value == role)
    }
}

/// Class of model the agent is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentTier {
    Deep,
    Standard,
}

#[derive(Debug, Clone)]
pub struct WorkflowStep {
    pub step: String,
    pub action: StepAction,
    pub when: Option<String>,
    pub at: Location,
}

#[derive(Debug, Clone)]
pub enum StepAction {
    /// Calls one of these tools.
    Call(Vec<Spanned<String>>),
    Delegate(Spanned<String>),
    Ask(String),
    Say(String),
}

#[derive(Debug, Clone)]
pub struct AgentInvariant {
    pub name: Spanned<String>,
    pub rule: Spanned<Rule>,
    pub why: String,
}

const TIERS: &[(&str, AgentTier)] = &[("deep", AgentTier::Deep), ("standard", AgentTier::Standard)];

pub(crate) fn read_agent(node: &YamlNode, prompt: &str, report: &ProblemReport) -> Option<Agent> {
    let fields = YamlFields::open(node, "an agent", report)?;
    let name_ = fields.required("name", spanned(name));
    let role = fields.required_by_policy("role", text);
    let category = fields.required_by_policy("category", text);
    let tier = fields.required_by_policy("tier", one_of(TIERS));
    let writes = fields.required_by_policy("writes", spanned(flag));
    let terminal = fields.required_by_policy("terminal", flag);
    let verifier = fields.or_default("verifier", flag);
    let serves = fields.optional("serves", spanned(one_of(ReviewRole::ALL)));
    let tools = fields.required("tools", list(spanned(name)));
    let delegates_to = fields.required_by_policy("delegates_to", list(spanned(name)));
    let needs = fields.required_by_policy("needs", list(name));
    let output = fields.required_by_policy("output", spanned(name));
    let workflow = fields.required_by_policy("workflow", list(read_step));
    let invariants = fields.required_by_policy("invariants", list(read_invariant));
    fields.close();
    if serves.is_some() && !report.has_policy() {
        report.add(node.line, "serves needs policy.yaml, by which reviews decide", "remove serves or add policy.yaml");
    }
    if prompt.trim().is_empty() && report.has_policy() {
        report.add(node.line, "the agent has no prompt", "write it below the front matter");
    }
    let name_ = name_?;
    Some(Agent {
        role: role.unwrap_or_default(),
        category: category.unwrap_or_default(),
        tier: tier.unwrap_or(AgentTier::Standard),
        writes: writes.unwrap_or_else(|| Spanned::new(false, name_.at.clone())),
        terminal: terminal.unwrap_or_default(),
        verifier,
        serves,
        tools: tools?,
        delegates_to: delegates_to.unwrap_or_default(),
        needs: needs.unwrap_or_default(),
        output,
        workflow: workflow.unwrap_or_default(),
        invariants: invariants.unwrap_or_default(),
        name: name_,
        prompt: prompt.trim().to_owned(),
        at: report.location(node.line),
    })
}

fn read_step(node: &YamlNode, report: &ProblemReport) -> Option<WorkflowStep> {
    let fields = YamlFields::open(node, "a workflow step", report)?;
    let step = fields.required("step", name);
    let when = fields.optional("when", text);
    let call = fields.optional("call", list(spanned(name))).map(StepAction::Call);
    let delegate = fields.optional("delegate", spanned(name)).map(StepAction::Delegate);
    let ask = fields.optional("ask", text).map(StepAction::Ask);
    let say = fields.optional("say", text).map(StepAction::Say);
    fields.close();
    let mut actions: Vec<StepAction> = [call, delegate, ask, say].into_iter().flatten().collect();
    if actions.len() != 1 {
        report.add(node.line, "a workflow step does exactly one thing", "write one of call, delegate, ask, say");
        return None;
    }
    Some(WorkflowStep { step: step?, action: actions.remove(0), when, at: report.location(node.line) })
}

fn read_invariant(node: &YamlNode, report: &ProblemReport) -> Option<AgentInvariant> {
    let fields = YamlFields::open(node, "an invariant", report)?;
    let name_ = fields.required("name", spanned(name));
    let rule = fields.required("rule", spanned(read_rule));
    let why = fields.required("why", text);
    fields.close();
    Some(AgentInvariant { name: name_?, rule: rule?, why: why? })
}

pub(crate) fn read_rule(node: &YamlNode, report: &ProblemReport) -> Option<Rule> {
    let written = text(node, report)?;
    match Rule::parse(&written) {
        Ok(rule) => Some(rule),
        Err(error) => {
            report.add(node.line, format!("the rule \"{written}\" cannot be read"), error.to_string());
            None
        }
    }
}

#[cfg(test)]
mod tests;
