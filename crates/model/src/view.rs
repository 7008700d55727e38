//! View of a subject: its tools, skills, delegates and observations. Built from the workspace and the brief, never from expectations.

use crate::catalog::Tool;
use crate::location::Spanned;
use crate::skill::{Skill, SkillHandler, SkillListing};
use crate::suite::{Brief, CaseSurface};
use crate::tool_listing::ToolListing;
use crate::transcript::ToolAnswer;
use crate::workspace::Workspace;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Input of the subject for its next move.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub context: &'a AgentContext,
    /// Delegation hops from the root.
    pub depth: u32,
    pub observations: &'a [Observation],
}

#[derive(Debug, Clone)]
pub struct AgentContext {
    pub agent: String,
    pub prompt: String,
    pub tools: Vec<ToolListing>,
    /// Skills that can be activated, with their parameters.
    pub skills: Vec<SkillListing>,
    pub delegates: Vec<String>,
    /// Descriptions of the agents it may delegate to, from their files.
    pub delegate_infos: Vec<DelegateInfo>,
    /// JSON Schema of its final answer, if its agent file names one.
    pub output: Option<Arc<Value>>,
}

/// Agent that can be delegated to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelegateInfo {
    pub name: String,
    pub role: String,
    /// Keys that a delegation to it must pass.
    pub needs: Vec<String>,
}

/// Message, delegation or answer that reached the subject.
#[derive(Debug, Clone)]
pub enum Observation {
    User(String),
    HandOver {
        from: String,
        params: Map<String, Value>,
    },
    Answer {
        tool: String,
        answer: ToolAnswer,
    },
    Peer {
        agent: String,
        said: Value,
    },
    /// Unsolicited message from another agent. The sender is not verified.
    Message {
        from: String,
        text: String,
    },
}

/// Name of the acting agent if the surface is a profile or the skills.
pub const ASSISTANT: &str = "assistant";

impl AgentContext {
    /// Returns the context for the surface of a brief.
    pub fn for_brief(workspace: &Workspace, brief: &Brief) -> Self {
        match &brief.surface {
            CaseSurface::Agent(name) => Self::for_agent(workspace, name),
            surface @ (CaseSurface::Profile(_) | CaseSurface::Skills) => Self {
                agent: ASSISTANT.to_owned(),
                prompt: String::new(),
                tools: workspace.surface_tools(surface).into_iter().map(Tool::listing).collect(),
                skills: match surface {
                    CaseSurface::Skills => skills(workspace),
                    CaseSurface::Profile(_) | CaseSurface::Agent(_) => vec![],
                },
                delegates: vec![],
                delegate_infos: vec![],
                output: None,
            },
        }
    }

    /// Returns the context of the agent that carries out a skill. A skill without an agent is carried out by the assistant with the tool of
    /// the skill.
    pub fn for_skill(workspace: &Workspace, skill: &Skill) -> Self {
        let mut context = match &skill.handler {
            SkillHandler::Agent(name) => Self::for_agent(workspace, name),
            SkillHandler::Tool(name) => Self {
                agent: ASSISTANT.to_owned(),
                prompt: String::new(),
                tools: workspace.tool(name).into_iter().map(Tool::listing).collect(),
                skills: vec![],
                delegates: vec![],
                delegate_infos: vec![],
                output: None,
            },
        };
        let task = format!("You carry out the skill {}. {}\n\n{}", skill.name.value, skill.description, skill.body);
        context.prompt = format!("{}\n\n{task}", context.prompt.trim()).trim().to_owned();
        context
    }

    /// Returns the instructions for an agent that connects over MCP: prompt, possible delegates and output schema.
    pub fn instructions(&self) -> String {
        let mut parts = vec![self.prompt.trim().to_owned()];
        if !self.delegate_infos.is_empty() {
            let needs =
                |one: &DelegateInfo| if one.needs.is_empty() { String::new() } else { format!(" It needs: {}.", one.needs.join(", ")) };
            let line = |one: &DelegateInfo| format!("- {}: {}{}", one.name, one.role, needs(one));
            parts.push(format!("You can delegate to:\n{}", self.delegate_infos.iter().map(line).collect::<Vec<_>>().join("\n")));
        }
        if let Some(schema) = &self.output {
            parts.push(format!(
                "Your final answer must be a single JSON object that matches this schema, with no text before or after it: {schema}"
            ));
        }
        parts.retain(|part| !part.is_empty());
        parts.join("\n\n")
    }

    /// Returns the context of an agent of the workspace.
    pub fn for_agent(workspace: &Workspace, name: &str) -> Self {
        let agent = workspace.agent(name);
        Self {
            agent: name.to_owned(),
            prompt: agent.map(|agent| agent.prompt.clone()).unwrap_or_default(),
            tools: workspace.agent_tools(name).into_iter().map(Tool::listing).collect(),
            skills: vec![],
            delegates: agent.map(|agent| agent.delegates_to.iter().map(|to| to.value.clone()).collect()).unwrap_or_default(),
            delegate_infos: agent.map(|agent| delegate_infos(workspace, &agent.delegates_to)).unwrap_or_default(),
            output: agent.and_then(|agent| workspace.output(agent.output.as_ref()?)).map(|output| output.schema.value.clone()),
        }
    }
}

fn delegate_infos(workspace: &Workspace, names: &[Spanned<String>]) -> Vec<DelegateInfo> {
    let agents = names.iter().filter_map(|name| workspace.agent(name));
    agents.map(|agent| DelegateInfo { name: agent.name.value.clone(), role: agent.role.clone(), needs: agent.needs.clone() }).collect()
}

fn skills(workspace: &Workspace) -> Vec<SkillListing> {
    workspace.skills.iter().map(Skill::listing).collect()
}
