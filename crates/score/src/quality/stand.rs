//! A case as far as it can be judged without a world.

use super::rehearse;
use crate::scorers::{Evidence, Scorer, scorer};
use model::suite::{Case, RefStep};
use model::transcript::Decision;
use model::{ScorerId, Workspace};

/// A case without what only a chain or a judge can tell: what is left must be enough to catch a wrong run. That asks more of a case
/// than a real run does, where balances are looked at too.
pub(crate) struct Stand<'w> {
    workspace: &'w Workspace,
    case: Case,
    decision: Decision,
}

impl<'w> Stand<'w> {
    /// Nothing where even the case's own reference does not pass: then only a world can tell.
    pub(crate) fn of(workspace: &'w Workspace, case: &Case) -> Option<Self> {
        let mut case = case.clone();
        case.expect.post.clear();
        case.expect.rubric = None;
        let reference = case.reference.clone();
        let mut stand = Self { workspace, case, decision: Decision::Approve };
        for decision in [Decision::Approve, Decision::Veto] {
            stand.decision = decision;
            if stand.passes(&reference) {
                return Some(stand);
            }
        }
        None
    }

    /// Whether somebody who does this passes the case.
    pub(crate) fn passes(&self, reference: &[RefStep]) -> bool {
        let transcript = rehearse(self.workspace, &self.case, reference, self.decision);
        case_pass().score(&Evidence::new(self.workspace, &self.case, &transcript)).reading.is_clean()
    }
}

fn case_pass() -> &'static dyn Scorer {
    scorer(ScorerId::CasePass).unwrap_or_else(|| panic!("case_pass is a scorer"))
}
