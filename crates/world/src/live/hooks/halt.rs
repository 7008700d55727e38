//! Once somebody has pulled the brake, nothing is written any more.

use super::{Ask, Objection};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: (&str, &str) = ("halt", "Nothing may be written while the account is halted.");

pub(super) fn objects(ask: &Ask<'_>) -> Option<Objection> {
    ask.halted.then(|| Objection::new(HOOK, ToolErrorCode::Halted, "the account is halted"))
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
