//! Agent files are consistent: the workflow uses the agent's tools and edges, the output exists. Spec 2.2, tool ordering and output format.

use super::graph::is_snake_case;
use super::{Check, ExampleWorkspace, FindingCollector};
use model::suite::UserIntent;
use model::{Agent, Spanned, StepAction, WorkflowStep, Workspace, did_you_mean};

pub(super) struct AgentFiles;

/// Selection degrades with the number of tools shown, for agents as for profiles.
const TOOL_LIMIT: usize = 20;

impl Check for AgentFiles {
    fn id(&self) -> &'static str {
        "agent_files"
    }

    fn manual(&self) -> &'static str {
        "An agent holds fewer than 20 tools, answers in an output that exists and, where policy.yaml is in force, has a workflow of at \
         least one step. The workflow calls only tools the agent lists and delegates only along its own edges, and the slots it needs are named by keys of the intent or in \
         snake_case."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for agent in &workspace.agents {
            found.record_examined();
            let name = &*agent.name;
            if let Some(twentieth) = agent.tools.get(TOOL_LIMIT - 1) {
                let what = format!("{name} holds {} tools", agent.tools.len());
                found.error(&twentieth.at, what, format!("keep fewer than {TOOL_LIMIT}: move work to another agent"));
            }
            if let Some(output) = agent.output.as_ref().filter(|output| workspace.output(output).is_none()) {
                let guess = did_you_mean(output, workspace.outputs.iter().map(|output| output.name.as_str()));
                let remedy = if guess.is_empty() { format!("write outputs/{}.yaml", **output) } else { guess };
                found.error(&output.at, format!("{name} answers in {}, which is not an output", **output), remedy);
            }
            if agent.workflow.is_empty() && workspace.policy.is_some() {
                found.error(
                    &agent.at,
                    format!("{name} has a workflow without a step"),
                    "list its steps in order: call, delegate, ask or say",
                );
            }
            agent.workflow.iter().for_each(|step| check_step(agent, step, workspace, found));
            for need in &agent.needs {
                found.record_examined();
                if !UserIntent::KEYS.contains(&need.as_str()) && !is_snake_case(need) {
                    let remedy = format!("write snake_case or one of: {}", UserIntent::KEYS.join(", "));
                    found.error(&agent.at, format!("{name} needs {need}, which is not a valid slot name"), remedy);
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("agents/desk.md", "call: [wallet_get_balance]", "call: [swap_get_quote]")
    }
}

fn check_step(agent: &Agent, step: &WorkflowStep, workspace: &Workspace, found: &mut FindingCollector) {
    found.record_examined();
    let whose = format!("step {} of {}", step.step, *agent.name);
    let named = |list: &[Spanned<String>], name: &str| list.iter().any(|own| **own == name);
    match &step.action {
        StepAction::Call(tools) => {
            if tools.is_empty() {
                found.error(&step.at, format!("{whose} calls nothing"), "name a tool or remove the step");
            }
            for tool in tools.iter().filter(|tool| !named(&agent.tools, tool)) {
                let meant = workspace.tool(tool).filter(|known| *known.name != **tool && named(&agent.tools, &known.name));
                let remedy = match meant {
                    Some(known) => format!("write {}", *known.name),
                    None => or_add(&did_you_mean(tool, agent.tools.iter().map(|own| own.as_str())), "tools"),
                };
                found.error(&tool.at, format!("{whose} calls {}, which the agent does not hold", **tool), remedy);
            }
        }
        StepAction::Delegate(to) => {
            if !named(&agent.delegates_to, to) {
                let remedy = or_add(&did_you_mean(to, agent.delegates_to.iter().map(|own| own.as_str())), "delegates_to");
                found.error(&to.at, format!("{whose} delegates to {}, to which the agent has no edge", **to), remedy);
            }
        }
        StepAction::Ask(_) | StepAction::Say(_) => {}
    }
}

fn or_add(guess: &str, list: &str) -> String {
    if guess.is_empty() { format!("add it to {list} or change the step") } else { format!("{guess} or add it to {list}") }
}
