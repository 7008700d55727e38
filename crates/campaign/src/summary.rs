//! What a run came to, without its transcripts: all that a report needs.

use model::{Claim, Ending, Hash, Judgement, Reading, RunRecord, Score, ScorerId};

#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub claim: Claim,
    pub workspace: Hash,
    /// In the order of the plan.
    pub subjects: Vec<String>,
    pub planned: u64,
    /// Trials that ended and can be scored.
    pub finished: u64,
    pub passed: u64,
    /// Ended trials that no scorer read anything off: whatever they showed, nobody looked.
    pub unread: u64,
    /// Trials whose rubric no judge was asked about, and those about which one was asked in vain.
    pub unjudged: u64,
    pub misjudged: u64,
    /// Trials for which the budget did not reach.
    pub unfunded: u64,
    /// Trials that need a recording that is not there.
    pub unrecorded: u64,
    /// Trials that were broken, the first few of them, and how many there are in all.
    pub broken: Vec<Broken>,
    pub all_broken: u64,
    pub flaky: Vec<Flaky>,
    pub judgements: Vec<Judgement>,
    pub out_of_scope: Vec<String>,
    /// The hash of the record as far as it goes.
    pub record: Hash,
    /// Whether every trial of the plan ended.
    pub complete: bool,
}

/// A trial that is no evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    pub case: String,
    pub subject: String,
    pub ending: Ending,
}

/// A case that passed some of its trials and failed others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaky {
    pub case: String,
    pub subject: String,
    pub passed: u64,
    pub of: u64,
}

/// Of the broken trials only this many are kept for the report.
pub(crate) const SHOWN: usize = 50;

impl Summary {
    /// Planned, but not there to be scored.
    pub fn aborted(&self) -> u64 {
        self.planned - self.finished
    }

    /// Of a record that is there as a whole.
    pub fn of(record: &RunRecord) -> Self {
        let mut counts = Counts::default();
        let pairs = record.transcripts.iter().zip(&record.scores);
        for (transcript, scores) in pairs {
            let passed = passed(&transcript.ending, &scores.scores);
            counts.add((&transcript.case, &transcript.subject), &transcript.ending, &scores.scores, passed);
        }
        let mut subjects: Vec<String> = vec![];
        for trial in &record.plan.trials {
            if !subjects.contains(&trial.subject) {
                subjects.push(trial.subject.clone());
            }
        }
        let planned = record.plan.trials.len() as u64;
        let judged = (record.judgements.clone(), record.out_of_scope.clone());
        counts.summary(record.claim, (record.plan.workspace.clone(), subjects, planned), judged, record.hash())
    }
}

/// What is counted while trials come in the order of the plan.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    ended: u64,
    finished: u64,
    passed: u64,
    unread: u64,
    unjudged: u64,
    misjudged: u64,
    unfunded: u64,
    unrecorded: u64,
    broken: Vec<Broken>,
    all_broken: u64,
    flaky: Vec<Flaky>,
    /// The case and subject whose trials are coming, which stand together.
    now: Option<Flaky>,
}

impl Counts {
    pub(crate) fn add(&mut self, (case, subject): (&str, &str), ending: &Ending, scores: &[Score], passed: Option<bool>) {
        self.ended += 1;
        if ending.is_scorable() {
            self.finished += 1;
            self.unread += u64::from(!scores.iter().any(|score| score.reading.is_exercised()));
            let rubric = scores.iter().find(|score| score.scorer == ScorerId::Judged).map(|score| &score.reading);
            self.unjudged += u64::from(rubric == Some(&Reading::not_exercised()));
            self.misjudged += u64::from(matches!(rubric, Some(Reading::Unscorable { .. })));
        } else {
            self.all_broken += 1;
            self.unfunded += u64::from(matches!(ending, Ending::Unfunded));
            self.unrecorded += u64::from(ending.needs_recording());
            if self.broken.len() < SHOWN {
                self.broken.push(Broken { case: case.to_owned(), subject: subject.to_owned(), ending: ending.clone() });
            }
        }
        if self.now.as_ref().is_none_or(|now| now.case != case || now.subject != subject) {
            self.close();
            self.now = Some(Flaky { case: case.to_owned(), subject: subject.to_owned(), passed: 0, of: 0 });
        }
        if let (Some(passed), Some(now)) = (passed, &mut self.now) {
            self.passed += u64::from(passed);
            now.passed += u64::from(passed);
            now.of += 1;
        }
    }

    fn close(&mut self) {
        self.flaky.extend(self.now.take().filter(|now| now.passed > 0 && now.passed < now.of));
    }

    pub(crate) fn summary(
        mut self,
        claim: Claim,
        (workspace, subjects, planned): (Hash, Vec<String>, u64),
        (judgements, out_of_scope): (Vec<Judgement>, Vec<String>),
        record: Hash,
    ) -> Summary {
        self.close();
        let Self { ended, finished, passed, unread, unjudged, misjudged, unfunded, unrecorded, broken, all_broken, flaky, now: _ } = self;
        let complete = ended == planned;
        Summary {
            claim,
            workspace,
            subjects,
            planned,
            finished,
            passed,
            unread,
            unjudged,
            misjudged,
            unfunded,
            unrecorded,
            broken,
            all_broken,
            flaky,
            judgements,
            out_of_scope,
            record,
            complete,
        }
    }
}

/// Whether the case of a trial passed. Where no case is to pass, nothing may be missed; where nothing was read, nothing is said.
pub fn passed(ending: &Ending, scores: &[Score]) -> Option<bool> {
    if !ending.is_scorable() {
        return None;
    }
    match scores.iter().find(|score| score.scorer == ScorerId::CasePass).map(|score| &score.reading) {
        Some(Reading::Unscorable { .. }) => None,
        Some(reading) if reading.is_exercised() => Some(reading.is_clean()),
        Some(_) | None if scores.iter().any(|score| score.reading.is_violation()) => Some(false),
        // Held in all but its rubric, which nobody judged.
        Some(_) if scores.iter().any(|score| score.scorer == ScorerId::Judged && !score.reading.is_exercised()) => None,
        Some(_) | None => scores.iter().any(|score| score.reading.is_exercised()).then_some(true),
    }
}
