//! Questions that a persona has no answer to.

use super::UserFault;
use std::collections::BTreeSet;

/// Unanswered messages in a row after which the user leaves.
const MAX_UNANSWERED: u64 = 2;

/// Counts the messages in a row that a persona has no answer to.
#[derive(Debug, Default)]
pub(super) struct UnansweredQuestions {
    in_a_row: u64,
    /// Messages of the written reference, which a persona has to answer.
    reference: BTreeSet<String>,
}

impl UnansweredQuestions {
    pub(super) fn of_reference(reference: BTreeSet<String>) -> Self {
        Self { in_a_row: 0, reference }
    }

    pub(super) fn reset(&mut self) {
        self.in_a_row = 0;
    }

    /// Counts a message without an answer. Returns whether the user leaves: a person who is asked about other things goes away, and
    /// what the agent asks is its own choice.
    ///
    /// # Errors
    /// If the written reference asks the same: then the persona lacks an answer.
    pub(super) fn add(&mut self, message: &str) -> Result<bool, UserFault> {
        self.in_a_row += 1;
        let leaves = self.in_a_row >= MAX_UNANSWERED;
        if leaves && self.reference.contains(message.trim()) {
            let why = format!("the persona has no answer to two questions in a row, and the reference asks the second: {message}");
            return Err(UserFault::Simulator(why));
        }
        Ok(leaves)
    }
}
