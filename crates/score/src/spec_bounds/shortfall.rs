//! Row of a workspace that is weaker than the specification.

use model::{Location, Spanned};

/// Row that is weaker than the specification, or missing.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecShortfall {
    pub at: Location,
    pub what: String,
    pub remedy: String,
    /// The row is there and less strict; false if the workspace does not have it.
    pub is_lowered: bool,
    /// Reason given by the workspace; absent if it gives none.
    pub reason: Option<Spanned<String>>,
}

/// `deviates` of a row, else of its file. An empty reason is none.
pub(super) fn reason<'w>(row: Option<&'w Spanned<String>>, file: Option<&'w Spanned<String>>) -> Option<Spanned<String>> {
    [row, file].into_iter().flatten().find(|reason| !reason.value.trim().is_empty()).cloned()
}
