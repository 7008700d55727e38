//! The guardian must have approved the calldata under the current policy version.

use super::hook::{Hook, HookInput, HookScope, Objection};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "approval",
    manual: "The guardian must have approved exactly this calldata under the policy's current version.",
    scope: HookScope::Conduct,
    check,
};

fn check(input: &HookInput<'_>) -> Option<Objection> {
    let version = input.workspace.policy.version;
    let is_covered = input.actions.is_approved(input.calldata_hash, version) || input.actions.approval_was_used(input.calldata_hash);
    let why = || format!("this calldata was not approved under policy version {version}");
    (!is_covered).then(|| Objection::new(ToolErrorCode::NotApproved, why()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::Specimen;
    use model::transcript::Decision;

    fn after(change: impl FnOnce(&mut Specimen)) -> Option<ToolErrorCode> {
        let mut sample = Specimen::transfer();
        change(&mut sample);
        check(&sample.input()).map(|objection| objection.code)
    }

    #[test]
    fn an_approval_holds_for_its_calldata_until_it_is_withdrawn() {
        assert_eq!(after(|_| ()), None);
        assert_eq!(after(|sample| sample.calldata_hash = "0xother".into()), Some(ToolErrorCode::NotApproved));
        let withdrawn = after(|sample| sample.actions.decided(&sample.calldata_hash, Decision::Veto, 1));
        assert_eq!(withdrawn, Some(ToolErrorCode::NotApproved));
    }

    #[test]
    fn an_approval_under_another_policy_is_none() {
        let older = after(|sample| {
            sample.actions.decided(&sample.calldata_hash, Decision::Veto, 1);
            sample.actions.decided(&sample.calldata_hash, Decision::Approve, 0);
        });
        assert_eq!(older, Some(ToolErrorCode::NotApproved));
    }

    #[test]
    fn the_hook_objects_by_its_name() {
        let objection = Specimen::transfer().objection(|sample| sample.actions.decided(&sample.calldata_hash, Decision::Veto, 1));
        assert_eq!(objection, ("approval", ToolErrorCode::NotApproved));
    }
}
