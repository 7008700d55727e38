//! Differences between a stored run and the same run rescored.

use model::{Judgement, Reading, RunRecord, ScorerName, Verdict};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    pub scores: Vec<ChangedScore>,
    pub verdicts: Vec<ChangedVerdict>,
}

/// A reading that is new, gone or different.
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
    pub before: Option<Judged>,
    pub after: Option<Judged>,
}

/// A verdict with the value it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    pub verdict: Verdict,
    pub value: Option<f64>,
}

impl Changes {
    /// Both are of the same transcripts, in the same order.
    pub fn between(before: &RunRecord, after: &RunRecord) -> Self {
        Self { scores: scores(before, after), verdicts: verdicts(before, after) }
    }

    pub fn is_empty(&self) -> bool {
        self.scores.is_empty() && self.verdicts.is_empty()
    }
}

fn scores(before: &RunRecord, after: &RunRecord) -> Vec<ChangedScore> {
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

fn verdicts(before: &RunRecord, after: &RunRecord) -> Vec<ChangedVerdict> {
    let same = |one: &Judgement, other: &Judgement| {
        (&one.gate, &one.subject, &one.metric.slice) == (&other.gate, &other.subject, &other.metric.slice)
    };
    let judged = |judgement: &Judgement| Judged { verdict: judgement.verdict, value: judgement.metric.value };
    let changed = |of: &Judgement, before: Option<&Judgement>, after: Option<&Judgement>| ChangedVerdict {
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
