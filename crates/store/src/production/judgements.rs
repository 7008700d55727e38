//! Answers of a judge about kept traces, in the order in which they were given.

use super::counters::{ProductionCounter, count};
use super::{ProductionStore, TraceId};
use crate::StoreError;
use rusqlite::{Row, params};

/// Answer of a judge to be stored. The texts are JSON that the caller writes and reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJudgement {
    pub trace: TraceId,
    /// Begin of the trace, seconds since 1970.
    pub at_s: u64,
    /// The trace is in the uniform sample.
    pub sampled: bool,
    pub question: String,
    /// Answer as the judge gave it, or the reason why there is none.
    pub answer: String,
    /// Reading of the answer.
    pub score: String,
}

/// Stored answer with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredJudgement {
    pub n: u64,
    pub judgement: NewJudgement,
}

impl ProductionStore {
    /// Stores an answer. `counter` tells whether it could be used.
    pub fn add_judgement(&self, judgement: &NewJudgement, counter: ProductionCounter, now_ms: u64) -> Result<(), StoreError> {
        let NewJudgement { trace, at_s, sampled, question, answer, score } = judgement;
        let transaction = self.transaction()?;
        transaction.execute(
            "INSERT INTO judgements (trace, at_s, judged_ms, sampled, question, answer, score) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![&trace[..], at_s, now_ms, sampled, question, answer, score],
        )?;
        count(&transaction, counter, 1)?;
        Ok(transaction.commit()?)
    }

    /// Returns answers about traces that began at or after `from_s`, after the number `after`.
    pub fn judgements(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<StoredJudgement>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT n, trace, at_s, sampled, question, answer, score FROM judgements WHERE n > ?1 AND at_s >= ?2 ORDER BY n LIMIT ?3",
        )?;
        let rows = statement.query_map(params![after, from_s, most as u64], stored_judgement)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the newest answer about a trace.
    pub fn judgement_of(&self, trace: &TraceId) -> Result<Option<StoredJudgement>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT n, trace, at_s, sampled, question, answer, score FROM judgements WHERE trace = ?1 ORDER BY n DESC LIMIT 1",
        )?;
        Ok(statement.query_map([&trace[..]], stored_judgement)?.next().transpose()?)
    }

    /// Returns kept traces that began at or after `from_s` and have no answer since they were decided last, in the order of decisions.
    pub fn unjudged_traces(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<(u64, TraceId)>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT seq, trace FROM traces WHERE seq > ?1 AND at_s >= ?2
             AND NOT EXISTS (SELECT 1 FROM judgements WHERE judgements.trace = traces.trace AND judged_ms >= decided_ms)
             ORDER BY seq LIMIT ?3",
        )?;
        let rows = statement.query_map(params![after, from_s, most as u64], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn stored_judgement(row: &Row<'_>) -> rusqlite::Result<StoredJudgement> {
    let judgement = NewJudgement {
        trace: row.get(1)?,
        at_s: row.get(2)?,
        sampled: row.get(3)?,
        question: row.get(4)?,
        answer: row.get(5)?,
        score: row.get(6)?,
    };
    Ok(StoredJudgement { n: row.get(0)?, judgement })
}
