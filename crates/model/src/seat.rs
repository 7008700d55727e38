//! The view of a subject: its tools, skills and delegates, and what it has heard. Built from the workspace and the brief, never from
//! expectations.

use crate::catalog::Tool;
use crate::listing::Listing;
use crate::place::Spot;
use crate::suite::{Brief, Surface};
use crate::transcript::ToolAnswer;
use crate::workspace::Workspace;
use serde_json::{Map, Value};
use std::sync::Arc;

/// View of the subject when it is asked for its next move.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub seat: &'a Seat,
    /// Delegation hops from the root.
    pub depth: u32,
    pub heard: &'a [Heard],
}

#[derive(Debug, Clone)]
pub struct Seat {
    pub agent: String,
    pub prompt: String,
    pub tools: Vec<Listing>,
    /// Skills that can be activated: name and description.
    pub skills: Vec<(String, String)>,
    pub delegates: Vec<String>,
    /// Descriptions of the agents it may delegate to, from their files.
    pub colleagues: Vec<Colleague>,
    /// The shape its last answer must have, where its agent file names one.
    pub output: Option<Arc<Value>>,
}

/// An agent that can be delegated to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Colleague {
    pub name: String,
    pub role: String,
    /// Keys that a hand-over to it must carry.
    pub needs: Vec<String>,
}

/// One thing that the subject was told.
#[derive(Debug, Clone)]
pub enum Heard {
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
    /// A message that another agent sent unasked; who it is from is what it claims.
    Message {
        from: String,
        text: String,
    },
}

/// Name of the acting agent where the surface is a profile or the skills.
const ASSISTANT: &str = "assistant";

impl Seat {
    /// The seat a brief puts the subject in.
    pub fn of(workspace: &Workspace, brief: &Brief) -> Self {
        match &brief.surface {
            Surface::Agent(name) => Self::agent(workspace, name),
            surface @ (Surface::Profile(_) | Surface::Skills) => Self {
                agent: ASSISTANT.to_owned(),
                prompt: String::new(),
                tools: workspace.surface_tools(surface).into_iter().map(Tool::listing).collect(),
                skills: match surface {
                    Surface::Skills => skills(workspace),
                    Surface::Profile(_) | Surface::Agent(_) => vec![],
                },
                delegates: vec![],
                colleagues: vec![],
                output: None,
            },
        }
    }

    /// The seat of an agent of the workspace.
    pub fn agent(workspace: &Workspace, name: &str) -> Self {
        let agent = workspace.agent(name);
        Self {
            agent: name.to_owned(),
            prompt: agent.map(|agent| agent.prompt.clone()).unwrap_or_default(),
            tools: workspace.agent_tools(name).into_iter().map(Tool::listing).collect(),
            skills: vec![],
            delegates: agent.map(|agent| agent.delegates_to.iter().map(|to| to.value.clone()).collect()).unwrap_or_default(),
            colleagues: agent.map(|agent| colleagues(workspace, &agent.delegates_to)).unwrap_or_default(),
            output: agent.and_then(|agent| workspace.output(&agent.output)).map(|output| output.schema.value.clone()),
        }
    }
}

fn colleagues(workspace: &Workspace, names: &[Spot<String>]) -> Vec<Colleague> {
    let agents = names.iter().filter_map(|name| workspace.agent(name));
    agents.map(|agent| Colleague { name: agent.name.value.clone(), role: agent.role.clone(), needs: agent.needs.clone() }).collect()
}

fn skills(workspace: &Workspace) -> Vec<(String, String)> {
    workspace.skills.iter().map(|skill| (skill.name.value.clone(), skill.description.clone())).collect()
}
