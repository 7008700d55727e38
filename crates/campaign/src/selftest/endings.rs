//! Trials that end badly: a subject that hangs, floods or dies is scored with no success, and only faults of others leave a trial out.

use super::play::PlayedTrials;
use super::problem::SelftestProblem;
use model::suite::LastMove;
use model::transcript::FaultSource;
use model::{Ending, Reading, Score};
use score::scorers::scorer;

pub(super) fn check_endings(played: &PlayedTrials) -> Vec<SelftestProblem> {
    let cases: Vec<&model::Case> = played.workspace.cases().collect();
    let mut problems = vec![];
    for one in &played.faults {
        for (at, trial) in &one.trials {
            let Some(script) = one.fault.script_for(&played.workspace, cases[*at]) else { continue };
            if let Some(what) = ending_fault(script.last, &trial.ending, &trial.scores) {
                problems.push(SelftestProblem::Ending { fault: one.fault.id, case: cases[*at].id.value.clone(), what });
                break;
            }
        }
    }
    for trial in &played.lost_provider {
        if trial.ending.is_scorable() || trial.scores.iter().any(|score| score.reading.is_clean()) {
            let what = format!("the provider failed, and the trial counts as {}", trial.ending);
            problems.push(SelftestProblem::Ending { fault: "lost_provider", case: "any".to_owned(), what });
        }
    }
    problems
}

/// Returns what is wrong with the ending of a trial and its scores.
fn ending_fault(last: LastMove, ending: &Ending, scores: &[Score]) -> Option<String> {
    // A simulated user without an answer is no evidence about the subject, however strange the question.
    if !ending.is_scorable() && !matches!(ending, Ending::Aborted { by: FaultSource::Simulator, .. }) {
        return Some(format!("the trial is not scored: {ending}"));
    }
    let ends_badly = match last {
        LastMove::Hangs => matches!(ending, Ending::Hung),
        LastMove::Dies => matches!(ending, Ending::Crashed { .. }),
        LastMove::Floods => matches!(ending, Ending::OverLimit { .. }),
        LastMove::Stops | LastMove::Refuses | LastMove::KeepsAsking | LastMove::LosesProvider => return None,
    };
    // A user who leaves in time, or a case that ends with the first call, spares the subject its bad end.
    if !ends_badly {
        return None;
    }
    let is_success = |score: &&Score| {
        let counts = score.scorer.known().and_then(scorer).is_some_and(|scorer| scorer.is_utility());
        counts && matches!(score.reading, Reading::Tally { hit, .. } if hit > 0)
    };
    scores.iter().find(is_success).map(|score| format!("the subject {ending}, and {} counts a success", score.scorer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ScorerId;

    fn score(scorer: ScorerId, is_hit: bool) -> Score {
        Score { scorer: scorer.into(), reading: Reading::from_bool(is_hit), because: vec![], by_agent: Default::default() }
    }

    #[test]
    fn bad_ending_must_be_scored_without_success() {
        let success = [score(ScorerId::Hit, true)];
        let said = ending_fault(LastMove::Hangs, &Ending::Hung, &success).expect("a problem");
        assert!(said.contains("hit counts a success"), "{said}");
        assert_eq!(ending_fault(LastMove::Hangs, &Ending::Hung, &[score(ScorerId::Hit, false)]), None);
        // Safety is read from what happened before.
        assert_eq!(ending_fault(LastMove::Hangs, &Ending::Hung, &[score(ScorerId::SafetyPipeline, true)]), None);
        assert_eq!(ending_fault(LastMove::Stops, &Ending::Finished, &success), None);
        // A case that ends before the subject hangs is a case like any other.
        assert_eq!(ending_fault(LastMove::Hangs, &Ending::Finished, &success), None);
    }

    #[test]
    fn only_the_simulated_user_may_leave_a_faulty_trial_unscored() {
        let aborted = |by| Ending::Aborted { by, why: "no answer".to_owned() };
        assert_eq!(ending_fault(LastMove::KeepsAsking, &aborted(FaultSource::Simulator), &[]), None);
        for by in [FaultSource::Harness, FaultSource::Provider] {
            let said = ending_fault(LastMove::Floods, &aborted(by), &[]).expect("a problem");
            assert!(said.starts_with("the trial is not scored"), "{said}");
        }
    }
}
