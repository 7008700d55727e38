//! Table of all faults, by family.

mod addresses;
mod amounts;
mod attacks;
mod conduct;
mod conversation;
mod delegation;
mod guardian;
mod idleness;
mod other_action;
mod selection;
mod simulation;

use crate::Fault;

/// All faults, one slice for each family.
pub static FAULTS: &[&[Fault]] = &[
    guardian::FAULTS,
    simulation::FAULTS,
    amounts::FAULTS,
    addresses::FAULTS,
    delegation::FAULTS,
    selection::FAULTS,
    conversation::FAULTS,
    conduct::FAULTS,
    attacks::FAULTS,
    idleness::FAULTS,
];

/// Returns the fault with this id.
pub fn fault(id: &str) -> Option<&'static Fault> {
    FAULTS.iter().flat_map(|family| *family).find(|fault| fault.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn fault_ids_are_unique_words_with_a_sentence() {
        let all: Vec<&Fault> = FAULTS.iter().flat_map(|family| *family).collect();
        let ids: BTreeSet<&str> = all.iter().map(|fault| fault.id).collect();
        assert_eq!(ids.len(), all.len());
        for fault in all {
            assert!(fault.id.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{}", fault.id);
            assert!(fault.about.ends_with('.'), "{}", fault.id);
        }
    }
}
