//! Groups of journal writes in few statements: one per table and stage, with the values of all rows in arrays.
//!
//! Writes of a group may be reordered as long as those to one call keep their order: a call that is reserved, failed and reserved again needs
//! a second stage.

use super::connection::PgConnection;
use super::session::{BatchRows, PgParam, PgStatement};
use super::text::{encode, get, number};
use crate::call_row::{NOT_RESERVABLE, NOT_RESERVED};
use crate::{CallKey, JournalWrite, StoreError, TrialRow};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of trials in one statement. The server holds a statement in memory.
const STATEMENT_BYTES: usize = 8 << 20;

const RESERVE: &str = "INSERT INTO calls (run, trial, role, n, state, attempts, ceiling, cost, lost)
    SELECT run, trial, role, n, 'reserved', 1, ceiling, 0, 0
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS given (run, trial, role, n, ceiling)
    ON CONFLICT (run, trial, role, n) DO UPDATE SET state = 'reserved', attempts = calls.attempts + 1, ceiling = excluded.ceiling
        WHERE calls.state = 'failed'
    RETURNING run, trial, role, n";
const SETTLE: &str = "UPDATE calls SET state = 'settled', cost = given.cost, waited_us = given.waited_us, reply = given.reply
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[])
        AS given (run, trial, role, n, cost, waited_us, reply)
    WHERE calls.run = given.run AND calls.trial = given.trial AND calls.role = given.role AND calls.n = given.n AND calls.state = 'reserved'
    RETURNING calls.run, calls.trial, calls.role, calls.n";
const FAIL: &str = "UPDATE calls SET state = 'failed', lost = calls.lost + given.cost, why = given.why
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[]) AS given (run, trial, role, n, cost, why)
    WHERE calls.run = given.run AND calls.trial = given.trial AND calls.role = given.role AND calls.n = given.n AND calls.state = 'reserved'
    RETURNING calls.run, calls.trial, calls.role, calls.n";
const TRIALS: &str = "INSERT INTO trials (run, n, trial, case_id, subject, seed, passed, content, wall_us, how, ending, scores, events)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::smallint[], $8::text[], $9::bigint[],
        $10::text[], $11::text[], $12::text[], $13::text[])
    ON CONFLICT (run, n) DO UPDATE SET trial = excluded.trial, case_id = excluded.case_id, subject = excluded.subject, seed = excluded.seed,
        passed = excluded.passed, content = excluded.content, wall_us = excluded.wall_us, how = excluded.how, ending = excluded.ending,
        scores = excluded.scores, events = excluded.events";
const NO_OUTPUT: &str = "DELETE FROM agent_output USING unnest($1::bigint[], $2::bigint[]) AS given (run, n)
    WHERE agent_output.run = given.run AND agent_output.n = given.n";
const OUTPUT: &str = "INSERT INTO agent_output (run, n, stdout_bytes, stderr)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[])
    ON CONFLICT (run, n) DO UPDATE SET stdout_bytes = excluded.stdout_bytes, stderr = excluded.stderr";
const REPLIES: &str = "INSERT INTO cache (key, at, reply) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])
    ON CONFLICT (key) DO UPDATE SET at = excluded.at, reply = excluded.reply";
const COUNTS: &str = "INSERT INTO telemetry (run, what, n) SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[])
    ON CONFLICT (run, what) DO UPDATE SET n = telemetry.n + excluded.n";

/// Commits writes: all of them or none.
pub(super) fn commit_group(connection: &PgConnection, writes: &[JournalWrite]) -> Result<(), StoreError> {
    let mut stages = vec![WriteStage::default()];
    for write in writes {
        if stages.last().is_some_and(|stage| stage.must_follow(write)) {
            stages.push(WriteStage::default());
        }
        if let Some(stage) = stages.last_mut() {
            stage.add(write);
        }
    }
    let mut batch = WriteBatch::default();
    for stage in stages {
        stage.statements(&mut batch)?;
    }
    if batch.statements.is_empty() {
        return Ok(());
    }
    let WriteBatch { statements, expectations } = batch;
    connection.commit_checked(statements, move |rows| check(&expectations, rows)).map(drop)
}

