//! Waivers name checks that exist and may be waived, and accept something. An exception is accepted only if a file declares it with its reason.

use super::words::suggest_name;
use super::{CHECKS, Check, ExampleWorkspace, FindingCollector, POLICY_CHECKS, checks_in_force};
use model::{CheckWaiver, Workspace};

pub(super) struct WaiversCheck;

/// Checks that a workspace with `policy.yaml` cannot waive, besides those of the DeFi rules: what they protect would be silently weaker.
const PROTECTED_CHECKS: &[&str] = &[
    "names_unique",
    "pinned_tools",
    "tools_exist",
    "delegates_exist",
    "graph_acyclic",
    "agent_files",
    "invariants",
    "worlds_resolve",
    "tiers_complete",
    "gates_resolve",
    "gates_measured",
    "case_ids_unique",
];

impl Check for WaiversCheck {
    fn id(&self) -> &'static str {
        "waivers"
    }

    fn manual(&self) -> &'static str {
        "A waiver in bardo-eval.yaml (waive: [{ check, where, reason }]) accepts the findings of a check, in all files or in those that \
         where fits; every report repeats its reason. It names a check that exists, and a waiver that accepts nothing is a warning. In a \
         workspace with policy.yaml the bounds of the specification and the safety rules cannot be waived: deviates is for them."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for waiver in &workspace.defaults.waivers {
            found.record_examined();
            let id = waiver.check.as_str();
            if !CHECKS.iter().any(|check| check.id() == id) {
                let remedy = suggest_name(id, CHECKS.iter().map(|check| check.id()), "`bardo-eval list checks` lists them");
                found.error(&waiver.check.at, format!("there is no check {id} to waive"), remedy);
            } else if is_protected(workspace, id) {
                let what = format!("{id} cannot be waived");
                found.error(&waiver.check.at, what, "correct what it finds, or declare it with deviates where the specification allows it");
            } else if accepted(workspace, waiver) == 0 {
                found.warning(&waiver.at, format!("the waiver of {id} accepts nothing"), "remove it, or correct where");
            }
        }
    }

    fn accepts(&self) -> ExampleWorkspace {
        vague_description()
            .with("bardo-eval.yaml", "waive:\n  - { check: descriptions, where: tools/*.yaml, reason: The vendor writes them. }\n")
    }

    fn rejects(&self) -> ExampleWorkspace {
        vague_description().with("bardo-eval.yaml", "waive:\n  - { check: spec_bounds, reason: We have no time for it. }\n")
    }
}

/// Returns the waivers of a check. A check that is protected has none.
pub fn waivers_of(workspace: &Workspace, id: &str) -> Vec<CheckWaiver> {
    if is_protected(workspace, id) {
        return vec![];
    }
    workspace.defaults.waivers.iter().filter(|waiver| *waiver.check == id).cloned().collect()
}

fn is_protected(workspace: &Workspace, id: &str) -> bool {
    id == WaiversCheck.id() || workspace.policy.is_some() && (POLICY_CHECKS.contains(&id) || PROTECTED_CHECKS.contains(&id))
}

/// Returns the number of findings that a waiver accepts. Runs its check once more.
fn accepted(workspace: &Workspace, waiver: &CheckWaiver) -> usize {
    let Some(check) = checks_in_force(workspace).into_iter().find(|check| *waiver.check == check.id()) else { return 0 };
    let mut found = FindingCollector::of(check.id(), 1).waiving(vec![waiver.clone()]);
    check.check(workspace, &mut found);
    found.finish().waived()
}

fn vague_description() -> ExampleWorkspace {
    ExampleWorkspace::minimal().edit(
        "tools/wallet.yaml",
        "Balance of one token held by the agent's own wallet on one chain, in whole tokens; it moves nothing.",
        "Gets the balance.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::{CheckResult, run_all};

    fn results(waivers: &str) -> Vec<CheckResult> {
        run_all(&vague_description().with("bardo-eval.yaml", waivers).load().unwrap(), 1)
    }

    fn result<'r>(results: &'r [CheckResult], id: &str) -> &'r CheckResult {
        results.iter().find(|result| result.check == id).unwrap()
    }

    #[test]
    fn waived_findings_are_counted_and_not_reported() {
        let before = results("subject: echo\n");
        assert_eq!((result(&before, "descriptions").errors(), result(&before, "descriptions").waived()), (1, 0));
        let after = results("waive: [{ check: descriptions, where: tools/*, reason: The vendor writes them. }]\n");
        assert_eq!((result(&after, "descriptions").errors(), result(&after, "descriptions").waived()), (0, 1));
        assert_eq!((result(&after, "waivers").errors(), result(&after, "waivers").warnings()), (0, 0));
    }

    #[test]
    fn waivers_of_nothing_and_of_protected_checks_are_reported() {
        let unused = results("waive: [{ check: descriptions, where: agents/*, reason: The vendor writes them. }]\n");
        assert_eq!((result(&unused, "descriptions").errors(), result(&unused, "waivers").warnings()), (1, 1));
        for id in ["spec_bounds", "guardian_edge", "pinned_tools", "waivers", "descriptoins"] {
            let refused = results(&format!("waive: [{{ check: {id}, reason: The vendor writes them. }}]\n"));
            assert_eq!(result(&refused, "waivers").errors(), 1, "{id}");
        }
    }

    #[test]
    fn protected_checks_exist() {
        for id in PROTECTED_CHECKS.iter().chain(POLICY_CHECKS) {
            assert!(CHECKS.iter().any(|check| check.id() == *id), "{id}");
        }
    }
}
