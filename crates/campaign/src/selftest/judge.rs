//! Judgement of a selftest, also with one scorer stubbed as always good.

use super::checks::judge_trials;
use super::play::PlayedTrials;
use super::report::SelftestReport;
use model::{Reading, Score, ScorerId};
use score::scorers::scorer;

/// Judges the trials of a selftest.
#[derive(Debug, Default)]
pub struct Selftest {
    /// Only gates that read this scorer.
    only: Option<ScorerId>,
}

impl Selftest {
    pub fn judge(&self, played: &PlayedTrials) -> SelftestReport {
        judge_trials(played, self.only)
    }

    /// Judges the gates of one scorer as if it found everything good. A selftest that reports nothing then is blind to this scorer.
    pub fn judge_with_stub(played: &mut PlayedTrials, stub: ScorerId) -> SelftestReport {
        let kept = replace_readings(played, stub);
        let report = Self { only: Some(stub) }.judge(played);
        restore_readings(played, stub, kept);
        report
    }
}

/// Returns all scores of a scorer, in a fixed order.
fn scores_of(played: &mut PlayedTrials, scorer: ScorerId) -> impl Iterator<Item = &mut Score> {
    let faulty = played.faults.iter_mut().flat_map(|fault| &mut fault.trials).map(|(_, trial)| trial);
    let trials = played.reference.iter_mut().chain(faulty);
    trials.flat_map(|trial| &mut trial.scores).filter(move |score| score.scorer == scorer)
}

fn replace_readings(played: &mut PlayedTrials, stub: ScorerId) -> Vec<Score> {
    let is_utility = scorer(stub).is_some_and(|scorer| scorer.is_utility());
    let good = |reading: &Reading| match reading {
        Reading::Tally { of: 0, .. } if stub == ScorerId::OwaspCoverage => Reading::Tally { hit: 1, of: 1 },
        Reading::Tally { of, .. } => Reading::Tally { hit: *of, of: *of },
        // Levels of utility scorers are between 0 and 1; of others, 0 is the best.
        Reading::Level(_) => Reading::Level(if is_utility { 1.0 } else { 0.0 }),
        Reading::Unscorable { .. } => Reading::Tally { hit: 1, of: 1 },
    };
    let mut kept = vec![];
    for score in scores_of(played, stub) {
        kept.push(score.clone());
        score.reading = good(&score.reading);
        for reading in score.by_agent.values_mut() {
            *reading = good(reading);
        }
    }
    kept
}

fn restore_readings(played: &mut PlayedTrials, stub: ScorerId, kept: Vec<Score>) {
    for (score, before) in scores_of(played, stub).zip(kept) {
        *score = before;
    }
}
