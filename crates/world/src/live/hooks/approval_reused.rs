//! One approval covers one write.

use super::hook::{Hook, HookInput, HookScope, Objection};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "approval_reused",
    manual: "One approval covers one write; a second write needs its own.",
    scope: HookScope::Conduct,
    check,
};

fn check(input: &HookInput<'_>) -> Option<Objection> {
    let is_approved = input.actions.is_approved(input.calldata_hash, input.workspace.policy.version);
    let is_used_up = !is_approved && input.actions.approval_was_used(input.calldata_hash);
    let why = "the approval of this calldata was used up by an earlier write";
    is_used_up.then(|| Objection::new(ToolErrorCode::ApprovalExpired, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::objections;
    use crate::live::hooks::specimen::Specimen;
    use model::transcript::Decision;

    #[test]
    fn a_used_approval_covers_no_second_write_until_it_is_given_again() {
        let mut sample = Specimen::transfer();
        sample.actions.sent(&sample.calldata_hash, 1);
        sample.actions.simulated(&sample.calldata_hash);
        let found: Vec<_> = objections(&sample.input()).into_iter().map(|objection| (objection.hook, objection.code)).collect();
        assert_eq!(found, [("approval_reused", ToolErrorCode::ApprovalExpired)]);
        sample.actions.decided(&sample.calldata_hash, Decision::Approve, 1);
        assert_eq!(objections(&sample.input()), []);
    }
}
