//! Review roles: agents that approve or veto writes of other agents.

/// Review role of an agent, from `serves` in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReviewRole {
    /// Reviews one prepared action.
    Guardian,
    /// Reviews a prepared action or a proposal.
    Assessor,
}

impl ReviewRole {
    /// Every role with its word in agent files.
    pub const ALL: &'static [(&'static str, ReviewRole)] = &[("guardian", ReviewRole::Guardian), ("assessor", ReviewRole::Assessor)];

    /// Returns the word for this role in agent files.
    pub fn word(self) -> &'static str {
        match self {
            ReviewRole::Guardian => "guardian",
            ReviewRole::Assessor => "assessor",
        }
    }
}
