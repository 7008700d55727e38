//! Counters that change in the same commit as what they count.

use super::{PgTraces, bound};
use crate::StoreError;
use crate::postgres::{PgTransaction, get_count, get_text};
use crate::production::engine::CounterTable;
use crate::production::records::ProductionCounter;

/// Adds to counters. They are locked in one order by all writers.
pub(super) async fn count(transaction: &mut PgTransaction<'_>, counts: &[(ProductionCounter, u64)]) -> Result<(), StoreError> {
    let mut counts: Vec<(&str, i64)> = counts.iter().filter(|(_, n)| *n > 0).map(|(counter, n)| (counter.word(), bound(*n))).collect();
    counts.sort_unstable();
    for (what, n) in counts {
        let sql = "INSERT INTO counters (what, n) VALUES ($1, $2) ON CONFLICT (what) DO UPDATE SET n = counters.n + excluded.n";
        transaction.query(sql, &[&what, &n]).await?;
    }
    Ok(())
}

impl CounterTable for PgTraces {
    fn add_count(&self, counter: ProductionCounter, n: u64) -> Result<(), StoreError> {
        self.transact(move |mut transaction| Box::pin(async move { count(&mut transaction, &[(counter, n)]).await }))
    }

    fn counters(&self) -> Result<Vec<(ProductionCounter, u64)>, StoreError> {
        let rows = self.connection.query("SELECT what, n FROM counters", vec![])?;
        let known = rows.iter().map(|row| Ok((get_text(row, 0)?, get_count(row, 1)?))).collect::<Result<Vec<_>, StoreError>>()?;
        let find = |counter: ProductionCounter| known.iter().find(|(what, _)| what == counter.word()).map_or(0, |(_, n)| *n);
        Ok(ProductionCounter::ALL.iter().map(|counter| (*counter, find(*counter))).collect())
    }
}
