//! Blocks every write while the account is halted.

use super::hook::{Hook, HookInput, HookScope, Objection};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook =
    Hook { id: "halt", manual: "Nothing may be written while the account is halted.", scope: HookScope::Account, check };

fn check(input: &HookInput<'_>) -> Option<Objection> {
    input.halted.then(|| Objection::new(ToolErrorCode::Halted, "the account is halted"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::Specimen;

    #[test]
    fn a_halted_account_writes_nothing() {
        assert_eq!(Specimen::transfer().objection(|sample| sample.halted = true), ("halt", ToolErrorCode::Halted));
    }
}
