//! Review roles: which agent approves or vetoes what others are about to write.

/// The review an agent gives, from `serves` in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReviewRole {
    /// Judges one prepared action.
    Guardian,
    /// Judges a prepared action or a proposal.
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
