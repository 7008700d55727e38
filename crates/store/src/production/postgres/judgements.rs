//! Answers of a judge about kept traces, in the order in which they were given.

use super::counters::count;
use super::{PgTraces, bound, get_trace, limit};
use crate::StoreError;
use crate::postgres::{encode, get, get_count, get_text, number};
use crate::production::engine::JudgementTable;
use crate::production::records::{NewJudgement, ProductionCounter, StoredJudgement, TraceId};
use tokio_postgres::Row;

impl JudgementTable for PgTraces {
    fn add_judgement(&self, judgement: &NewJudgement, counter: ProductionCounter, now_ms: u64) -> Result<(), StoreError> {
        let (trace, sampled) = (judgement.trace, judgement.sampled);
        let texts = [&judgement.question, &judgement.answer, &judgement.score].map(|text| encode(text));
        let (at, now) = (number(judgement.at_s)?, number(now_ms)?);
        self.transact_in_turn(move |mut transaction| {
            let [question, answer, score] = texts.clone();
            Box::pin(async move {
                let sql = "INSERT INTO judgements (trace, at_s, judged_ms, sampled, question, answer, score)
                    VALUES ($1, $2, $3, $4, $5, $6, $7)";
                transaction.query(sql, &[&&trace[..], &at, &now, &sampled, &question, &answer, &score]).await?;
                count(&mut transaction, &[(counter, 1)]).await
            })
        })
    }

    fn judgements(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<StoredJudgement>, StoreError> {
        let sql = "SELECT n, trace, at_s, sampled, question, answer, score FROM judgements WHERE n > $1 AND at_s >= $2 ORDER BY n LIMIT $3";
        let rows = self.connection.query(sql, vec![Box::new(bound(after)), Box::new(bound(from_s)), Box::new(limit(most))])?;
        rows.iter().map(stored_judgement).collect()
    }

    fn judgement_of(&self, trace: &TraceId) -> Result<Option<StoredJudgement>, StoreError> {
        let sql = "SELECT n, trace, at_s, sampled, question, answer, score FROM judgements WHERE trace = $1 ORDER BY n DESC LIMIT 1";
        self.connection.query(sql, vec![Box::new(trace.to_vec())])?.first().map(stored_judgement).transpose()
    }

    fn unjudged_traces(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<(u64, TraceId)>, StoreError> {
        let sql = "SELECT seq, trace FROM traces WHERE seq > $1 AND at_s >= $2
            AND NOT EXISTS (SELECT 1 FROM judgements WHERE judgements.trace = traces.trace AND judged_ms >= decided_ms)
            ORDER BY seq LIMIT $3";
        let rows = self.connection.query(sql, vec![Box::new(bound(after)), Box::new(bound(from_s)), Box::new(limit(most))])?;
        rows.iter().map(|row| Ok((get_count(row, 0)?, get_trace(row, 1)?))).collect()
    }
}

fn stored_judgement(row: &Row) -> Result<StoredJudgement, StoreError> {
    let judgement = NewJudgement {
        trace: get_trace(row, 1)?,
        at_s: get_count(row, 2)?,
        sampled: get(row, 3)?,
        question: get_text(row, 4)?,
        answer: get_text(row, 5)?,
        score: get_text(row, 6)?,
    };
    Ok(StoredJudgement { n: get_count(row, 0)?, judgement })
}
