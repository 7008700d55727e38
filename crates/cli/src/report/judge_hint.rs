//! One line about what a run without a judge leaves undecided.

use campaign::RunSummary;
use model::{Gate, ScorerId, Verdict, Workspace};

/// Verdicts that lack evidence because rubrics were not judged.
pub(super) fn undecided(workspace: &Workspace, summary: &RunSummary) -> usize {
    if summary.rubrics_not_judged == 0 {
        return 0;
    }
    let reads_judge = |gate: &Gate| matches!(gate.scorer.known(), Some(ScorerId::Judged | ScorerId::CasePass));
    let judged = |id: &str| workspace.gates.iter().any(|gate| *gate.id == id && reads_judge(gate));
    let open = summary.verdicts.judgements.iter().filter(|judgement| judgement.verdict == Verdict::NoEvidence);
    open.filter(|judgement| judged(&judgement.gate)).count()
}

/// Returns the statement and the remedy, if rubrics were not judged.
pub(super) fn hint(workspace: &Workspace, summary: &RunSummary) -> Option<[String; 2]> {
    if summary.rubrics_not_judged == 0 {
        return None;
    }
    let trials = model::count(summary.rubrics_not_judged, "trial");
    let verdicts = match undecided(workspace, summary) {
        0 => String::new(),
        open => format!(", so {} undecided", model::count_of(open, "verdict is", "verdicts are")),
    };
    Some([
        format!("rubrics: {trials} not judged, counted neither as passed nor as failed{verdicts}"),
        remedy(workspace, summary.claim.tier),
    ])
}

/// Returns the way to get a judge in a tier, or without one.
pub(super) fn remedy(workspace: &Workspace, tier: Option<u64>) -> String {
    let judge = workspace.tiers.tiers.iter().find(|one| Some(one.tier) == tier).and_then(|tier| tier.judge.as_ref());
    let key = judge.and_then(|judge| workspace.subject(judge)).and_then(|file| file.key_env.as_deref());
    key.map_or_else(|| "rerun with --judge".to_owned(), |key| format!("set {key} for the judge of the tier, or rerun with --judge NAME"))
}
