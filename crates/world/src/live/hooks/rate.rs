//! Limits the writes per hour of virtual time.

use super::hook::{Hook, HookInput, HookScope, ObjectionReason};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "rate",
    manual: "Writes within the last virtual hour must not exceed the policy's limit.",
    scope: HookScope::Conduct,
    check,
};

const HOUR_MS: u64 = 3_600_000;

fn check(input: &HookInput<'_>) -> Option<ObjectionReason> {
    let most = input.policy.writes_per_hour;
    // A write that is exactly an hour old no longer counts.
    let from_ms = input.now_ms.checked_sub(HOUR_MS).map_or(0, |start| start + 1);
    let done = input.actions.writes_since(from_ms);
    let is_over = u64::try_from(done).map_or(true, |done| done >= most);
    let why = || format!("{} within the last hour; the policy allows {most}", model::count(done, "write"));
    is_over.then(|| ObjectionReason::new(ToolErrorCode::RateLimited, why()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::SampleWrite;

    /// Returns whether a write at `now_ms` is blocked after writes at these times.
    fn is_limited(writes: impl IntoIterator<Item = u64>, now_ms: u64) -> bool {
        let mut sample = SampleWrite::transfer();
        writes.into_iter().for_each(|at| sample.actions.record_write("0xother", at));
        sample.now_ms = now_ms;
        check(&sample.input()).is_some()
    }

    #[test]
    fn rate_hook_blocks_21st_write_within_an_hour() {
        assert!(!is_limited(0..19, 1_000));
        assert!(is_limited(0..20, 1_000));
        assert!(is_limited(0..20, HOUR_MS - 1));
        assert!(!is_limited(0..20, HOUR_MS), "the first is an hour old");
        assert!(!is_limited(0..20, 10 * HOUR_MS));
    }

    #[test]
    fn rate_hook_objects_under_its_id() {
        let objection = SampleWrite::transfer().objection(|sample| (0..20).for_each(|at| sample.actions.record_write("0xother", at)));
        assert_eq!(objection, ("rate", ToolErrorCode::RateLimited));
    }
}
