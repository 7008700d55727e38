//! Every gate names a metric that exists. Tier 1, configuration.

use super::{Check, ExampleWorkspace, FindingCollector};
use crate::scorers::{scorer, scorer_named};
use model::{ScorerId, ScorerName, Workspace, did_you_mean};

pub(super) struct GatesMeasured;

impl Check for GatesMeasured {
    fn id(&self) -> &'static str {
        "gates_measured"
    }

    fn manual(&self) -> &'static str {
        "The scorer of every gate exists, built in or in scorers.yaml. A gate on a metric that is defined but not measured by this version is a warning: in a run of \
         its tier it has no evidence, and that blocks. So is a scorer whose program, or the script of an interpreter such as python3, is not \
         in the workspace."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for gate in &workspace.gates {
            found.record_examined();
            match &gate.scorer.value {
                ScorerName::Known(id) if scorer(*id).is_some() => {}
                ScorerName::Known(id) => {
                    let what = format!("gate {} uses {id}, which this version does not measure", gate.id.value);
                    found.warning(&gate.scorer.at, what, "in a run of its tier it will have no evidence");
                }
                ScorerName::Unknown(_) if scorer_named(workspace, &gate.scorer).is_some() => {}
                ScorerName::Unknown(name) => {
                    let own = workspace.scorers.iter().map(|scorer| scorer.id.as_str());
                    let guess = did_you_mean(name, ScorerId::ALL.iter().map(|(text, _)| *text).chain(own));
                    let remedy = if guess.is_empty() { "`bardo-eval list scorers` shows all".to_owned() } else { guess };
                    found.error(&gate.scorer.at, format!("scorer \"{name}\" does not exist"), remedy);
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("gates.yaml", "scorer: argument_match", "scorer: argument_mach")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gate_may_name_a_scorer_of_the_workspace() {
        let scorers = "scorers: [{ id: politeness, about: x, command: [y] }]\n";
        let errors = |name: &str| {
            let gates = ExampleWorkspace::minimal().edit("gates.yaml", "scorer: argument_match", &format!("scorer: {name}"));
            let workspace = gates.with("scorers.yaml", scorers).load().expect("a workspace");
            let mut found = FindingCollector::of("gates_measured", 1);
            GatesMeasured.check(&workspace, &mut found);
            found.finish().findings.iter().map(|finding| finding.remedy.clone()).collect::<Vec<_>>()
        };
        assert!(errors("politeness").is_empty());
        assert_eq!(errors("politenes"), ["did you mean \"politeness\"?"]);
    }
}
