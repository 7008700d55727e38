//! Differences between a stored run and the same run rescored.

use model::{ContentHash, GateResult, Reading, RunRecord, Score, ScorerName, Verdict};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunChanges {
    /// The first ones, at most 10,000.
    pub scores: Vec<ChangedScore>,
    /// Number of changed scores that are not kept.
    pub more_scores: usize,
    pub verdicts: Vec<ChangedVerdict>,
}

/// Reading that was added, removed or changed.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedScore {
    pub case: String,
    pub trial: String,
    pub scorer: ScorerName,
    pub before: Option<Reading>,
    pub after: Option<Reading>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChangedVerdict {
    pub gate: String,
    pub subject: String,
    pub slice: String,
    pub before: Option<VerdictValue>,
    pub after: Option<VerdictValue>,
}

/// Verdict with its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerdictValue {
    pub verdict: Verdict,
    pub value: Option<f64>,
}

/// Changed scores that are kept; further ones are counted.
const MAX_CHANGED_SCORES: usize = 10_000;

impl RunChanges {
    /// Compares two records of the same transcripts in the same order.
    pub fn between(before: &RunRecord, after: &RunRecord) -> Self {
        let mut changes = Self::default();
        for ((transcript, old), new) in before.transcripts.iter().zip(&before.scores).zip(&after.scores) {
            changes.add_trial(&transcript.case, &transcript.trial, &old.scores, &new.scores);
        }
        changes.add_verdicts(&before.judgements, &after.judgements);
        changes
    }

    /// Adds the readings of one trial that differ.
    pub fn add_trial(&mut self, case: &str, trial: &ContentHash, old: &[Score], new: &[Score]) {
        let mut scorers: Vec<&ScorerName> = vec![];
        for score in old.iter().chain(new) {
            if !scorers.contains(&&score.scorer) {
                scorers.push(&score.scorer);
            }
        }
        for scorer in scorers {
            let read = |scores: &[Score]| scores.iter().find(|score| score.scorer == *scorer).map(|score| score.reading.clone());
            let (before, after) = (read(old), read(new));
            if before == after {
                continue;
            }
            if self.scores.len() >= MAX_CHANGED_SCORES {
                self.more_scores += 1;
                continue;
            }
            let (case, trial) = (case.to_owned(), trial.short().to_owned());
            self.scores.push(ChangedScore { case, trial, scorer: scorer.clone(), before, after });
        }
    }

    /// Adds the verdicts that differ.
    pub fn add_verdicts(&mut self, before: &[GateResult], after: &[GateResult]) {
        let same = |one: &GateResult, other: &GateResult| {
            (&one.gate, &one.subject, &one.metric.slice) == (&other.gate, &other.subject, &other.metric.slice)
        };
        let judged = |judgement: &GateResult| VerdictValue { verdict: judgement.verdict, value: judgement.metric.value };
        let changed = |of: &GateResult, before: Option<&GateResult>, after: Option<&GateResult>| ChangedVerdict {
            gate: of.gate.clone(),
            subject: of.subject.clone(),
            slice: of.metric.slice.clone(),
            before: before.map(judged),
            after: after.map(judged),
        };
        let gone = before.iter().filter(|old| !after.iter().any(|new| same(old, new)));
        let gone = gone.map(|old| changed(old, Some(old), None));
        let now = after.iter().map(|new| changed(new, before.iter().find(|old| same(old, new)), Some(new)));
        self.verdicts.extend(gone.chain(now.filter(|change| change.before != change.after)));
    }

    /// Returns the number of changed scores, kept or not.
    pub fn changed_scores(&self) -> usize {
        self.scores.len() + self.more_scores
    }

    pub fn is_empty(&self) -> bool {
        self.scores.is_empty() && self.verdicts.is_empty()
    }
}
