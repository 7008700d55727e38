//! Counters that change in the same commit as what they count.

use super::SqliteTraces;
use crate::StoreError;
use crate::production::engine::CounterTable;
use crate::production::records::ProductionCounter;
use rusqlite::{Connection, params};

/// Adds to a counter.
pub(super) fn count(connection: &Connection, counter: ProductionCounter, n: u64) -> Result<(), StoreError> {
    if n > 0 {
        let mut statement =
            connection.prepare_cached("INSERT INTO counters (what, n) VALUES (?1, ?2) ON CONFLICT (what) DO UPDATE SET n = n + ?2")?;
        statement.execute(params![counter.word(), n])?;
    }
    Ok(())
}

impl CounterTable for SqliteTraces {
    fn add_count(&self, counter: ProductionCounter, n: u64) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        count(&transaction, counter, n)?;
        Ok(transaction.commit()?)
    }

    fn counters(&self) -> Result<Vec<(ProductionCounter, u64)>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT coalesce((SELECT n FROM counters WHERE what = ?1), 0)")?;
        ProductionCounter::ALL.iter().map(|counter| Ok((*counter, statement.query_row([counter.word()], |row| row.get(0))?))).collect()
    }
}