/// Commits trials: all of them or none.
pub(super) fn commit_trials(connection: &PgConnection, rows: &[TrialRow]) -> Result<(), StoreError> {
    // Of two rows of one trial the later one counts.
    let rows: BTreeMap<(i64, u64), &TrialRow> = rows.iter().map(|row| ((row.run, row.n), row)).collect();
    let mut batch = WriteBatch::default();
    push_trials(&mut batch, &rows.into_values().collect::<Vec<_>>())?;
    connection.commit(batch.statements).map(drop)
}

/// Statements, and the calls that each must have changed.
#[derive(Default)]
struct WriteBatch {
    statements: Vec<PgStatement>,
    expectations: Vec<Option<CallExpectation>>,
}

/// Calls that a statement must have changed.
struct CallExpectation {
    calls: Vec<CallKey>,
    otherwise: &'static str,
}

impl WriteBatch {
    fn push(&mut self, sql: &'static str, params: Vec<PgParam>) {
        self.statements.push(PgStatement { sql, params });
        self.expectations.push(None);
    }

    fn push_calls(&mut self, sql: &'static str, calls: &[&CallKey], rest: Vec<PgParam>, otherwise: &'static str) {
        let mut params: Vec<PgParam> = vec![
            Box::new(calls.iter().map(|call| call.run).collect::<Vec<_>>()),
            Box::new(calls.iter().map(|call| call.trial.as_str().to_owned()).collect::<Vec<_>>()),
            Box::new(calls.iter().map(|call| call.role).collect::<Vec<_>>()),
            Box::new(calls.iter().map(|call| i64::from(call.n)).collect::<Vec<_>>()),
        ];
        params.extend(rest);
        self.statements.push(PgStatement { sql, params });
        self.expectations.push(Some(CallExpectation { calls: calls.iter().map(|call| (*call).clone()).collect(), otherwise }));
    }
}

/// Fails if a call was in another state than its write needs.
fn check(expectations: &[Option<CallExpectation>], rows: &BatchRows) -> Result<(), StoreError> {
    for (expected, rows) in expectations.iter().zip(rows) {
        let Some(CallExpectation { calls, otherwise }) = expected else { continue };
        if rows.len() == calls.len() {
            continue;
        }
        let mut changed = BTreeSet::new();
        for row in rows {
            changed.insert((get::<i64>(row, 0)?, get::<String>(row, 1)?, get::<String>(row, 2)?, get::<i64>(row, 3)?));
        }
        let key = |call: &CallKey| (call.run, call.trial.as_str().to_owned(), call.role.to_owned(), i64::from(call.n));
        if let Some(missing) = calls.iter().find(|call| !changed.contains(&key(call))) {
            return Err(missing.refused(otherwise));
        }
    }
    Ok(())
}

/// Last write to a call in a stage.
#[derive(PartialEq, Eq)]
enum CallStep {
    Reserved,
    Ended,
}

/// Writes whose order does not matter, but for that of the tables.
#[derive(Default)]
struct WriteStage<'w> {
    steps: BTreeMap<&'w CallKey, CallStep>,
    reserves: Vec<(&'w CallKey, u64)>,
    settles: Vec<(&'w CallKey, u64, Option<u64>, &'w str)>,
    fails: Vec<(&'w CallKey, u64, &'w str)>,
    trials: BTreeMap<(i64, u64), &'w TrialRow>,
    replies: BTreeMap<&'w str, (i64, &'w str)>,
    counts: BTreeMap<(i64, &'w str), u64>,
}

