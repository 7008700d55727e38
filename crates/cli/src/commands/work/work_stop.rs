//! End of a worker that was not asked to stop.

use model::UserError;
use store::StoreError;

/// Reason why a worker ended without being asked to.
pub(super) enum WorkStop {
    /// The worker must not play the run.
    Refused(Vec<UserError>),
    Failed(String, &'static str),
}

impl From<StoreError> for WorkStop {
    fn from(error: StoreError) -> Self {
        if let StoreError::OtherProgram { .. } = error {
            return WorkStop::Refused(vec![error.into()]);
        }
        WorkStop::Failed(error.to_string(), error.remedy())
    }
}

impl From<Vec<UserError>> for WorkStop {
    fn from(errors: Vec<UserError>) -> Self {
        WorkStop::Refused(errors)
    }
}

impl From<UserError> for WorkStop {
    fn from(error: UserError) -> Self {
        WorkStop::Refused(vec![error])
    }
}
