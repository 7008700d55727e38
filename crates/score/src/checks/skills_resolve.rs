//! Handlers, agents and redirects of skills exist, and no skill writes without an agent. Spec 2.3, skills.

use super::graph::{is_snake_case, misnamed_agent, misnamed_tool};
use super::{Check, ExampleWorkspace, FindingCollector};
use model::{Skill, SkillHandler, Workspace, did_you_mean};

pub(super) struct SkillsResolve;

impl Check for SkillsResolve {
    fn id(&self) -> &'static str {
        "skills_resolve"
    }

    fn manual(&self) -> &'static str {
        "The agent or tool that handles a skill, the agents it also involves and the skills it redirects to exist, and none redirects to \
         itself. A skill handled by a direct tool call never writes, because no agent would simulate the write and ask safety-guardian. \
         Its parameters are named in snake_case."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for skill in &workspace.skills {
            found.record_examined();
            let name = &*skill.name;
            check_handler(skill, workspace, found);
            for also in &skill.also {
                if let Some((what, remedy)) = misnamed_agent(workspace, also) {
                    found.error(&also.at, format!("skill {name} also involves {what}"), remedy);
                }
            }
            for redirect in &skill.redirects {
                let to = &redirect.to;
                if **to == *name {
                    found.error(&to.at, format!("skill {name} redirects to itself"), "remove it or name another skill");
                } else if workspace.skill(to).is_none() {
                    let guess = did_you_mean(to, workspace.skills.iter().map(|skill| skill.name.as_str()));
                    let remedy = if guess.is_empty() { format!("write skills/{}/SKILL.md or remove it", **to) } else { guess };
                    found.error(&to.at, format!("skill {name} redirects to {}, which is not a skill", **to), remedy);
                }
            }
            for (param, described) in &skill.params {
                if !is_snake_case(param) {
                    let what = format!("parameter {param} of skill {name} is not in snake_case");
                    found.error(&described.at, what, "write lower-case words joined by _");
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("skills/swap/SKILL.md", "to: send-tokens", "to: send-token")
    }
}

fn check_handler(skill: &Skill, workspace: &Workspace, found: &mut FindingCollector) {
    let name = &*skill.name;
    match &skill.handler {
        SkillHandler::Agent(agent) => {
            if let Some((what, remedy)) = misnamed_agent(workspace, agent) {
                found.error(&agent.at, format!("skill {name} is handled by {what}"), remedy);
            }
        }
        SkillHandler::Tool(tool) => {
            if let Some((what, remedy)) = misnamed_tool(workspace, tool) {
                found.error(&tool.at, format!("skill {name} is handled by {what}"), remedy);
            }
            if workspace.tool(tool).is_some_and(|tool| tool.writes()) {
                let what = format!("skill {name} is handled by a direct call of the write tool {}", **tool);
                found.error(&tool.at, what, "use an agent that asks safety-guardian as handler");
            }
        }
    }
}
