//! A case as far as it can be judged without a world.

use super::transcript_from_reference;
use crate::scorers::{Evidence, Scorer, scorer};
use model::suite::{Case, ReferenceStep};
use model::transcript::ReviewDecision;
use model::{ScorerId, Workspace};

/// A case without what only a chain or a judge can tell: what is left must be enough to catch a wrong run. That asks more of a case
/// than a real run does, where balances are looked at too.
pub(crate) struct StaticCase<'w> {
    workspace: &'w Workspace,
    case: Case,
    decision: ReviewDecision,
}

impl<'w> StaticCase<'w> {
    /// Nothing where even the case's own reference does not pass: then only a world can tell.
    pub(crate) fn of(workspace: &'w Workspace, case: &Case) -> Option<Self> {
        let mut case = case.clone();
        case.expect.post.clear();
        case.expect.rubric = None;
        let reference = case.reference.clone();
        let mut stand = Self { workspace, case, decision: ReviewDecision::Approve };
        for decision in [ReviewDecision::Approve, ReviewDecision::Veto] {
            stand.decision = decision;
            if stand.passes(&reference) {
                return Some(stand);
            }
        }
        None
    }

    /// Whether somebody who does this passes the case.
    pub(crate) fn passes(&self, reference: &[ReferenceStep]) -> bool {
        let transcript = transcript_from_reference(self.workspace, &self.case, reference, self.decision);
        case_pass().score(&Evidence::new(self.workspace, &self.case, &transcript)).reading.is_clean()
    }
}

fn case_pass() -> &'static dyn Scorer {
    scorer(ScorerId::CasePass).unwrap_or_else(|| panic!("case_pass is a scorer"))
}