impl<'w> WriteStage<'w> {
    /// Returns whether a write needs a stage of its own after this one.
    fn must_follow(&self, write: &JournalWrite) -> bool {
        match write {
            JournalWrite::Reserve { call, .. } => self.steps.contains_key(call),
            JournalWrite::Settle { call, .. } | JournalWrite::Fail { call, .. } => self.steps.get(call) == Some(&CallStep::Ended),
            JournalWrite::Trial(_) | JournalWrite::CacheReply { .. } | JournalWrite::Count { .. } | JournalWrite::Barrier => false,
        }
    }

    fn add(&mut self, write: &'w JournalWrite) {
        match write {
            JournalWrite::Trial(row) => drop(self.trials.insert((row.run, row.n), row)),
            JournalWrite::Reserve { call, ceiling } => {
                self.steps.insert(call, CallStep::Reserved);
                self.reserves.push((call, *ceiling));
            }
            JournalWrite::Settle { call, cost, waited_us, reply } => {
                self.steps.insert(call, CallStep::Ended);
                self.settles.push((call, *cost, *waited_us, reply));
            }
            JournalWrite::Fail { call, cost, why } => {
                self.steps.insert(call, CallStep::Ended);
                self.fails.push((call, *cost, why));
            }
            JournalWrite::CacheReply { key, at, reply } => drop(self.replies.insert(key.as_str(), (*at, reply))),
            JournalWrite::Count { run, what, n } => {
                let count = self.counts.entry((*run, what)).or_default();
                *count = count.saturating_add(*n);
            }
            JournalWrite::Barrier => {}
        }
    }

    fn statements(mut self, batch: &mut WriteBatch) -> Result<(), StoreError> {
        // Rows are locked in one order by all processes.
        self.reserves.sort_unstable_by_key(|(call, _)| *call);
        self.settles.sort_unstable_by_key(|(call, ..)| *call);
        self.fails.sort_unstable_by_key(|(call, ..)| *call);
        if !self.reserves.is_empty() {
            let calls: Vec<&CallKey> = self.reserves.iter().map(|(call, _)| *call).collect();
            let ceilings = numbers(self.reserves.iter().map(|(_, ceiling)| *ceiling))?;
            batch.push_calls(RESERVE, &calls, vec![Box::new(ceilings)], NOT_RESERVABLE);
        }
        if !self.settles.is_empty() {
            let calls: Vec<&CallKey> = self.settles.iter().map(|(call, ..)| *call).collect();
            let costs = numbers(self.settles.iter().map(|(_, cost, ..)| *cost))?;
            let waits = self.settles.iter().map(|(_, _, waited, _)| waited.map(number).transpose()).collect::<Result<Vec<_>, _>>()?;
            let replies: Vec<String> = self.settles.iter().map(|(.., reply)| encode(reply)).collect();
            batch.push_calls(SETTLE, &calls, vec![Box::new(costs), Box::new(waits), Box::new(replies)], NOT_RESERVED);
        }
        if !self.fails.is_empty() {
            let calls: Vec<&CallKey> = self.fails.iter().map(|(call, ..)| *call).collect();
            let costs = numbers(self.fails.iter().map(|(_, cost, _)| *cost))?;
            let reasons: Vec<String> = self.fails.iter().map(|(.., why)| encode(why)).collect();
            batch.push_calls(FAIL, &calls, vec![Box::new(costs), Box::new(reasons)], NOT_RESERVED);
        }
        push_trials(batch, &self.trials.into_values().collect::<Vec<_>>())?;
        if !self.replies.is_empty() {
            let keys: Vec<String> = self.replies.keys().map(|key| (*key).to_owned()).collect();
            let (times, replies): (Vec<i64>, Vec<String>) = self.replies.values().map(|(at, reply)| (*at, encode(reply))).unzip();
            batch.push(REPLIES, vec![Box::new(keys), Box::new(times), Box::new(replies)]);
        }
        if !self.counts.is_empty() {
            let (runs, what): (Vec<i64>, Vec<String>) = self.counts.keys().map(|(run, what)| (*run, encode(what))).unzip();
            batch.push(COUNTS, vec![Box::new(runs), Box::new(what), Box::new(numbers(self.counts.into_values())?)]);
        }
        Ok(())
    }
}

