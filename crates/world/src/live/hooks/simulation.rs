//! Nothing is sent that was not tried first, down to the last byte of its calldata.

use super::{Ask, Objection};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: (&str, &str) = ("simulation", "Exactly this calldata must have been simulated with success since it was last sent.");

pub(super) fn objects(ask: &Ask<'_>) -> Option<Objection> {
    let why = || format!("{} was not simulated with this calldata", *ask.tool.name);
    (!ask.actions.was_simulated(ask.calldata_hash)).then(|| Objection::new(HOOK, ToolErrorCode::SimulationFailed, why()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::Specimen;

    #[test]
    fn a_simulation_holds_for_its_calldata_and_one_write() {
        let mut sample = Specimen::transfer();
        assert_eq!(objects(&sample.ask()), None);
        let calldata_hash = sample.calldata_hash.clone();
        sample.calldata_hash = "0xother".into();
        let objection = objects(&sample.ask()).unwrap();
        assert_eq!(objection.code, ToolErrorCode::SimulationFailed);
        assert!(objection.why.contains("was not simulated"));
        sample.calldata_hash = calldata_hash.clone();
        sample.actions.sent(&calldata_hash, 1);
        assert!(objects(&sample.ask()).is_some(), "used up");
    }
}
