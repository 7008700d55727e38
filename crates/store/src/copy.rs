//! Copies of runs between stores, on the same or another engine. A copy has another id until it is complete and verified.

use crate::call_row::CallRow;
use crate::selection::TrialSelection;
use crate::transcripts::TrialColumn;
use crate::{AgentOutput, NewRun, Store, StoreError, StoredRun, TrialRow};
use model::{ContentHash, RecordHasher, Trial};
use std::collections::VecDeque;

/// Most rows and bytes of one commit.
const GROUP_ROWS: usize = 256;
const GROUP_BYTES: usize = 4 << 20;

/// Result of copying a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunCopy {
    Copied(CopiedRows),
    /// The same run was there before, with the same rows.
    AlreadyThere(CopiedRows),
}

/// Number of rows of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopiedRows {
    pub trials: u64,
    pub calls: u64,
}

/// Rows of a run, and a hash over all of them.
#[derive(Debug, PartialEq, Eq)]
struct RunDigest {
    rows: CopiedRows,
    hash: ContentHash,
    /// Hash of the record, computed from the rows.
    record: ContentHash,
}

impl Store {
    /// Copies a run with its trials, output of agents, calls and counters to another store, and verifies the copy by hash. A copy that was
    /// interrupted begins anew. The reply cache is not part of a run.
    ///
    /// # Errors
    ///
    /// Fails if the run is in use, its record does not fit its trials, or the other store has another run with this id.
    pub fn copy_run(&self, run: &StoredRun, to: &Store) -> Result<RunCopy, StoreError> {
        self.check_format(run)?;
        let _unchanged = if run.record.is_none() { Some(self.lock_run(&run.id)?) } else { None };
        // Read again, because runs of a list lack the cases of their plans.
        let run = &self.run(run.run)?.filter(|stored| stored.id == run.id).ok_or_else(|| not_copied(run, "it was removed"))?;
        let wanted = self.digest(run, run.run)?;
        if run.record.as_ref().is_some_and(|record| *record != wanted.record) {
            return Err(not_copied(run, "its record does not fit its trials"));
        }
        if let Some(existing) = to.run_with_id(&run.id)? {
            let same = existing.record == run.record && to.digest(&existing, existing.run)? == wanted;
            return if same {
                Ok(RunCopy::AlreadyThere(wanted.rows))
            } else {
                Err(not_copied(run, "the other store has another run with its id"))
            };
        }
        let draft = format!("copying-{}", run.id);
        let _alone = to.lock_run(&draft)?;
        if let Some(interrupted) = to.run_with_id(&draft)? {
            to.remove_run(interrupted.run)?;
        }
        let key = to.begin_run(&NewRun {
            id: &draft,
            started: &run.started,
            workspace: &run.workspace,
            claim: &run.claim,
            settings: &run.settings,
            plan: run.plan.as_ref(),
            planned: run.planned,
            budget: run.budget,
        })?;
        self.copy_rows(run.run, to, key)?;
        if let Some(verdicts) = self.engine.verdicts(run.run)? {
            to.engine.set_verdicts(key, &verdicts, run.record.as_ref().map(ContentHash::as_str), run.ended.as_deref())?;
        }
        if to.digest(run, key)? != wanted {
            to.remove_run(key)?;
            return Err(not_copied(run, "the copy differs from it, and was removed"));
        }
        to.engine.set_run_id(key, &run.id)?;
        Ok(RunCopy::Copied(wanted.rows))
    }

    /// Returns the run with this id.
    pub fn run_with_id(&self, id: &str) -> Result<Option<StoredRun>, StoreError> {
        Ok(self.run_with_prefix(id)?.filter(|run| run.id == id))
    }

    fn copy_rows(&self, run: i64, to: &Store, key: i64) -> Result<(), StoreError> {
        let mut trials = CopyGroup::<TrialRow>::default();
        let mut outputs = OutputReader::new(self, run);
        self.for_each_unread(run, |unread| {
            let mut row = unread.to_row(key)?;
            row.output = outputs.at(unread.n)?;
            let bytes = row.transcript.events.len() + row.scores.len();
            trials.push(row, bytes, &mut |rows| to.engine.add_trials(rows))
        })?;
        trials.flush(&mut |rows| to.engine.add_trials(rows))?;
        let mut calls = CopyGroup::<CallRow>::default();
        self.engine.for_each_call(run, &mut |call| {
            let bytes = call.reply.as_ref().map_or(0, String::len);
            calls.push(call, bytes, &mut |rows| to.engine.insert_calls(key, rows))
        })?;
        calls.flush(&mut |rows| to.engine.insert_calls(key, rows))?;
        for (what, n) in self.telemetry(run)? {
            to.add_telemetry(key, &what, n)?;
        }
        Ok(())
    }