/// Returns the statements that store trials, replacing earlier rows of the same ones.
pub(super) fn trial_statements(trials: &[&TrialRow]) -> Result<Vec<PgStatement>, StoreError> {
    let mut batch = WriteBatch::default();
    push_trials(&mut batch, trials)?;
    Ok(batch.statements)
}

fn push_trials(batch: &mut WriteBatch, mut trials: &[&TrialRow]) -> Result<(), StoreError> {
    while !trials.is_empty() {
        let mut bytes = 0;
        let fitting = trials.iter().take_while(|row| {
            let before = bytes;
            bytes += row.transcript.events.len() + row.scores.len();
            before < STATEMENT_BYTES
        });
        let (part, rest) = trials.split_at(fitting.count().max(1));
        push_part(batch, part)?;
        trials = rest;
    }
    Ok(())
}

fn push_part(batch: &mut WriteBatch, trials: &[&TrialRow]) -> Result<(), StoreError> {
    let runs = || trials.iter().map(|row| row.run).collect::<Vec<i64>>();
    let positions = || numbers(trials.iter().map(|row| row.n));
    let texts = |of: fn(&TrialRow) -> &str| -> PgParam { Box::new(trials.iter().map(|row| encode(of(row))).collect::<Vec<_>>()) };
    let endings = trials.iter().map(|row| ending_name(row)).collect::<Result<Vec<String>, _>>()?;
    let params: Vec<PgParam> = vec![
        Box::new(runs()),
        Box::new(positions()?),
        texts(|row| row.trial.id.as_str()),
        texts(|row| &row.trial.case),
        texts(|row| &row.trial.subject),
        Box::new(numbers(trials.iter().map(|row| row.trial.seed))?),
        Box::new(trials.iter().map(|row| row.passed_column().map(i16::from)).collect::<Vec<_>>()),
        texts(|row| row.transcript.content_hash.as_str()),
        Box::new(numbers(trials.iter().map(|row| row.wall_us))?),
        texts(|row| &row.transcript.ending),
        Box::new(endings),
        texts(|row| &row.scores),
        texts(|row| &row.transcript.events),
    ];
    batch.push(TRIALS, params);
    // A trial that is run again may have printed something before.
    batch.push(NO_OUTPUT, vec![Box::new(runs()), Box::new(positions()?)]);
    let printed: Vec<_> = trials.iter().filter_map(|row| row.output.as_ref().map(|output| (row, output))).collect();
    if !printed.is_empty() {
        let params: Vec<PgParam> = vec![
            Box::new(printed.iter().map(|(row, _)| row.run).collect::<Vec<_>>()),
            Box::new(numbers(printed.iter().map(|(row, _)| row.n))?),
            Box::new(numbers(printed.iter().map(|(_, output)| output.stdout_bytes))?),
            Box::new(printed.iter().map(|(_, output)| encode(&output.stderr)).collect::<Vec<_>>()),
        ];
        batch.push(OUTPUT, params);
    }
    Ok(())
}

/// Returns the column `ending`, which SQLite derives from the ending itself.
fn ending_name(row: &TrialRow) -> Result<String, StoreError> {
    #[derive(Deserialize)]
    struct EndingTag<'t> {
        #[serde(borrow)]
        ending: std::borrow::Cow<'t, str>,
    }
    let parsed: Result<EndingTag<'_>, _> = serde_json::from_str(&row.transcript.ending);
    let tag = parsed.map_err(|error| StoreError::unreadable(row.trial.id.short(), &error))?;
    Ok(encode(&tag.ending))
}

fn numbers(values: impl Iterator<Item = u64>) -> Result<Vec<i64>, StoreError> {
    values.map(number).collect()
}
