//! Differences between a stored run and the same run rescored.

use model::{GateResult, Reading, RunRecord, ScorerName, Verdict};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunChanges {
    pub scores: Vec<ChangedScore>,
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

impl RunChanges {
    /// Compares two records of the same transcripts in the same order.
    pub fn between(before: &RunRecord, after: &RunRecord) -> Self {
        Self { scores: changed_scores(before, after), verdicts: changed_verdicts(before, after) }
    }

    pub fn is_empty(&self) -> bool {
        self.scores.is_empty() && self.verdicts.is_empty()
    }
}

fn changed_scores(before: &RunRecord, after: &RunRecord) -> Vec<ChangedScore> {
    let mut changed = vec![];
    for ((transcript, old), new) in before.transcripts.iter().zip(&before.scores).zip(&after.scores) {
        let mut scorers: Vec<&ScorerName> = vec![];
        for score in old.scores.iter().chain(&new.scores) {
            if !scorers.contains(&&score.scorer) {
                scorers.push(&score.scorer);
            }
        }
        for scorer in scorers {
            let read = |scores: &[model::Score]| scores.iter().find(|score| score.scorer == *scorer).map(|score| score.reading.clone());
            let (before, after) = (read(&old.scores), read(&new.scores));
            if before != after {
                let (case, trial) = (transcript.case.clone(), transcript.trial.short().to_owned());
                changed.push(ChangedScore { case, trial, scorer: scorer.clone(), before, after });
            }
        }
    }
    changed
}

fn changed_verdicts(before: &RunRecord, after: &RunRecord) -> Vec<ChangedVerdict> {
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
    let gone = before.judgements.iter().filter(|old| !after.judgements.iter().any(|new| same(old, new)));
    let gone = gone.map(|old| changed(old, Some(old), None));
    let now = after.judgements.iter().map(|new| changed(new, before.judgements.iter().find(|old| same(old, new)), Some(new)));
    gone.chain(now.filter(|change| change.before != change.after)).collect()
}
