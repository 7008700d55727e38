//! Rejects a second write under the same approval.

use super::hook::{Hook, HookInput, HookScope, ObjectionReason};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "approval_reused",
    manual: "One approval covers one write; a second write needs its own.",
    scope: HookScope::Conduct,
    check,
};

fn check(input: &HookInput<'_>) -> Option<ObjectionReason> {
    let is_approved = input.actions.is_approved(input.calldata_hash, input.policy.version);
    let is_used_up = !is_approved && input.actions.approval_was_used(input.calldata_hash);
    let why = "the approval of this calldata was already used by an earlier write";
    is_used_up.then(|| ObjectionReason::new(ToolErrorCode::ApprovalExpired, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::objections;
    use crate::live::hooks::specimen::SampleWrite;
    use model::transcript::ReviewDecision;

    #[test]
    fn used_approval_blocks_second_write_until_renewed() {
        let mut sample = SampleWrite::transfer();
        sample.actions.record_write(&sample.calldata_hash, 1);
        sample.actions.add_simulation(&sample.calldata_hash);
        let found: Vec<_> = objections(&sample.input()).into_iter().map(|objection| (objection.hook, objection.code)).collect();
        assert_eq!(found, [("approval_reused", ToolErrorCode::ApprovalExpired)]);
        sample.actions.apply_decision(&sample.calldata_hash, ReviewDecision::Approve, 1);
        assert_eq!(objections(&sample.input()), []);
    }
}
