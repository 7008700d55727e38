//! Case reduced to the expectations that can be judged without a world.

use super::transcript_from_reference;
use crate::scorers::{Evidence, passes_case};
use model::Workspace;
use model::suite::{AssertedText, Case, CaseAssertion, ReferenceStep};
use model::transcript::ReviewDecision;
use std::borrow::Cow;

/// Case without its state expectations, rubric and assertions on results. Stricter than a real run, because calls and rules alone must catch a wrong run.
pub(crate) struct StaticCase<'w> {
    workspace: &'w Workspace,
    /// The case itself where it states nothing that needs a world, so that a workspace is not in memory twice.
    case: Cow<'w, Case>,
    decision: ReviewDecision,
}

impl<'w> StaticCase<'w> {
    /// Returns `None` if the case's own reference does not pass without a world.
    pub(crate) fn of(workspace: &'w Workspace, case: &'w Case) -> Option<Self> {
        let mut static_case = Self { workspace, case: without_world(case), decision: ReviewDecision::Approve };
        for decision in [ReviewDecision::Approve, ReviewDecision::Veto] {
            static_case.decision = decision;
            if static_case.passes(&case.reference) {
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

/// Leaves out what is known only after a run: states, rubrics, answers of tools, and the time and cost of a model.
fn without_world(case: &Case) -> Cow<'_, Case> {
    let is_static = |assertion: &CaseAssertion| !assertion.kind.measures_usage() && !matches!(assertion.on, AssertedText::Returned(_));
    let expect = &case.expect;
    if expect.post.is_empty() && expect.rubric.is_none() && expect.assertions.iter().all(is_static) {
        return Cow::Borrowed(case);
    }
    let mut case = case.clone();
    case.expect.post.clear();
    case.expect.rubric = None;
    case.expect.assertions.retain(is_static);
    Cow::Owned(case)
}
