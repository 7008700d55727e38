//! Rejects expired actions, and trades quoted before the agent's latest write.

use super::hook::{Hook, HookInput, HookScope, ObjectionReason};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "quote_expired",
    manual: "An action must be executed before it expires; a trade also before any other write of the agent.",
    scope: HookScope::Conduct,
    check,
};

fn check(input: &HookInput<'_>) -> Option<ObjectionReason> {
    let id = input.action_id?;
    let frozen = input.actions.get(id)?;
    let why = if input.now_ms > frozen.expires_at_ms {
        format!("{id} expired {} ms ago", input.now_ms - frozen.expires_at_ms)
    } else if frozen.plan.trade.is_some() && input.actions.last_write_ms().is_some_and(|at| at > frozen.prepared_at_ms) {
        format!("the account made another write after {id} was quoted")
    } else {
        return None;
    };
    Some(ObjectionReason::new(ToolErrorCode::QuoteExpired, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::SampleWrite;

    #[test]
    fn action_is_valid_until_it_expires() {
        let mut sample = SampleWrite::swap();
        sample.now_ms = sample.frozen_until();
        assert_eq!(check(&sample.input()), None);
        assert_eq!(sample.objection(|sample| sample.now_ms += 1), ("quote_expired", ToolErrorCode::QuoteExpired));
    }

    #[test]
    fn own_write_makes_quote_stale_but_not_transfer() {
        let written = |mut sample: SampleWrite| {
            sample.actions.record_write("0xother", sample.now_ms);
            check(&sample.input()).map(|objection| objection.why)
        };
        assert_eq!(written(SampleWrite::swap()).unwrap(), "the account made another write after action-1 was quoted");
        assert_eq!(written(SampleWrite::transfer()), None);
    }

    #[test]
    fn write_before_the_quote_does_not_expire_it() {
        let mut sample = SampleWrite::swap();
        sample.actions.record_write("0xother", 0);
        assert_eq!(check(&sample.input()), None);
    }

    #[test]
    fn write_without_action_has_no_quote_expiry() {
        let mut sample = SampleWrite::swap();
        sample.now_ms = sample.frozen_until() + 1;
        sample.action_id = None;
        assert_eq!(check(&sample.input()), None);
        sample.action_id = Some("action-9".into());
        assert_eq!(check(&sample.input()), None, "never prepared");
    }
}
