//! Blocks every write while the account is halted.

use super::hook::{Hook, HookInput, HookScope, ObjectionReason};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook =
    Hook { id: "halt", manual: "Nothing may be written while the account is halted.", scope: HookScope::Account, check };

fn check(input: &HookInput<'_>) -> Option<ObjectionReason> {
    input.halted.then(|| ObjectionReason::new(ToolErrorCode::Halted, "the account is halted"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::SampleWrite;

    #[test]
    fn halt_hook_blocks_every_write() {
        assert_eq!(SampleWrite::transfer().objection(|sample| sample.halted = true), ("halt", ToolErrorCode::Halted));
    }
}
