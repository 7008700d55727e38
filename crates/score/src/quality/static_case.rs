//! Case reduced to the expectations that can be judged without a world.

use super::transcript_from_reference;
use crate::scorers::{Evidence, passes_case};
use model::Workspace;
use model::suite::{AssertedText, Case, ReferenceStep};
use model::transcript::ReviewDecision;

/// Case without its state expectations, rubric and assertions on results. Stricter than a real run, because calls and rules alone must catch a wrong run.
pub(crate) struct StaticCase<'w> {
    workspace: &'w Workspace,
    case: Case,
    decision: ReviewDecision,
}

impl<'w> StaticCase<'w> {
    /// Returns `None` if the case's own reference does not pass without a world.
    pub(crate) fn of(workspace: &'w Workspace, case: &Case) -> Option<Self> {
        let mut case = case.clone();
        case.expect.post.clear();
        case.expect.rubric = None;
        // Answers of tools, and the time and cost of a model, are known after a run.
        case.expect.assertions.retain(|assertion| !assertion.kind.measures_usage() && !matches!(assertion.on, AssertedText::Returned(_)));
        let reference = case.reference.clone();
        let mut static_case = Self { workspace, case, decision: ReviewDecision::Approve };
        for decision in [ReviewDecision::Approve, ReviewDecision::Veto] {
            static_case.decision = decision;
            if static_case.passes(&reference) {
                return Some(static_case);
            }
        }
        None
    }

    /// Reports whether a run of these steps passes the case.
    pub(crate) fn passes(&self, reference: &[ReferenceStep]) -> bool {
        let transcript = transcript_from_reference(self.workspace, &self.case, reference, self.decision);
        passes_case(&Evidence::new(self.workspace, &self.case, &transcript))
    }
}
