//! One line about what a run without a judge leaves undecided.

use super::RunReport;
use model::Workspace;

/// Returns the statement and the remedy, if rubrics were not judged.
pub(super) fn hint(shown: &RunReport<'_>) -> Option<[String; 2]> {
    let summary = shown.summary;
    if summary.rubrics_not_judged == 0 {
        return None;
    }
    let trials = model::count(summary.rubrics_not_judged, "trial");
    // Without a tier, gates that nothing measures are not in scope, so the run can pass.
    let verdicts = match (shown.undecided_without_judge, summary.claim.tier) {
        (0, _) => String::new(),
        (open, Some(_)) => format!(", so {} undecided", model::count_of(open, "verdict is", "verdicts are")),
        (open, None) => format!(", so {} not in scope", model::count_of(open, "verdict is", "verdicts are")),
    };
    let open = match summary.outcomes.unjudged {
        0 => "all of them decided by other expectations".to_owned(),
        open => format!("{open} of them neither passed nor failed"),
    };
    let what = format!("rubrics: {trials} not judged, {open}{verdicts}");
    Some([what, remedy(shown.workspace, summary.claim.tier)])
}

/// Returns the way to get a judge in a tier, or without one.
pub(super) fn remedy(workspace: &Workspace, tier: Option<u64>) -> String {
    let judge = workspace.tiers.tiers.iter().find(|one| Some(one.tier) == tier).and_then(|tier| tier.judge.as_ref());
    let key = judge.and_then(|judge| workspace.subject(judge)).and_then(|file| file.key_env.as_deref());
    key.map_or_else(|| "rerun with --judge".to_owned(), |key| format!("set {key} for the judge of the tier, or rerun with --judge NAME"))
}
