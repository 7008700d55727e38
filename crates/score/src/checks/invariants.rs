//! Every agent has at least three invariants that can be evaluated. Spec 6.2, behavioral invariants.

use super::graph::{DelegationGraph, misnamed_agent, misnamed_tool, missing_reviewer};
use super::{Check, ExampleWorkspace, FindingCollector};
use crate::rules::can_break;
use model::rule::{ActionClass, ActionSelector, ArgTest, SelectorTarget};
use model::{Agent, AgentInvariant, ReviewRole, Rule, Tool, Workspace, nearest_name};

pub(super) struct InvariantsCheck;

const MIN_INVARIANTS: usize = 3;
/// Selector words suggested for a misspelt name, besides tools.
const SELECTOR_WORDS: &[&str] =
    &["read", "quote", "simulate", "write", "sign", "ask", "say", "report", "delegate", "call", "guard", "assess"];

impl Check for InvariantsCheck {
    fn id(&self) -> &'static str {
        "invariants"
    }

    fn manual(&self) -> &'static str {
        "Every agent states at least three invariants (any number without policy.yaml) under different names, and every tool, agent and parameter in their rules exists. A \
         rule about a tool that neither the agent nor any agent it can reach holds would never be exercised, and a prohibition that the \
         agent's own tools and edges cannot break would be kept by doing nothing."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let graph = DelegationGraph::of(workspace);
        for (n, agent) in workspace.agents.iter().enumerate() {
            found.record_examined();
            let reachable = graph.reachable(n);
            let count = agent.invariants.len();
            if count < MIN_INVARIANTS && workspace.policy.is_some() {
                let what = format!("{} has {}", *agent.name, model::count(count, "invariant"));
                found.error(&agent.at, what, format!("state at least {MIN_INVARIANTS} rules that hold in every run"));
            }
            for (n, invariant) in agent.invariants.iter().enumerate() {
                found.record_examined();
                if let Some(first) = agent.invariants[..n].iter().find(|earlier| *earlier.name == *invariant.name) {
                    let what = format!("{} has two invariants {}", *agent.name, *invariant.name);
                    found.error(&invariant.name.at, what, format!("rename one; the first is at {}", first.name.at));
                }
                check_rule(agent, invariant, &reachable, workspace, found);
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("agents/trader.md", "before(swap_get_quote, acts(swap))", "before(swap_quote, acts(swap))")
    }
}

fn check_rule(agent: &Agent, invariant: &AgentInvariant, reachable: &[&Agent], workspace: &Workspace, found: &mut FindingCollector) {
    let at = &invariant.rule.at;
    let whose = format!("invariant {} of {}", *invariant.name, *agent.name);
    let about_absence = matches!(*invariant.rule, Rule::Never(_) | Rule::NeverAfter(..));
    if !can_break(workspace, agent, &invariant.rule) {
        let remedy = "remove it, or state a rule about acts that its tools and delegations allow";
        found.error(at, format!("{whose} cannot be broken with the tools and edges of the agent"), remedy);
    }
    for selector in invariant.rule.selectors() {
        if let Some((what, remedy)) = misnamed_selector(selector, workspace) {
            found.error(at, format!("{whose} names {what}"), remedy);
            continue;
        }
        if let SelectorTarget::Tool(tool) = &selector.what {
            let held =
                reachable.iter().any(|agent| agent.tools.iter().any(|own| workspace.tool(own).is_some_and(|own| *own.name == *tool)));
            if !held && !about_absence {
                let what = format!("{whose} is about {tool}, which neither it nor any agent it reaches holds");
                found.error(at, what, "state a rule about tools it can use, or write never(…)");
            }
        }
        let Some(tools) = selector_tools(selector, workspace) else { continue };
        for param in selector.tests.iter().filter_map(ArgTest::param) {
            if !tools.iter().any(|tool| tool.params.contains_key(param)) {
                let known = tools.iter().flat_map(|tool| tool.params.keys()).map(String::as_str);
                let remedy = nearest_name(param, known)
                    .map_or("name a parameter of these tools".to_owned(), |best| format!("did you mean \"{best}\"?"));
                found.error(at, format!("{whose} tests {param}, which is not a parameter of the selected tools"), remedy);
            }
        }
    }
}

fn misnamed_selector(selector: &ActionSelector, workspace: &Workspace) -> Option<(String, String)> {
    match &selector.what {
        SelectorTarget::Tool(name) if workspace.tool(name).is_none() => {
            let known = workspace.tools.iter().map(|tool| tool.name.as_str()).chain(SELECTOR_WORDS.iter().copied());
            let remedy = nearest_name(name, known)
                .map_or("name a tool or a class of actions".to_owned(), |best| format!("did you mean \"{best}\"?"));
            Some((format!("{name}, which is not a tool"), remedy))
        }
        SelectorTarget::Tool(name) => misnamed_tool(workspace, name),
        SelectorTarget::DelegateTo(name) => misnamed_agent(workspace, name),
        SelectorTarget::Guard(_) => missing_reviewer(workspace, ReviewRole::Guardian),
        SelectorTarget::Assess(_) => missing_reviewer(workspace, ReviewRole::Assessor),
        // Each alternative is checked on its own.
        SelectorTarget::Class(_) | SelectorTarget::Acts(_) | SelectorTarget::AnyOf(_) => None,
    }
}

/// Returns the tools a selector matches; `None` for actions that are not calls, whose arguments are not checked.
fn selector_tools<'w>(selector: &ActionSelector, workspace: &'w Workspace) -> Option<Vec<&'w Tool>> {
    let all = |fits: &dyn Fn(&Tool) -> bool| Some(workspace.tools.iter().filter(|tool| fits(tool)).collect());
    match &selector.what {
        SelectorTarget::Tool(name) => workspace.tool(name).map(|tool| vec![tool]),
        SelectorTarget::Acts(pattern) => all(&|tool| pattern.matches(*tool.acts)),
        SelectorTarget::Class(ActionClass::Write | ActionClass::Sign) => all(&|tool| tool.writes()),
        SelectorTarget::Class(ActionClass::Read | ActionClass::Quote | ActionClass::Simulate) => all(&|tool| !tool.writes()),
        SelectorTarget::Class(ActionClass::Call) => all(&|_| true),
        SelectorTarget::Class(ActionClass::Ask | ActionClass::Say | ActionClass::Report | ActionClass::Delegate) => None,
        SelectorTarget::DelegateTo(_) | SelectorTarget::Guard(_) | SelectorTarget::Assess(_) | SelectorTarget::AnyOf(_) => None,
    }
}
