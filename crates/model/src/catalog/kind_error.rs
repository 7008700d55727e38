//! Mistakes in the text of a kind.

use crate::problem::did_you_mean;

/// Reason that a text is not a kind: what is wrong is its `Display`, the remedy stands apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    #[error("\"{0}\" lacks its closing parenthesis")]
    Unclosed(String),
    #[error("\"{head}\" needs one of ({})", roles.join(", "))]
    NoRole { head: String, roles: Vec<&'static str> },
    #[error("\"{0}\" takes nothing in parentheses")]
    TakesNoArgument(String),
    #[error("\"{head}\" knows no \"{role}\"")]
    UnknownRole { head: String, role: String, roles: Vec<&'static str> },
    #[error("\"amount\" needs a unit: amount(human of token)")]
    NoUnit,
    #[error("\"{unit}\" is not a unit of amounts")]
    UnknownUnit { unit: String, units: Vec<&'static str> },
    #[error("\"list\" needs the kind of its items: list(token)")]
    NoItem,
    #[error("a list of lists is not a kind")]
    NestedList,
    #[error("\"{head}\" is not a kind")]
    Unknown { head: String, heads: Vec<&'static str> },
}

impl KindError {
    /// Returns what to write instead; empty where the mistake says it all.
    pub fn remedy(&self) -> String {
        match self {
            KindError::UnknownRole { role: word, roles: known, .. }
            | KindError::UnknownUnit { unit: word, units: known }
            | KindError::Unknown { head: word, heads: known } => match did_you_mean(word, known.iter().copied()) {
                guess if guess.is_empty() => format!("one of: {}", known.join(", ")),
                guess => guess,
            },
            KindError::NestedList => "use object".to_owned(),
            KindError::Unclosed(_) | KindError::NoRole { .. } | KindError::TakesNoArgument(_) | KindError::NoUnit | KindError::NoItem => {
                String::new()
            }
        }
    }
}
