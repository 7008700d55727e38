//! Transcripts of a run, read row by row: a reader holds one trial at a time, however many the run has.

use crate::selection::TrialSelection;
use crate::trials::{EndedTrial, TrialRow};
use crate::{Store, StoreError, StoredRun};
use model::transcript::SerializedTranscript;
use model::{CaseOutcome, ContentHash, RECORD_FORMAT, Score, Transcript, Trial, TrialScores};
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::fmt;

/// Text column of a trial, read from its row on request only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrialColumn {
    Ending,
    Scores,
    /// Hash of events and ending.
    Content,
    Events,
}

/// Row of a trial in an engine.
pub(crate) trait TrialTexts {
    fn text(&self, column: TrialColumn) -> Result<Cow<'_, str>, StoreError>;
}

/// Row of a trial whose events and scores are parsed on request only.
pub struct UnreadTrial<'r> {
    pub(crate) run: i64,
    pub(crate) texts: &'r dyn TrialTexts,
    pub(crate) wall_us: u64,
    pub(crate) passed: Option<bool>,
    /// Position in the plan.
    pub n: u64,
    pub trial: Trial,
}

impl fmt::Debug for UnreadTrial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnreadTrial").field("run", &self.run).field("n", &self.n).field("trial", &self.trial).finish_non_exhaustive()
    }
}

impl UnreadTrial<'_> {
    pub fn transcript(&self) -> Result<Transcript, StoreError> {
        Ok(Transcript {
            trial: self.trial.id.clone(),
            case: self.trial.case.clone(),
            subject: self.trial.subject.clone(),
            events: self.parse(TrialColumn::Events)?,
            ending: self.parse(TrialColumn::Ending)?,
        })
    }

    pub fn wall_us(&self) -> Result<u64, StoreError> {
        Ok(self.wall_us)
    }

    pub fn scores(&self) -> Result<Vec<Score>, StoreError> {
        self.parse(TrialColumn::Scores)
    }

    pub(crate) fn to_ended(&self) -> Result<EndedTrial, StoreError> {
        Ok(EndedTrial {
            n: self.n,
            trial: self.trial.clone(),
            content_hash: self.content_hash()?,
            ending: self.parse(TrialColumn::Ending)?,
            scores: self.scores()?,
            scores_hash: ContentHash::of_text(&self.texts.text(TrialColumn::Scores)?),
            wall_us: self.wall_us,
        })
    }

    /// Returns the row as it is stored, for the run `run` of another store.
    pub(crate) fn to_row(&self, run: i64) -> Result<TrialRow, StoreError> {
        let text = |column| self.texts.text(column).map(Cow::into_owned);
        let transcript = SerializedTranscript {
            events: text(TrialColumn::Events)?,
            ending: text(TrialColumn::Ending)?,
            content_hash: self.content_hash()?,
        };
        let outcome = match self.passed {
            Some(true) => CaseOutcome::Passed,
            Some(false) => CaseOutcome::Failed,
            None => CaseOutcome::Unjudged,
        };
        let (trial, scores) = (self.trial.clone(), text(TrialColumn::Scores)?);
        Ok(TrialRow { run, n: self.n, trial, outcome, wall_us: self.wall_us, transcript, scores, output: None })
    }

    fn content_hash(&self) -> Result<ContentHash, StoreError> {
        let text = self.texts.text(TrialColumn::Content)?;
        ContentHash::parse(&text).ok_or_else(|| StoreError::unreadable(&self.run.to_string(), &format!("\"{text}\" is not a hash")))
    }

    fn parse<T: DeserializeOwned>(&self, column: TrialColumn) -> Result<T, StoreError> {
        serde_json::from_str(&self.texts.text(column)?).map_err(|error| StoreError::unreadable(&self.run.to_string(), &error))
    }
}

/// Parses the id of a trial.
pub(crate) fn parse_trial_id(text: &str) -> Result<ContentHash, StoreError> {
    ContentHash::parse(text).ok_or_else(|| StoreError::unreadable(text, &"the trial id is not a hash"))
}

/// Position and id of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialPosition {
    pub n: u64,
    pub id: ContentHash,
}

/// First trials of a search in plan order, and the number of all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrialMatches {
    pub first: Vec<TrialPosition>,
    pub count: usize,
}

impl Store {
    /// Calls `take` with every trial that ended, in plan order.
    ///
    /// # Errors
    /// If the store cannot be read, and the first error of `take`.
    pub fn for_each_unread(&self, run: i64, mut take: impl FnMut(&UnreadTrial<'_>) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.engine.for_each_trial(&TrialSelection { run, positions: 0..i64::MAX as u64, with_events: true }, &mut take)
    }

    /// Calls `take` with every transcript and its scores, in plan order.
    pub fn for_each_transcript(&self, run: i64, mut take: impl FnMut(Trial, Transcript, TrialScores)) -> Result<(), StoreError> {
        self.for_each_unread(run, |unread| {
            let scores = TrialScores { trial: unread.trial.id.clone(), scores: unread.scores()? };
            take(unread.trial.clone(), unread.transcript()?, scores);
            Ok(())
        })
    }

    /// Reads one trial by its position in the plan.
    pub fn read_transcript(&self, run: i64, n: u64) -> Result<Option<(Trial, Transcript, Vec<Score>)>, StoreError> {
        let mut found = None;
        let selection = TrialSelection { run, positions: n..n.saturating_add(1), with_events: true };
        self.engine.for_each_trial(&selection, &mut |unread| {
            found = Some((unread.trial.clone(), unread.transcript()?, unread.scores()?));
            Ok(())
        })?;
        Ok(found)
    }

    /// Finds the trials of a case, or those whose id starts with `id_prefix`. Keeps the first `most` of them.
    pub fn find_trials(&self, run: i64, case: &str, id_prefix: Option<&str>, most: usize) -> Result<TrialMatches, StoreError> {
        self.engine.find_trials(run, case, id_prefix, most)
    }

    /// Returns the cases with a trial that ended, sorted.
    pub fn cases_of_run(&self, run: i64) -> Result<Vec<String>, StoreError> {
        self.engine.cases_of_run(run)
    }

    /// Returns the subjects of a run in the order of the plan; without a plan, in the order of their first trial.
    pub fn subjects_of_run(&self, run: &StoredRun) -> Result<Vec<String>, StoreError> {
        match &run.plan {
            Some(plan) => Ok(plan.subjects.iter().map(|planned| planned.subject.clone()).collect()),
            None => self.engine.subjects_by_first_trial(run.run),
        }
    }

    /// Checks that this version can read the trials of a run.
    ///
    /// # Errors
    /// If they have another format.
    pub fn check_format(&self, run: &StoredRun) -> Result<(), StoreError> {
        if run.format == RECORD_FORMAT {
            return Ok(());
        }
        Err(StoreError::unreadable(&run.id, &format!("its format is {}, this version reads {RECORD_FORMAT}", run.format)))
    }
}
