//! Every gate names a metric that exists. Tier 1, configuration.

use super::{Check, Example, Findings};
use crate::scorers::{PLANNED, SCORERS, scorer};
use model::{Workspace, did_you_mean};

pub(super) struct GatesMeasured;

impl Check for GatesMeasured {
    fn id(&self) -> &'static str {
        "gates_measured"
    }

    fn manual(&self) -> &'static str {
        "The scorer of every gate exists. A gate on a metric that is defined but not measured by this version is a warning: \
         in a run of its tier it has no evidence, and that blocks."
    }

    fn check(&self, workspace: &Workspace, found: &mut Findings) {
        for gate in &workspace.gates {
            found.look();
            let name = gate.scorer.as_str();
            if scorer(name).is_some() {
                continue;
            }
            if PLANNED.iter().any(|(id, _)| *id == name) {
                let what = format!("gate {} waits for {name}, which this version does not measure", gate.id.value);
                found.warning(&gate.scorer.at, what, "in a run of its tier it will have no evidence");
            } else {
                let known = SCORERS.iter().map(|scorer| scorer.id()).chain(PLANNED.iter().map(|(id, _)| *id));
                let guess = did_you_mean(name, known);
                let remedy = if guess.is_empty() { "`bardo-eval list scorers` shows all".to_owned() } else { guess };
                found.error(&gate.scorer.at, format!("scorer \"{name}\" does not exist"), remedy);
            }
        }
    }

    fn rejects(&self) -> Example {
        Example::minimal().edit("gates.yaml", "scorer: argument_match", "scorer: argument_mach")
    }
}
