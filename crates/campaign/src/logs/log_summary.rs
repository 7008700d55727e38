//! Sums over the recordings of all logs, in memory that does not grow with their number.

use super::log_scorer::{CaseKnowledge, ScoredRecording};
use foreign::{AgreementTable, AttackCounts, LogFormat, LogPlace, LogProblem, LogRecording, SignState, SourceOutcome, shorten};
use model::{Ending, Reading, Score};
use score::statistics::{CaseTrials, pass_hat_k};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Most problems, findings and changed readings that are listed each; the others are counted.
const MAX_LISTED: usize = 1000;
/// Largest k of pass^k.
const MAX_K: u64 = 16;

#[derive(Debug, Default)]
pub struct LogSummary {
    pub files: u64,
    pub formats: BTreeMap<LogFormat, u64>,
    pub recordings: u64,
    /// Recordings that say nothing about the agent, because the harness or the provider failed.
    pub aborted: u64,
    pub known_cases: u64,
    /// Readings of all scorers by name.
    pub readings: BTreeMap<String, ReadingTotals>,
    pub agreement: AgreementTable,
    pub attacks: AttackCounts,
    /// Attacked recordings whose goal was attempted or reached.
    pub findings: Vec<AttackFindingLine>,
    pub more_findings: u64,
    /// Stored scores that are the same now, those that no scorer reads now, and those that are different.
    pub same_scores: u64,
    pub unread_scores: u64,
    pub changed_scores: Vec<ChangedReading>,
    pub more_changed_scores: u64,
    pub problems: Vec<LogProblem>,
    pub more_problems: u64,
    /// Parts of recordings that were left out, by kind.
    pub left_out: BTreeMap<String, u64>,
    cases: BTreeSet<u64>,
    subjects: BTreeSet<String>,
    verdicts: BTreeSet<String>,
    /// Trials by verdict, and case and subject.
    trials: BTreeMap<(String, u64), CaseTrials>,
}

/// Sum of the readings of one scorer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ReadingTotals {
    pub hit: u64,
    pub of: u64,
    pub level_sum: f64,
    pub levels: u64,
    pub exercised: u64,
    pub unexercised: u64,
    pub unscorable: u64,
}

/// Attacked recording with a sign of its goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttackFindingLine {
    pub at: LogPlace,
    pub case: String,
    pub seen: SignState,
    pub attempted: SignState,
    pub reached: SignState,
}

/// Score that differs from the one stored with the recording.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedReading {
    pub at: LogPlace,
    pub case: String,
    pub scorer: String,
    pub stored: Reading,
    pub now: Reading,
}

/// pass^k of one verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialShare {
    pub verdict: String,
    pub cases: u64,
    /// Fewest and most recordings of a case.
    pub trials: (u64, u64),
    /// pass^1, pass^2, … as far as every case has recordings.
    pub pass_hat: Vec<f64>,
}

impl LogSummary {
    pub fn add_file(&mut self, format: Option<LogFormat>) {
        self.files += 1;
        if let Some(format) = format {
            *self.formats.entry(format).or_default() += 1;
        }
    }

    pub fn add_problem(&mut self, problem: LogProblem) {
        push_bounded(&mut self.problems, &mut self.more_problems, problem);
    }

    pub fn problem_count(&self) -> u64 {
        self.problems.len() as u64 + self.more_problems
    }

    pub fn case_count(&self) -> usize {
        self.cases.len()
    }

    pub fn subjects(&self) -> impl Iterator<Item = &str> {
        self.subjects.iter().map(String::as_str)
    }

    pub fn add(&mut self, recording: &LogRecording, scored: ScoredRecording) {
        let transcript = &recording.transcript;
        self.recordings += 1;
        self.aborted += u64::from(!transcript.ending.is_scorable());
        self.known_cases += u64::from(scored.case == CaseKnowledge::Known);
        let case = hash_of(&transcript.case);
        self.cases.insert(case);
        if self.subjects.len() < MAX_LISTED {
            self.subjects.insert(shorten(&transcript.subject));
        }
        for note in &recording.notes {
            self.add_note(note);
        }
        for score in &scored.scores {
            self.readings.entry(score.scorer.to_string()).or_default().add(&score.reading);
        }
        for reading in &scored.readings {
            self.readings.entry(reading.name.to_owned()).or_default().add(&reading.reading);
        }
        self.add_stored_scores(recording, &scored.scores);
        self.add_signs(recording, &scored, &transcript.ending);
        self.add_trials(recording, hash_of(&(&transcript.case, &transcript.subject)));
        for pair in scored.pairs {
            self.agreement.add(recording, pair);
        }
    }

