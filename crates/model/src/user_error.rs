//! Errors that the user can act on: description, remedy and location.

use crate::location::Location;
use crate::problem::{Problem, name_remedy};
use std::fmt;

/// Error in arguments, files or the environment. Reports show the remedy as a separate field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserError {
    pub what: String,
    /// Empty if there is no advice.
    pub remedy: String,
    pub location: Option<Location>,
}

impl UserError {
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into(), location: None }
    }

    /// Returns an error without a remedy.
    pub fn without_remedy(what: impl Into<String>) -> Self {
        Self::new(what, "")
    }

    /// Returns an error with the message of its cause.
    pub fn caused_by(cause: impl fmt::Display) -> Self {
        Self::without_remedy(cause.to_string())
    }

    /// Returns an error for an unknown name, with the nearest known name as its remedy.
    pub fn unknown<'n>(kind: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> Self {
        Self::new(format!("there is no {kind} \"{name}\""), name_remedy(kind, name, known))
    }

    /// Adds the location of the error.
    pub fn with_location(self, place: Location) -> Self {
        Self { location: Some(place), ..self }
    }

    /// Puts `context` before the description: "context: what".
    pub fn with_context(self, context: impl fmt::Display) -> Self {
        Self { what: format!("{context}: {}", self.what), ..self }
    }
}

impl From<Problem> for UserError {
    fn from(problem: Problem) -> Self {
        Self { what: problem.what, remedy: problem.remedy, location: Some(problem.at) }
    }
}

/// Writes location, description and remedy on one line, as in "place  what; remedy". Further lines of `what` follow.
impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, details) = self.what.split_once('\n').map_or((self.what.as_str(), None), |(what, details)| (what, Some(details)));
        if let Some(place) = &self.location {
            write!(f, "{place}  ")?;
        }
        f.write_str(what)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        details.map_or(Ok(()), |details| write!(f, "\n{details}"))
    }
}

impl std::error::Error for UserError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_error_line_has_location_what_and_remedy() {
        let error = UserError::new("the key is missing", "add it").with_context("subject");
        assert_eq!(error.to_string(), "subject: the key is missing; add it");
        assert_eq!(error.with_location(Location::new("a.yaml", 3)).to_string(), "a.yaml:3  subject: the key is missing; add it");
        assert_eq!(UserError::without_remedy("no runtime").to_string(), "no runtime");
        assert_eq!(UserError::new("it ended\nstderr:\n  boom", "start it").to_string(), "it ended; start it\nstderr:\n  boom");
    }

    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        let error = UserError::unknown("profile", "tradr", ["trader", "data"]);
        assert_eq!((error.what.as_str(), error.remedy.as_str()), ("there is no profile \"tradr\"", "did you mean \"trader\"?"));
        assert_eq!(UserError::unknown("profile", "zzz", ["trader"]).remedy, "known: trader");
    }
}
