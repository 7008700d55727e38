//! Where a finished agent sits: who it is, and what it may use from there.

use model::ToolListing;

use crate::ActingAgent;

#[derive(Debug, Clone, PartialEq)]
pub struct AgentToolset {
    pub who: ActingAgent,
    /// As the catalogue lists them; the world may add notes when they are shown.
    pub tools: Vec<ToolListing>,
    /// Agents it may delegate to.
    pub delegates: Vec<String>,
    /// Skills that can be activated: name and description. Without any there is no `use_skill`.
    pub skills: Vec<(String, String)>,
}
