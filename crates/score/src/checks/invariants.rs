//! Every agent has invariants that can be judged. Spec 6.2, behavioral invariants; design: at least three per agent.

use super::graph::{Graph, misnamed_agent, misnamed_tool, missing_reviewer};
use super::{Check, Example, Findings};
use model::rule::{Class, Selector, What};
use model::{Agent, Invariant, ReviewRole, Rule, Tool, Workspace, nearest};

pub(super) struct Invariants;

const AT_LEAST: usize = 3;
/// What a misspelt word of a rule may have been meant to be, besides a tool.
const WORDS: &[&str] = &["read", "quote", "simulate", "write", "sign", "ask", "say", "report", "delegate", "guard", "assess"];

impl Check for Invariants {
    fn id(&self) -> &'static str {
        "invariants"
    }

    fn manual(&self) -> &'static str {
        "Every agent states at least three invariants under different names, and every tool, agent and parameter in their rules exists. \
         A rule about a tool that neither the agent nor anybody it can reach holds would be met by never being tested; \
         only never and never_after may speak of such tools."
    }

    fn check(&self, workspace: &Workspace, found: &mut Findings) {
        let graph = Graph::of(workspace);
        for (n, agent) in workspace.agents.iter().enumerate() {
            found.look();
            let reachable = graph.reachable(n);
            let count = agent.invariants.len();
            if count < AT_LEAST {
                let what = format!("{} has {count} invariants", *agent.name);
                found.error(&agent.at, what, format!("state at least {AT_LEAST} rules that hold in every run"));
            }
            for (n, invariant) in agent.invariants.iter().enumerate() {
                found.look();
                if let Some(first) = agent.invariants[..n].iter().find(|earlier| *earlier.name == *invariant.name) {
                    let what = format!("{} has two invariants {}", *agent.name, *invariant.name);
                    found.error(&invariant.name.at, what, format!("rename one; the first is at {}", first.name.at));
                }
                check_rule(agent, invariant, &reachable, workspace, found);
            }
        }
    }

    fn rejects(&self) -> Example {
        Example::minimal().edit("agents/trader.md", "before(swap_get_quote, acts(swap))", "before(swap_quote, acts(swap))")
    }
}

fn check_rule(agent: &Agent, invariant: &Invariant, reachable: &[&Agent], workspace: &Workspace, found: &mut Findings) {
    let at = &invariant.rule.at;
    let whose = format!("invariant {} of {}", *invariant.name, *agent.name);
    let about_absence = matches!(*invariant.rule, Rule::Never(_) | Rule::NeverAfter(..));
    for selector in invariant.rule.selectors() {
        if let Some((what, remedy)) = misnamed(selector, workspace) {
            found.error(at, format!("{whose} names {what}"), remedy);
            continue;
        }
        if let What::Tool(tool) = &selector.what {
            let held =
                reachable.iter().any(|agent| agent.tools.iter().any(|own| workspace.tool(own).is_some_and(|own| *own.name == *tool)));
            if !held && !about_absence {
                let what = format!("{whose} is about {tool}, which neither it nor any agent it reaches holds");
                found.error(at, what, "state a rule about tools it can use, or write never(…)");
            }
        }
        let Some(tools) = meant_tools(selector, workspace) else { continue };
        for test in &selector.tests {
            if !tools.iter().any(|tool| tool.params.contains_key(&test.param)) {
                let known = tools.iter().flat_map(|tool| tool.params.keys()).map(String::as_str);
                let remedy =
                    nearest(&test.param, known).map_or("name a parameter of it".to_owned(), |best| format!("did you mean \"{best}\"?"));
                found.error(at, format!("{whose} tests {}, which is no parameter of what it selects", test.param), remedy);
            }
        }
    }
}

fn misnamed(selector: &Selector, workspace: &Workspace) -> Option<(String, String)> {
    match &selector.what {
        What::Tool(name) if workspace.tool(name).is_none() => {
            let known = workspace.tools.iter().map(|tool| tool.name.as_str()).chain(WORDS.iter().copied());
            let remedy =
                nearest(name, known).map_or("name a tool or a class of acts".to_owned(), |best| format!("did you mean \"{best}\"?"));
            Some((format!("{name}, which is no tool"), remedy))
        }
        What::Tool(name) => misnamed_tool(workspace, name),
        What::DelegateTo(name) => misnamed_agent(workspace, name),
        What::Guard(_) => missing_reviewer(workspace, ReviewRole::Guardian),
        What::Assess(_) => missing_reviewer(workspace, ReviewRole::Assessor),
        What::Class(_) | What::Acts(_) => None,
    }
}

/// The tools a selector can mean; `None` for acts that are no calls, whose arguments are free.
fn meant_tools<'w>(selector: &Selector, workspace: &'w Workspace) -> Option<Vec<&'w Tool>> {
    let all = |fits: &dyn Fn(&Tool) -> bool| Some(workspace.tools.iter().filter(|tool| fits(tool)).collect());
    match &selector.what {
        What::Tool(name) => workspace.tool(name).map(|tool| vec![tool]),
        What::Acts(pattern) => all(&|tool| pattern.matches(*tool.acts)),
        What::Class(Class::Write | Class::Sign) => all(&|tool| tool.writes()),
        What::Class(Class::Read | Class::Quote | Class::Simulate) => all(&|tool| !tool.writes()),
        What::Class(Class::Ask | Class::Say | Class::Report | Class::Delegate) => None,
        What::DelegateTo(_) | What::Guard(_) | What::Assess(_) => None,
    }
}
