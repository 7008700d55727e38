//! Trials listed in a report. The list is bounded, because a run may have millions of trials.

use crate::args::ReportFormat;
use model::{CaseOutcome, ScorerName};
use score::outcome::case_outcome;
use std::collections::HashSet;
use std::time::Duration;
use store::EndedTrial;

/// Trials listed in JUnit: so many without a miss, and so many others.
const MAX_CLEAN: usize = 20_000;
const MAX_MISSED: usize = 20_000;

/// One trial in a report.
#[derive(Debug)]
pub(crate) struct TrialLine {
    pub case: String,
    pub subject: String,
    pub outcome: CaseOutcome,
    pub ending: String,
    pub wall: Duration,
    pub missed: Vec<MissedScore>,
}

/// Scorer that found a violation, and why.
#[derive(Debug)]
pub(crate) struct MissedScore {
    pub scorer: ScorerName,
    pub because: String,
}

impl TrialLine {
    fn of(ended: &EndedTrial) -> Self {
        let missed = ended.scores.iter().filter(|score| score.reading.is_violation());
        Self {
            case: ended.trial.case.clone(),
            subject: ended.trial.subject.clone(),
            outcome: case_outcome(&ended.ending, &ended.scores),
            ending: ended.ending.to_string(),
            wall: Duration::from_micros(ended.wall_us),
            missed: missed.map(|score| MissedScore { scorer: score.scorer.clone(), because: score.reasons() }).collect(),
        }
    }

    fn is_clean(&self) -> bool {
        self.missed.is_empty() && !self.outcome.is_aborted()
    }
}

/// Trials that the reports of a run list, in plan order.
#[derive(Debug, Default)]
pub(crate) struct TrialLines {
    pub trials: Option<BoundedTrials>,
    pub violations: Option<FirstViolations>,
}

/// Every trial, up to the bounds.
#[derive(Debug, Default)]
pub(crate) struct BoundedTrials {
    pub lines: Vec<TrialLine>,
    clean: usize,
    /// Trials that are not listed, because there are too many.
    pub unlisted: u64,
}

/// The first violation of each scorer by case and subject; further trials of a case are the same alert.
#[derive(Debug, Default)]
pub(crate) struct FirstViolations {
    pub lines: Vec<TrialLine>,
    seen: HashSet<(String, String, ScorerName)>,
}

impl TrialLines {
    /// Returns empty lists of what these formats show.
    pub(crate) fn new(formats: &[ReportFormat]) -> Self {
        Self {
            trials: formats.contains(&ReportFormat::Junit).then(BoundedTrials::default),
            violations: formats.contains(&ReportFormat::Sarif).then(FirstViolations::default),
        }
    }

    /// Reports whether trials have to be added.
    pub(crate) fn is_needed(&self) -> bool {
        self.trials.is_some() || self.violations.is_some()
    }

    pub(crate) fn add(&mut self, ended: &EndedTrial) {
        if let Some(trials) = &mut self.trials {
            trials.add(TrialLine::of(ended));
        }
        if let Some(violations) = &mut self.violations {
            violations.add(TrialLine::of(ended));
        }
    }
}

impl BoundedTrials {
    fn add(&mut self, line: TrialLine) {
        let has_room = if line.is_clean() { self.clean < MAX_CLEAN } else { self.lines.len() - self.clean < MAX_MISSED };
        if has_room {
            self.clean += usize::from(line.is_clean());
            self.lines.push(line);
        } else {
            self.unlisted += 1;
        }
    }
}

impl FirstViolations {
    fn add(&mut self, mut line: TrialLine) {
        line.missed.retain(|missed| self.seen.insert((line.case.clone(), line.subject.clone(), missed.scorer.clone())));
        if !line.missed.is_empty() {
            self.lines.push(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(missed: bool) -> TrialLine {
        let missed_score = || MissedScore { scorer: model::ScorerId::CasePass.into(), because: String::new() };
        let missed = missed.then(missed_score).into_iter().collect();
        TrialLine {
            case: "a".into(),
            subject: "s".into(),
            outcome: CaseOutcome::Failed,
            ending: String::new(),
            wall: Duration::ZERO,
            missed,
        }
    }

    #[test]
    fn long_lists_keep_misses_and_count_the_rest() {
        let mut lines = BoundedTrials::default();
        for _ in 0..MAX_CLEAN + 5 {
            lines.add(line(false));
        }
        lines.add(line(true));
        assert_eq!((lines.lines.len(), lines.unlisted), (MAX_CLEAN + 1, 5));
        assert!(!lines.lines[MAX_CLEAN].missed.is_empty(), "a miss is listed after many clean trials");
    }
}
