//! Filling the index from a store: trials that are new or were run again, newest runs first.

use super::words::trial_words;
use super::{IndexCoverage, SearchIndex, SearchPosition};
use crate::selection::{RunCounts, RunHead, TrialText};
use crate::{Store, StoreError};
use rusqlite::{Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;

/// Characters of a content hash in the index.
const HASH_CHARS: usize = 16;
/// Trials in one commit.
const GROUP: usize = 500;

/// Run as the index knows it.
struct IndexedRun {
    id: String,
    is_complete: bool,
}

impl SearchIndex {
    /// Adds trials that are not in the index, at most `most`, and removes runs that are no longer stored.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read or the index cannot be written.
    pub fn update(&self, store: &Store, most: usize) -> Result<IndexCoverage, StoreError> {
        let stored: Vec<RunHead> = store.engine.run_heads(i64::MAX, usize::MAX)?;
        let mut known = self.known_runs()?;
        let (mut left, mut behind) = (most, 0);
        for state in &stored {
            let indexed = known.remove(&state.run);
            let is_same = indexed.as_ref().is_some_and(|indexed| indexed.id == state.id);
            if is_same && indexed.is_some_and(|indexed| indexed.is_complete) {
                continue;
            }
            if !is_same {
                // A removed run may leave its number to a new one.
                self.remove_run(state.run)?;
                self.set_run(state.run, &state.id, false, &RunCounts::default())?;
            }
            if left == 0 {
                // Looking for what is missing in every later run would cost more than adding it.
                behind += 1;
                continue;
            }
            let (added, is_covered) = self.update_run(store, state.run, left)?;
            left = left.saturating_sub(added);
            if is_covered {
                let counts = store.engine.run_counts(state.run)?;
                self.set_run(state.run, &state.id, state.ended.is_some(), &counts)?;
            } else {
                behind += 1;
            }
        }
        for run in known.into_keys() {
            self.remove_run(run)?;
        }
        // Also of runs that were removed before the index knew them.
        self.connection.prepare_cached("DELETE FROM reports WHERE id NOT IN (SELECT id FROM runs)")?.execute([])?;
        Ok(IndexCoverage { runs: stored.len(), behind })
    }

    /// Returns the counters of a run that was complete when it was indexed.
    pub fn counts(&self, run: i64, id: &str) -> Result<Option<RunCounts>, StoreError> {
        let sql = "SELECT planned, finished, passed, aborted, spent, subjects FROM runs WHERE run = ?1 AND id = ?2 AND is_complete";
        let mut rows = self.connection.prepare_cached(sql)?;
        let mut rows = rows.query(params![run, id])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        Ok(Some(RunCounts {
            planned: row.get(0)?,
            finished: row.get(1)?,
            passed: row.get(2)?,
            aborted: row.get(3)?,
            spent: row.get(4)?,
            subjects: serde_json::from_str(&row.get::<_, String>(5)?).unwrap_or_default(),
        }))
    }

    fn known_runs(&self) -> Result<BTreeMap<i64, IndexedRun>, StoreError> {
        let mut rows = self.connection.prepare_cached("SELECT run, id, is_complete FROM runs")?;
        let rows = rows.query_map([], |row| Ok((row.get(0)?, IndexedRun { id: row.get(1)?, is_complete: row.get(2)? })))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the number of trials added, and whether all of the run are in the index.
    fn update_run(&self, store: &Store, run: i64, most: usize) -> Result<(usize, bool), StoreError> {
        let mut indexed = self.contents(run)?;
        let mut missing = vec![];
        for (n, content) in store.engine.trial_contents(run)? {
            if indexed.remove(&n).as_deref() != Some(short_hash(&content)) {
                missing.push(n);
            }
        }
        let transaction = self.transaction()?;
        for n in indexed.into_keys() {
            self.remove_trial(SearchPosition { run, n })?;
        }
        transaction.commit()?;
        let taken = missing.len().min(most);
        for group in missing[..taken].chunks(GROUP) {
            let transaction = self.transaction()?;
            store.engine.for_each_text(run, group, &mut |n, text| self.add_trial(SearchPosition { run, n }, &text))?;
            transaction.commit()?;
        }
        Ok((taken, taken == missing.len()))
    }

    fn add_trial(&self, at: SearchPosition, text: &TrialText) -> Result<(), StoreError> {
        self.remove_trial(at)?;
        let words = trial_words(&text.case, &text.events, &text.scores);
        self.connection.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?.execute(params![at.doc(), words])?;
        self.connection
            .prepare_cached("INSERT INTO docs (doc, content) VALUES (?1, ?2)")?
            .execute(params![at.doc(), short_hash(&text.content)])?;
        Ok(())
    }

    fn remove_trial(&self, at: SearchPosition) -> Result<(), StoreError> {
        let removed = self.connection.prepare_cached("DELETE FROM docs WHERE doc = ?1")?.execute([at.doc()])?;
        if removed > 0 {
            self.connection.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([at.doc()])?;
        }
        Ok(())
    }

    fn remove_run(&self, run: i64) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        for n in self.contents(run)?.into_keys() {
            self.remove_trial(SearchPosition { run, n })?;
        }
        self.connection.prepare_cached("DELETE FROM runs WHERE run = ?1")?.execute([run])?;
        Ok(transaction.commit()?)
    }

    fn set_run(&self, run: i64, id: &str, is_complete: bool, counts: &RunCounts) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO runs (run, id, is_complete, subjects, planned, finished, passed, aborted, spent) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let RunCounts { planned, finished, passed, aborted, spent, subjects } = counts;
        let subjects = serde_json::Value::from(subjects.clone()).to_string();
        self.connection.prepare_cached(sql)?.execute(params![run, id, is_complete, subjects, planned, finished, passed, aborted, spent])?;
        Ok(())
    }

    /// Returns the content hashes of the trials of a run by position.
    fn contents(&self, run: i64) -> Result<BTreeMap<u64, String>, StoreError> {
        let mut rows = self.connection.prepare_cached("SELECT doc, content FROM docs WHERE doc BETWEEN ?1 AND ?2")?;
        let range = params![SearchPosition::first_of(run).doc(), SearchPosition::last_of(run).doc()];
        let rows = rows.query_map(range, |row| Ok((SearchPosition::of_doc(row.get(0)?).n, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn transaction(&self) -> Result<Transaction<'_>, StoreError> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?)
    }
}

/// Returns the begin of a content hash, enough to tell trials of one position apart.
fn short_hash(content: &str) -> &str {
    content.get(..HASH_CHARS).unwrap_or(content)
}
