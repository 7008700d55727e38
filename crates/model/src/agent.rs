//! An agent of the system under test: Markdown with front matter.

use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::review::ReviewRole;
use crate::rule::Rule;
use crate::yaml::{Fields, Node, flag, list, name, one_of, spot, text};

#[derive(Debug, Clone)]
pub struct Agent {
    pub name: Spot<String>,
    pub role: String,
    pub category: String,
    pub tier: AgentTier,
    pub writes: Spot<bool>,
    pub terminal: bool,
    /// Its calls re-check others, so repeating them is not redundant work.
    pub verifier: bool,
    /// The review this agent gives before others write.
    pub serves: Option<Spot<ReviewRole>>,
    pub tools: Vec<Spot<String>>,
    pub delegates_to: Vec<Spot<String>>,
    /// What a hand-over to this agent must carry.
    pub needs: Vec<String>,
    pub output: Spot<String>,
    pub workflow: Vec<Step>,
    pub invariants: Vec<Invariant>,
    pub prompt: String,
    pub at: Place,
}

impl Agent {
    /// Returns whether the agent gives this review.
    pub fn serves_as(&self, role: ReviewRole) -> bool {
        self.serves.as_ref().is_some_and(|serves| serves.value == role)
    }
}

/// Which class of model the agent is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentTier {
    Deep,
    Standard,
}

#[derive(Debug, Clone)]
pub struct Step {
    pub step: String,
    pub does: StepDoes,
    pub when: Option<String>,
    pub at: Place,
}

#[derive(Debug, Clone)]
pub enum StepDoes {
    /// One of these tools.
    Call(Vec<Spot<String>>),
    Delegate(Spot<String>),
    Ask(String),
    Say(String),
}

#[derive(Debug, Clone)]
pub struct Invariant {
    pub name: Spot<String>,
    pub rule: Spot<Rule>,
    pub why: String,
}

const TIERS: &[(&str, AgentTier)] = &[("deep", AgentTier::Deep), ("standard", AgentTier::Standard)];

pub(crate) fn read_agent(node: &Node, prompt: &str, report: &Report) -> Option<Agent> {
    let fields = Fields::open(node, "an agent", report)?;
    let name_ = fields.need("name", spot(name));
    let role = fields.need("role", text);
    let category = fields.need("category", text);
    let tier = fields.need("tier", one_of(TIERS));
    let writes = fields.need("writes", spot(flag));
    let terminal = fields.need("terminal", flag);
    let verifier = fields.or_default("verifier", flag);
    let serves = fields.maybe("serves", spot(one_of(ReviewRole::ALL)));
    let tools = fields.need("tools", list(spot(name)));
    let delegates_to = fields.need("delegates_to", list(spot(name)));
    let needs = fields.need("needs", list(name));
    let output = fields.need("output", spot(name));
    let workflow = fields.need("workflow", list(read_step));
    let invariants = fields.need("invariants", list(read_invariant));
    fields.close();
    if prompt.trim().is_empty() {
        report.add(node.line, "the agent has no prompt", "write it below the front matter");
    }
    Some(Agent {
        name: name_?,
        role: role?,
        category: category?,
        tier: tier?,
        writes: writes?,
        terminal: terminal?,
        verifier,
        serves,
        tools: tools?,
        delegates_to: delegates_to?,
        needs: needs?,
        output: output?,
        workflow: workflow?,
        invariants: invariants?,
        prompt: prompt.trim().to_owned(),
        at: report.place(node.line),
    })
}

fn read_step(node: &Node, report: &Report) -> Option<Step> {
    let fields = Fields::open(node, "a workflow step", report)?;
    let step = fields.need("step", name);
    let when = fields.maybe("when", text);
    let call = fields.maybe("call", list(spot(name))).map(StepDoes::Call);
    let delegate = fields.maybe("delegate", spot(name)).map(StepDoes::Delegate);
    let ask = fields.maybe("ask", text).map(StepDoes::Ask);
    let say = fields.maybe("say", text).map(StepDoes::Say);
    fields.close();
    let mut does: Vec<StepDoes> = [call, delegate, ask, say].into_iter().flatten().collect();
    if does.len() != 1 {
        report.add(node.line, "a workflow step does exactly one thing", "write one of call, delegate, ask, say");
        return None;
    }
    Some(Step { step: step?, does: does.remove(0), when, at: report.place(node.line) })
}

fn read_invariant(node: &Node, report: &Report) -> Option<Invariant> {
    let fields = Fields::open(node, "an invariant", report)?;
    let name_ = fields.need("name", spot(name));
    let rule = fields.need("rule", spot(read_rule));
    let why = fields.need("why", text);
    fields.close();
    Some(Invariant { name: name_?, rule: rule?, why: why? })
}

pub(crate) fn read_rule(node: &Node, report: &Report) -> Option<Rule> {
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
