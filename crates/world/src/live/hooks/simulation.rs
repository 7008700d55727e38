//! Every write must have been simulated first with the same calldata.

use super::hook::{Hook, HookInput, HookScope, Objection};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "simulation",
    manual: "Exactly this calldata must have been simulated with success since it was last sent.",
    scope: HookScope::Conduct,
    check,
};

fn check(input: &HookInput<'_>) -> Option<Objection> {
    let why = || format!("{} was not simulated with this calldata", *input.tool.name);
    (!input.actions.was_simulated(input.calldata_hash)).then(|| Objection::new(ToolErrorCode::SimulationFailed, why()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::Specimen;

    #[test]
    fn a_simulation_holds_for_its_calldata_and_one_write() {
        let mut sample = Specimen::transfer();
        assert_eq!(check(&sample.input()), None);
        let calldata_hash = sample.calldata_hash.clone();
        sample.calldata_hash = "0xother".into();
        let objection = check(&sample.input()).unwrap();
        assert_eq!(objection.code, ToolErrorCode::SimulationFailed);
        assert!(objection.why.contains("was not simulated"));
        sample.calldata_hash = calldata_hash.clone();
        sample.actions.sent(&calldata_hash, 1);
        assert!(check(&sample.input()).is_some(), "used up");
    }
}
