//! Spending of a run by case, subject and role, and the number of answers without a model call.

use crate::{Store, StoreError};

/// Model calls of one role in the trials of one case and subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSpending {
    /// Absent if the trial has not ended.
    pub case: Option<String>,
    pub subject: Option<String>,
    pub role: String,
    pub calls: u64,
    /// Nano-dollars, including failed attempts. Calls under way count at their ceiling.
    pub nanos: u64,
}

impl Store {
    /// Returns the spending of a run in nano-dollars, including failed attempts. Calls under way count at their ceiling.
    pub fn total_spending(&self, run: i64) -> Result<u64, StoreError> {
        let sql = "SELECT CAST(min(total(lost + CASE state WHEN 'reserved' THEN ceiling ELSE cost END), 9e18) AS INTEGER)
            FROM calls WHERE run = ?1";
        Ok(self.connection.query_row(sql, [run], |row| row.get(0))?)
    }

    /// Returns the spending of a run, sorted by case, subject and role.
    pub fn spending(&self, run: i64) -> Result<Vec<RoleSpending>, StoreError> {
        let sql = "SELECT trials.case_id, trials.subject, calls.role, count(*),
                CAST(min(total(calls.lost + CASE calls.state WHEN 'reserved' THEN calls.ceiling ELSE calls.cost END), 9e18) AS INTEGER)
            FROM calls LEFT JOIN trials ON trials.run = calls.run AND trials.trial = calls.trial
            WHERE calls.run = ?1 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";
        let mut rows = self.connection.prepare(sql)?;
        let rows = rows.query_map([run], |row| {
            Ok(RoleSpending { case: row.get(0)?, subject: row.get(1)?, role: row.get(2)?, calls: row.get(3)?, nanos: row.get(4)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the number of tool answers and review decisions in trials that called a model. A world simulated
    /// by an LLM would have needed a call for each.
    pub fn count_world_answers(&self, run: i64) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM trials, json_each(trials.events) AS event WHERE trials.run = ?1
            AND EXISTS (SELECT 1 FROM calls WHERE calls.run = trials.run AND calls.trial = trials.trial)
            AND (json_extract(event.value, '$.happened.answered') IS NOT NULL OR json_extract(event.value, '$.happened.decided') IS NOT NULL)";
        Ok(self.connection.query_row(sql, [run], |row| row.get(0))?)
    }
}
