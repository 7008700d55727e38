//! The guardian approves calldata under one version of the policy, for one write.

use super::{Ask, Objection};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: (&str, &str) =
    ("approval", "The guardian must have approved exactly this calldata under the policy's current version.");
pub(super) const REUSED: (&str, &str) = ("approval_reused", "One approval covers one write; a second write needs its own.");

pub(super) fn objects(ask: &Ask<'_>) -> Option<Objection> {
    let version = ask.workspace.policy.version;
    if ask.actions.is_approved(ask.calldata_hash, version) {
        return None;
    }
    if ask.actions.approval_was_used(ask.calldata_hash) {
        return Some(Objection::new(
            REUSED,
            ToolErrorCode::ApprovalExpired,
            "the approval of this calldata was used up by an earlier write",
        ));
    }
    Some(Objection::new(HOOK, ToolErrorCode::NotApproved, format!("this calldata was not approved under policy version {version}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::Specimen;
    use model::transcript::Decision;

    fn after(change: impl FnOnce(&mut Specimen)) -> Option<(&'static str, ToolErrorCode)> {
        let mut sample = Specimen::transfer();
        change(&mut sample);
        objects(&sample.ask()).map(|objection| (objection.hook, objection.code))
    }

    #[test]
    fn an_approval_holds_for_its_calldata_until_it_is_withdrawn() {
        assert_eq!(after(|_| ()), None);
        assert_eq!(after(|sample| sample.calldata_hash = "0xother".into()), Some(("approval", ToolErrorCode::NotApproved)));
        let withdrawn = after(|sample| sample.actions.decided(&sample.calldata_hash, Decision::Veto, 1));
        assert_eq!(withdrawn, Some(("approval", ToolErrorCode::NotApproved)));
    }

    #[test]
    fn an_approval_under_another_policy_is_none() {
        let older = after(|sample| {
            sample.actions.decided(&sample.calldata_hash, Decision::Veto, 1);
            sample.actions.decided(&sample.calldata_hash, Decision::Approve, 0);
        });
        assert_eq!(older, Some(("approval", ToolErrorCode::NotApproved)));
    }

    #[test]
    fn an_approval_covers_one_write_and_may_be_given_again() {
        assert_eq!(
            after(|sample| sample.actions.sent(&sample.calldata_hash, 1)),
            Some(("approval_reused", ToolErrorCode::ApprovalExpired))
        );
        let renewed = after(|sample| {
            sample.actions.sent(&sample.calldata_hash, 1);
            sample.actions.decided(&sample.calldata_hash, Decision::Approve, 1);
        });
        assert_eq!(renewed, None);
    }
}
