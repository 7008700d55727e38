//! Once somebody has pulled the brake, nothing is written any more.

use super::{Ask, Objection};

pub(super) const HOOK: (&str, &str) = ("halt", "Nothing may be written while the account is halted.");

pub(super) fn objects(ask: &Ask<'_>) -> Option<Objection> {
    ask.halted.then(|| Objection::new(HOOK, "SAFETY_HALTED", "the account is halted"))
}

#[cfg(test)]
mod tests {
    use crate::live::hooks::specimen::Specimen;

    #[test]
    fn a_halted_account_writes_nothing() {
        assert_eq!(Specimen::transfer().objection(|sample| sample.halted = true), ("halt", "SAFETY_HALTED"));
    }
}
