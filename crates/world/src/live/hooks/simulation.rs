//! Requires a successful simulation of the same calldata before each write.

use super::hook::{Hook, HookInput, HookScope, ObjectionReason};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "simulation",
    manual: "Exactly this calldata must have been simulated with success since it was last sent.",
    scope: HookScope::Conduct,
    check,
};

fn check(input: &HookInput<'_>) -> Option<ObjectionReason> {
    let why = || format!("{} was not simulated with this calldata", *input.tool.name);
    (!input.actions.was_simulated(input.calldata_hash)).then(|| ObjectionReason::new(ToolErrorCode::SimulationFailed, why()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::SampleWrite;

    #[test]
    fn simulation_covers_one_write_of_its_calldata() {
        let mut sample = SampleWrite::transfer();
        assert_eq!(check(&sample.input()), None);
        let calldata_hash = sample.calldata_hash.clone();
        sample.calldata_hash = "0xother".into();
        let objection = check(&sample.input()).unwrap();
        assert_eq!(objection.code, ToolErrorCode::SimulationFailed);
        assert!(objection.why.contains("was not simulated"));
        sample.calldata_hash = calldata_hash.clone();
        sample.actions.record_write(&calldata_hash, 1);
        assert!(check(&sample.input()).is_some(), "used up");
    }
}
