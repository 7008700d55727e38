//! Spending of a run by case, subject and role, and the number of answers that cost nothing.

use crate::{Store, StoreError};

/// The calls of one role in the trials of one case by one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSpending {
    /// Absent where the trial never ended.
    pub case: Option<String>,
    pub subject: Option<String>,
    pub role: String,
    pub calls: u64,
    /// Nano-dollars, failed attempts included, calls under way at their ceiling.
    pub nanos: u64,
}

impl Store {
    pub fn spending(&self, run: i64) -> Result<Vec<RoleSpending>, StoreError> {
        let sql = "SELECT trials.case_id, trials.subject, calls.role, count(*),
                sum(calls.lost + CASE calls.state WHEN 'reserved' THEN calls.ceiling ELSE calls.cost END)
            FROM calls LEFT JOIN trials ON trials.run = calls.run AND trials.trial = calls.trial
            WHERE calls.run = ?1 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";
        let mut rows = self.connection.prepare(sql)?;
        let rows = rows.query_map([run], |row| {
            Ok(RoleSpending { case: row.get(0)?, subject: row.get(1)?, role: row.get(2)?, calls: row.get(3)?, nanos: row.get(4)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Tool answers and decisions that the deterministic world gave in trials that asked a model: each would have been a call.
    pub fn count_world_answers(&self, run: i64) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM trials, json_each(trials.events) AS event WHERE trials.run = ?1
            AND EXISTS (SELECT 1 FROM calls WHERE calls.run = trials.run AND calls.trial = trials.trial)
            AND (json_extract(event.value, '$.happened.answered') IS NOT NULL OR json_extract(event.value, '$.happened.decided') IS NOT NULL)";
        Ok(self.connection.query_row(sql, [run], |row| row.get(0))?)
    }
}
