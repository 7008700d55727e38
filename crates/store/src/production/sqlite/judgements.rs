//! Answers of a judge about kept traces, in the order in which they were given.

use super::SqliteTraces;
use super::counters::count;
use crate::StoreError;
use crate::production::engine::JudgementTable;
use crate::production::records::{NewJudgement, ProductionCounter, StoredJudgement, TraceId};
use rusqlite::{Row, params};

impl JudgementTable for SqliteTraces {
    fn add_judgement(&self, judgement: &NewJudgement, counter: ProductionCounter, now_ms: u64) -> Result<(), StoreError> {
        let NewJudgement { trace, at_s, sampled, question, answer, score } = judgement;
        let transaction = self.transaction()?;
        transaction.execute(
            "INSERT INTO judgements (trace, at_s, judged_ms, sampled, question, answer, score) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![&trace[..], at_s, now_ms, sampled, question, answer, score],
        )?;
        count(&transaction, counter, 1)?;
        Ok(transaction.commit()?)
    }

    fn judgements(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<StoredJudgement>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT n, trace, at_s, sampled, question, answer, score FROM judgements WHERE n > ?1 AND at_s >= ?2 ORDER BY n LIMIT ?3",
        )?;
        let rows = statement.query_map(params![after, from_s, most as u64], stored_judgement)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn judgement_of(&self, trace: &TraceId) -> Result<Option<StoredJudgement>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT n, trace, at_s, sampled, question, answer, score FROM judgements WHERE trace = ?1 ORDER BY n DESC LIMIT 1",
        )?;
        Ok(statement.query_map([&trace[..]], stored_judgement)?.next().transpose()?)
    }

    fn unjudged_traces(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<(u64, TraceId)>, StoreError> {
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