    fn add_note(&mut self, note: &str) {
        let Some((count, what)) = note.split_once(" × ") else { return };
        if self.left_out.len() < MAX_LISTED || self.left_out.contains_key(what) {
            *self.left_out.entry(what.to_owned()).or_default() += count.parse::<u64>().unwrap_or(1);
        }
    }

    fn add_stored_scores(&mut self, recording: &LogRecording, scores: &[Score]) {
        for stored in &recording.scores {
            let now = match scores.iter().find(|score| score.scorer == stored.scorer) {
                Some(score) if score.reading == stored.reading => {
                    self.same_scores += 1;
                    continue;
                }
                Some(score) => score.reading.clone(),
                None => {
                    self.unread_scores += 1;
                    continue;
                }
            };
            let (at, case, scorer) = (recording.at.clone(), shorten(&recording.transcript.case), shorten(&stored.scorer.to_string()));
            let changed = ChangedReading { at, case, scorer, stored: short_reading(&stored.reading), now };
            push_bounded(&mut self.changed_scores, &mut self.more_changed_scores, changed);
        }
    }

    fn add_signs(&mut self, recording: &LogRecording, scored: &ScoredRecording, ending: &Ending) {
        let Some(signs) = &scored.signs else { return };
        self.attacks.add(signs, ending.is_scorable());
        if matches!(signs.attempted, SignState::Yes(_)) {
            let (at, case) = (recording.at.clone(), shorten(&recording.transcript.case));
            let (seen, attempted, reached) = (signs.seen.clone(), signs.attempted.clone(), signs.reached.clone());
            push_bounded(&mut self.findings, &mut self.more_findings, AttackFindingLine { at, case, seen, attempted, reached });
        }
    }

    /// Counts verdicts about whole recordings; those that say nothing are no trials.
    fn add_trials(&mut self, recording: &LogRecording, case: u64) {
        for verdict in recording.verdicts.iter().filter(|verdict| verdict.about.is_none()) {
            let good = match verdict.outcome {
                SourceOutcome::Good => true,
                SourceOutcome::Bad => false,
                SourceOutcome::NotEvidence(_) => continue,
            };
            if self.verdicts.len() < MAX_LISTED {
                self.verdicts.insert(verdict.name.clone());
            } else if !self.verdicts.contains(&verdict.name) {
                continue;
            }
            let trials = self.trials.entry((verdict.name.clone(), case)).or_default();
            trials.trials += 1;
            trials.passed += u64::from(good);
        }
    }

    /// Returns pass^k of every verdict, for every k that all its cases allow.
    pub fn trial_shares(&self) -> Vec<TrialShare> {
        let mut by_verdict: BTreeMap<&str, Vec<CaseTrials>> = BTreeMap::new();
        for ((verdict, _), trials) in &self.trials {
            by_verdict.entry(verdict).or_default().push(*trials);
        }
        let share = |(verdict, cases): (&str, Vec<CaseTrials>)| {
            let trials = cases.iter().map(|case| case.trials);
            let (fewest, most) = (trials.clone().min().unwrap_or(0), trials.max().unwrap_or(0));
            let pass_hat = (1..=fewest.min(MAX_K)).filter_map(|k| pass_hat_k(&cases, k)).collect();
            TrialShare { verdict: verdict.to_owned(), cases: cases.len() as u64, trials: (fewest, most), pass_hat }
        };
        by_verdict.into_iter().map(share).collect()
    }
}

impl ReadingTotals {
    fn add(&mut self, reading: &Reading) {
        match reading {
            Reading::Tally { of: 0, .. } => self.unexercised += 1,
            Reading::Tally { hit, of } => {
                self.exercised += 1;
                self.hit += hit;
                self.of += of;
            }
            Reading::Level(level) => {
                self.exercised += 1;
                self.levels += 1;
                self.level_sum += level;
            }
            Reading::Unscorable { .. } => self.unscorable += 1,
        }
    }

    /// Returns the share of hits, or the mean level; absent without a measurement.
    pub fn value(&self) -> Option<f64> {
        match (self.of, self.levels) {
            (0, 0) => None,
            (0, levels) => Some(self.level_sum / levels as f64),
            (of, _) => Some(self.hit as f64 / of as f64),
        }
    }
}

fn push_bounded<T>(list: &mut Vec<T>, more: &mut u64, item: T) {
    if list.len() < MAX_LISTED {
        list.push(item);
    } else {
        *more += 1;
    }
}

/// Returns a reading whose reason is short.
fn short_reading(reading: &Reading) -> Reading {
    match reading {
        Reading::Unscorable { why } => Reading::Unscorable { why: shorten(why) },
        Reading::Tally { .. } | Reading::Level(_) => reading.clone(),
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
