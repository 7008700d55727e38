//! Requires guardian approval of the calldata under the current policy version.

use super::hook::{Hook, HookInput, HookScope, ObjectionReason};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "approval",
    manual: "The guardian must have approved exactly this calldata under the policy's current version.",
    scope: HookScope::Conduct,
    check,
};

fn check(input: &HookInput<'_>) -> Option<ObjectionReason> {
    let version = input.policy.version;
    let is_covered = input.actions.is_approved(input.calldata_hash, version) || input.actions.approval_was_used(input.calldata_hash);
    let why = || format!("this calldata was not approved under policy version {version}");
    (!is_covered).then(|| ObjectionReason::new(ToolErrorCode::NotApproved, why()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::SampleWrite;
    use model::transcript::ReviewDecision;

    fn code_after(change: impl FnOnce(&mut SampleWrite)) -> Option<ToolErrorCode> {
        let mut sample = SampleWrite::transfer();
        change(&mut sample);
        check(&sample.input()).map(|objection| objection.code)
    }

    #[test]
    fn approval_covers_its_calldata_until_withdrawn() {
        assert_eq!(code_after(|_| ()), None);
        assert_eq!(code_after(|sample| sample.calldata_hash = "0xother".into()), Some(ToolErrorCode::NotApproved));
        let withdrawn = code_after(|sample| sample.actions.apply_decision(&sample.calldata_hash, ReviewDecision::Veto, 1));
        assert_eq!(withdrawn, Some(ToolErrorCode::NotApproved));
    }

    #[test]
    fn approval_under_another_policy_version_is_void() {
        let older = code_after(|sample| {
            sample.actions.apply_decision(&sample.calldata_hash, ReviewDecision::Veto, 1);
            sample.actions.apply_decision(&sample.calldata_hash, ReviewDecision::Approve, 0);
        });
        assert_eq!(older, Some(ToolErrorCode::NotApproved));
    }

    #[test]
    fn approval_hook_objects_under_its_id() {
        let objection =
            SampleWrite::transfer().objection(|sample| sample.actions.apply_decision(&sample.calldata_hash, ReviewDecision::Veto, 1));
        assert_eq!(objection, ("approval", ToolErrorCode::NotApproved));
    }
}
