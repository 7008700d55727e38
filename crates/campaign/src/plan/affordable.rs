//! Cases of a tier that its budget likely covers.

use crate::cost::{GateReach, LiveModels, funded_cases, gate_reach, trial_quotes};
use crate::spec::RunSettings;
use model::suite::Case;
use model::{Money, SubjectFile, Workspace};

/// Returns the number of ordered cases to plan. If the whole tier likely costs more than its budget, the last cases are left out, as long
/// as every gate that all cases could decide is still decided. The choice depends on prices and files alone, never on the subject's
/// behaviour, so that an expensive subject cannot decide which cases it is spared.
pub(super) fn affordable_cases(
    workspace: &Workspace,
    settings: &RunSettings,
    cases: &[&Case],
    subjects: &[&SubjectFile],
    live: &LiveModels<'_>,
) -> usize {
    let Some(budget) = settings.plan_budget.filter(|_| settings.claim.tier.is_some()) else { return cases.len() };
    let covered =
        |of: usize, budget| funded_cases(&trial_quotes(workspace, &cases[..of], subjects, live), of, settings.trials, Some(budget));
    if covered(cases.len(), budget) == cases.len() {
        return cases.len();
    }
    // Fewer conversations share the cost of caching a prompt, so each becomes more expensive.
    let fitting = |budget| {
        let (mut kept, mut before) = (covered(cases.len(), budget), cases.len());
        while kept < before {
            (kept, before) = (covered(kept, budget), kept);
        }
        kept
    };
    let has_judge = settings.judge.is_some();
    let reach = |kept| gate_reach(workspace, settings.claim, cases, kept, has_judge);
    let all_reached = reach(cases.len());
    let still_decided =
        |kept| all_reached.iter().zip(reach(kept)).all(|(all, some): (&GateReach, GateReach)| all.is_decided() == some.is_decided());
    // A gate that is left open costs more than the reserve.
    [with_reserve(budget), budget].into_iter().map(fitting).find(|kept| still_decided(*kept)).unwrap_or(cases.len())
}

/// Returns the part of a budget that is planned for. The rest covers estimates that were too low.
fn with_reserve(budget: Money) -> Money {
    Money::from_nanos(budget.as_nanos() / 10 * 9)
}
