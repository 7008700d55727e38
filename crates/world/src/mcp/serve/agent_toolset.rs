//! Identity and toolset of an external agent in a trial.

use model::{SkillListing, ToolListing};

use crate::ActingAgent;

#[derive(Debug, Clone, PartialEq)]
pub struct AgentToolset {
    pub agent: ActingAgent,
    /// Tools as in the catalogue. The world may add notes when it lists them.
    pub tools: Vec<ToolListing>,
    /// Agents that it may delegate to.
    pub delegates: Vec<String>,
    /// Skills with their parameters. If there are none, `use_skill` is not listed.
    pub skills: Vec<SkillListing>,
}
