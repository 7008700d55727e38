//! Errors in the text of a kind.

use crate::problem::did_you_mean;

/// Error of parsing a kind. See [`KindError::remedy`] for advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    #[error("\"{0}\" lacks its closing parenthesis")]
    Unclosed(String),
    #[error("\"{head}\" needs one of ({})", roles.join(", "))]
    NoRole { head: String, roles: Vec<&'static str> },
    #[error("\"{0}\" takes no argument in parentheses")]
    TakesNoArgument(String),
    #[error("\"{head}\" does not accept \"{role}\"")]
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
    /// Returns advice for the author; empty if the message is enough.
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
