//! Transcripts of a run, read row by row: a reader holds one trial at a time, however many the run has.

use crate::trials::{parse_json, read_trial};
use crate::{Store, StoreError, StoredRun};
use model::{ContentHash, RECORD_FORMAT, Score, Transcript, Trial, TrialScores};
use rusqlite::{Row, params};

/// Row of a trial whose events and scores are parsed on request only.
#[derive(Debug)]
pub struct UnreadTrial<'r> {
    run: i64,
    row: &'r Row<'r>,
    /// Position in the plan.
    pub n: u64,
    pub trial: Trial,
}

impl UnreadTrial<'_> {
    pub fn transcript(&self) -> Result<Transcript, StoreError> {
        Ok(Transcript {
            trial: self.trial.id.clone(),
            case: self.trial.case.clone(),
            subject: self.trial.subject.clone(),
            events: parse_json(self.run, &self.row.get::<_, String>(7)?)?,
            ending: parse_json(self.run, &self.row.get::<_, String>(5)?)?,
        })
    }

    pub fn wall_us(&self) -> Result<u64, StoreError> {
        Ok(self.row.get(8)?)
    }

    pub fn scores(&self) -> Result<Vec<Score>, StoreError> {
        parse_json(self.run, &self.row.get::<_, String>(6)?)
    }
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

const SELECT_UNREAD: &str = "SELECT n, trial, case_id, subject, seed, how, scores, events, wall_us FROM trials WHERE run = ?1";

impl Store {
    /// Calls `take` with every trial that ended, in plan order.
    ///
    /// # Errors
    /// If the store cannot be read, and the first error of `take`.
    pub fn for_each_unread(&self, run: i64, mut take: impl FnMut(&UnreadTrial<'_>) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let mut rows = self.connection.prepare_cached(&format!("{SELECT_UNREAD} ORDER BY n"))?;
        let mut rows = rows.query([run])?;
        while let Some(row) = rows.next()? {
            take(&UnreadTrial { run, n: row.get(0)?, trial: read_trial(row)?, row })?;
        }
        Ok(())
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
        let mut rows = self.connection.prepare_cached(&format!("{SELECT_UNREAD} AND n = ?2"))?;
        let mut rows = rows.query(params![run, n])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let unread = UnreadTrial { run, n, trial: read_trial(row)?, row };
        Ok(Some((unread.trial.clone(), unread.transcript()?, unread.scores()?)))
    }

    /// Finds the trials of a case, or those whose id starts with `id_prefix`. Keeps the first `most` of them.
    pub fn find_trials(&self, run: i64, case: &str, id_prefix: Option<&str>, most: usize) -> Result<TrialMatches, StoreError> {
        let sql = "SELECT n, trial FROM trials WHERE run = ?1 AND (case_id = ?2 OR substr(trial, 1, length(?3)) = ?3) ORDER BY n";
        let mut rows = self.connection.prepare_cached(sql)?;
        let mut rows = rows.query(params![run, case, id_prefix])?;
        let mut found = TrialMatches::default();
        while let Some(row) = rows.next()? {
            found.count += 1;
            if found.first.len() < most {
                let id: String = row.get(1)?;
                let id = ContentHash::parse(&id).ok_or_else(|| StoreError::unreadable(&id, &"the trial id is not a hash"))?;
                found.first.push(TrialPosition { n: row.get(0)?, id });
            }
        }
        Ok(found)
    }

    /// Returns the cases with a trial that ended, sorted.
    pub fn cases_of_run(&self, run: i64) -> Result<Vec<String>, StoreError> {
        let mut rows = self.connection.prepare_cached("SELECT DISTINCT case_id FROM trials WHERE run = ?1 ORDER BY 1")?;
        let cases = rows.query_map([run], |row| row.get(0))?;
        Ok(cases.collect::<Result<_, _>>()?)
    }

    /// Returns the subjects of a run in the order of the plan; without a plan, in the order of their first trial.
    pub fn subjects_of_run(&self, run: &StoredRun) -> Result<Vec<String>, StoreError> {
        if let Some(plan) = &run.plan {
            return Ok(plan.subjects.iter().map(|planned| planned.subject.clone()).collect());
        }
        let mut rows = self.connection.prepare_cached("SELECT subject FROM trials WHERE run = ?1 GROUP BY subject ORDER BY min(n)")?;
        let subjects = rows.query_map([run.run], |row| row.get(0))?;
        Ok(subjects.collect::<Result<_, _>>()?)
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
