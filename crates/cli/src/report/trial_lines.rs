//! Trials listed in a report. The list is bounded, because a run may have millions of trials.

use crate::args::ReportFormat;
use crate::io::CliOutput;
use model::{CaseOutcome, ScorerName};
use score::outcome::case_outcome;
use std::collections::HashSet;
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
            missed: missed.map(|score| MissedScore { scorer: score.scorer.clone(), because: score.reasons() }).collect(),
        }
    }

    fn is_clean(&self) -> bool {
        self.missed.is_empty() && !self.outcome.is_aborted()
    }
}

/// Trials that the format lists, in plan order.
#[derive(Debug)]
pub(crate) struct TrialLines {
    listing: Listing,
    pub lines: Vec<TrialLine>,
    clean: usize,
    /// Trials that JUnit does not list, because there are too many.
    pub unlisted: u64,
}

#[derive(Debug)]
enum Listing {
    Nothing,
    /// Every trial, up to the bounds.
    Trials,
    /// The first violation of each scorer by case and subject; further trials of a case are the same alert.
    Violations {
        seen: HashSet<(String, String, ScorerName)>,
    },
}

impl TrialLines {
    /// Returns an empty list. Formats that list no trials keep it empty.
    pub(crate) fn new(io: &CliOutput) -> Self {
        let listing = match io.format {
            ReportFormat::Junit => Listing::Trials,
            ReportFormat::Sarif => Listing::Violations { seen: HashSet::new() },
            ReportFormat::Text | ReportFormat::Json | ReportFormat::Markdown | ReportFormat::Github => Listing::Nothing,
        };
        Self { listing, lines: vec![], clean: 0, unlisted: 0 }
    }

    /// Reports whether trials have to be added.
    pub(crate) fn is_needed(&self) -> bool {
        !matches!(self.listing, Listing::Nothing)
    }

    pub(crate) fn add(&mut self, ended: &EndedTrial) {
        match &mut self.listing {
            Listing::Nothing => {}
            Listing::Trials => self.add_bounded(TrialLine::of(ended)),
            Listing::Violations { seen } => {
                let mut line = TrialLine::of(ended);
                line.missed.retain(|missed| seen.insert((line.case.clone(), line.subject.clone(), missed.scorer.clone())));
                if !line.missed.is_empty() {
                    self.lines.push(line);
                }
            }
        }
    }

    fn add_bounded(&mut self, line: TrialLine) {
        let has_room = if line.is_clean() { self.clean < MAX_CLEAN } else { self.lines.len() - self.clean < MAX_MISSED };
        if has_room {
            self.clean += usize::from(line.is_clean());
            self.lines.push(line);
        } else {
            self.unlisted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(missed: bool) -> TrialLine {
        let missed_score = || MissedScore { scorer: model::ScorerId::CasePass.into(), because: String::new() };
        let missed = missed.then(missed_score).into_iter().collect();
        TrialLine { case: "a".into(), subject: "s".into(), outcome: CaseOutcome::Failed, ending: String::new(), missed }
    }

    #[test]
    fn long_lists_keep_misses_and_count_the_rest() {
        let mut lines = TrialLines { listing: Listing::Trials, lines: vec![], clean: 0, unlisted: 0 };
        for _ in 0..MAX_CLEAN + 5 {
            lines.add_bounded(line(false));
        }
        lines.add_bounded(line(true));
        assert_eq!((lines.lines.len(), lines.unlisted), (MAX_CLEAN + 1, 5));
        assert!(!lines.lines[MAX_CLEAN].missed.is_empty(), "a miss is listed after many clean trials");
    }
}