    /// Reads all rows of the run with this key; `run` says what was planned.
    fn digest(&self, run: &StoredRun, key: i64) -> Result<RunDigest, StoreError> {
        let mut rows = CopiedRows::default();
        let mut hash = ContentHash::of_text("run");
        let mut add = |parts: &[&str]| {
            let mut all = vec![hash.as_str()];
            all.extend(parts.iter().flat_map(|part| ["\n", part]));
            hash = ContentHash::of_parts(&all);
        };
        let mut record = RecordHasher::new(&run.claim, &run.workspace);
        let planned = run.plan.as_ref();
        let mut next = 0;
        let mut outputs = OutputReader::new(self, key);
        let selection = TrialSelection { run: key, positions: 0..i64::MAX as u64, with_events: true };
        self.engine.for_each_trial(&selection, &mut |unread| {
            let Trial { id, case, subject, seed } = &unread.trial;
            let (events, ending) = (unread.texts.text(TrialColumn::Events)?, unread.texts.text(TrialColumn::Ending)?);
            let scores = unread.texts.text(TrialColumn::Scores)?;
            let content = ContentHash::of_parts(&[&events, "\n", &ending]);
            if content.as_str() != unread.texts.text(TrialColumn::Content)? {
                return Err(not_copied(run, &format!("the events of trial {} do not fit their hash", id.short())));
            }
            let numbers = format!("{} {seed} {:?} {}", unread.n, unread.passed, unread.wall_us);
            add(&["trial", id.as_str(), case, subject, &numbers, content.as_str(), &scores]);
            if let Some(output) = outputs.at(unread.n)? {
                add(&["output", &output.stdout_bytes.to_string(), &output.stderr]);
            }
            while let Some(plan) = planned.filter(|_| next < unread.n) {
                record.add_unrun_trial(&plan.trial(next));
                next += 1;
            }
            next = unread.n + 1;
            record.add_trial(&unread.trial, &content, &scores);
            rows.trials += 1;
            Ok(())
        })?;
        while let Some(plan) = planned.filter(|plan| next < plan.len()) {
            record.add_unrun_trial(&plan.trial(next));
            next += 1;
        }
        self.engine.for_each_call(key, &mut |call| {
            add(&["call", &format!("{call:?}")]);
            rows.calls += 1;
            Ok(())
        })?;
        for (what, n) in self.telemetry(key)? {
            add(&["counter", &what, &n.to_string()]);
        }
        let verdicts = self.engine.verdicts(key)?;
        add(&["verdicts", verdicts.as_deref().unwrap_or_default()]);
        let parsed: model::GateVerdicts = match &verdicts {
            Some(text) => serde_json::from_str(text).map_err(|error| StoreError::unreadable(&run.id, &error))?,
            None => model::GateVerdicts::default(),
        };
        Ok(RunDigest { rows, hash, record: record.finish(&parsed.judgements, &parsed.out_of_scope) })
    }
}

/// Reader of the outputs of a run, which few trials have, in the order of trials.
struct OutputReader<'s> {
    store: &'s Store,
    run: i64,
    outputs: VecDeque<(u64, AgentOutput)>,
    /// Position from which the next portion is read; absent if there is none.
    next: Option<u64>,
}

impl<'s> OutputReader<'s> {
    fn new(store: &'s Store, run: i64) -> Self {
        Self { store, run, outputs: VecDeque::new(), next: Some(0) }
    }

    /// Returns the output of the trial at a position, which is greater than the one before.
    fn at(&mut self, n: u64) -> Result<Option<AgentOutput>, StoreError> {
        while self.outputs.back().is_none_or(|(last, _)| *last < n) {
            let Some(from) = self.next else { break };
            let portion = self.store.engine.agent_outputs(self.run, from, GROUP_ROWS)?;
            self.next = portion.last().filter(|_| portion.len() == GROUP_ROWS).map(|(last, _)| last + 1);
            self.outputs.extend(portion);
        }
        while self.outputs.front().is_some_and(|(first, _)| *first < n) {
            self.outputs.pop_front();
        }
        Ok(self.outputs.pop_front_if(|(first, _)| *first == n).map(|(_, output)| output))
    }
}

fn not_copied(run: &StoredRun, why: &str) -> StoreError {
    StoreError::NotCopied { id: run.short_run_id().to_owned(), why: why.to_owned() }
}

/// Rows that are committed together.
struct CopyGroup<R> {
    rows: Vec<R>,
    bytes: usize,
}

impl<R> Default for CopyGroup<R> {
    fn default() -> Self {
        Self { rows: vec![], bytes: 0 }
    }
}

impl<R> CopyGroup<R> {
    fn push(&mut self, row: R, bytes: usize, commit: &mut dyn FnMut(&[R]) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.rows.push(row);
        self.bytes += bytes;
        if self.rows.len() >= GROUP_ROWS || self.bytes >= GROUP_BYTES { self.flush(commit) } else { Ok(()) }
    }

    fn flush(&mut self, commit: &mut dyn FnMut(&[R]) -> Result<(), StoreError>) -> Result<(), StoreError> {
        if !self.rows.is_empty() {
            commit(&self.rows)?;
            self.rows.clear();
            self.bytes = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of rows in each commit.
    fn commits(rows: usize, bytes: usize) -> Vec<usize> {
        let mut sizes = vec![];
        let mut group = CopyGroup::default();
        let mut commit = |rows: &[usize]| {
            sizes.push(rows.len());
            Ok(())
        };
        for row in 0..rows {
            group.push(row, bytes, &mut commit).unwrap();
        }
        group.flush(&mut commit).unwrap();
        group.flush(&mut commit).unwrap();
        sizes
    }

    #[test]
    fn copied_rows_are_committed_by_number_or_size() {
        assert_eq!(commits(2 * GROUP_ROWS + 1, 1), [GROUP_ROWS, GROUP_ROWS, 1]);
        assert_eq!(commits(3, GROUP_BYTES), [1, 1, 1]);
        assert_eq!(commits(5, GROUP_BYTES / 2), [2, 2, 1]);
        assert_eq!(commits(0, 1), [0; 0]);
    }
}
