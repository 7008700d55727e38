//! A tool and the parts of the workspace that use it.

use model::suite::ExpectedCalls;
use model::{RiskLayer, Tool, ToolCapability, Workspace};

pub(super) struct ToolUses<'w> {
    pub(super) tool: &'w Tool,
    pub(super) capability: &'static str,
    pub(super) risk: &'static str,
    pub(super) profiles: Vec<&'w str>,
    pub(super) agents: Vec<&'w str>,
    /// Number of cases that expect a call of it.
    pub(super) cases: usize,
}

impl<'w> ToolUses<'w> {
    pub(super) fn of(workspace: &'w Workspace, tool: &'w Tool) -> Self {
        let in_profile = |profile: &&model::ToolProfile| profile.select(&workspace.tools).iter().any(|one| one.name == tool.name);
        let of_agent = |agent: &&model::Agent| agent.tools.iter().any(|name| tool.has_name(name));
        let expects =
            |case: &&model::Case| case.expect.calls.iter().flat_map(ExpectedCalls::expected_calls).any(|call| tool.has_name(&call.tool));
        Self {
            tool,
            capability: match tool.capability {
                ToolCapability::Read => "read",
                ToolCapability::Write => "write",
                ToolCapability::Privileged => "privileged",
            },
            risk: match tool.risk {
                RiskLayer::Layer1 => "layer1",
                RiskLayer::Layer2 => "layer2",
                RiskLayer::Layer3 => "layer3",
            },
            profiles: workspace.profiles.iter().filter(in_profile).map(|profile| profile.name.as_str()).collect(),
            agents: workspace.agents.iter().filter(of_agent).map(|agent| agent.name.as_str()).collect(),
            cases: workspace.cases().filter(expects).count(),
        }
    }
}
