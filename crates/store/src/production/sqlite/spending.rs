//! Value that left the wallets of the agents, over all traces, also those that were not kept.

use super::SqliteTraces;
use crate::StoreError;
use crate::production::day_spending::{DAY_S, SpendingRow, day_spending};
use crate::production::engine::SpendingTable;
use crate::production::records::{DaySpending, WalletSpending};
use rusqlite::{Row, params};

impl SpendingTable for SqliteTraces {
    fn add_spending(&self, spent: &WalletSpending, limit_micros: u64) -> Result<DaySpending, StoreError> {
        let WalletSpending { chain, hash, wallet, nonce, at_s, micros } = spent;
        let transaction = self.transaction()?;
        // A value that was not known may be known when the trace is read again.
        transaction
            .prepare_cached(
                "INSERT INTO spending (chain, hash, wallet, nonce, at_s, micros) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (chain, hash, wallet) DO UPDATE SET micros = ?6 WHERE micros IS NULL",
            )?
            .execute(params![chain, hash, wallet, nonce, at_s, micros.map(|micros| i64::try_from(micros).unwrap_or(i64::MAX))])?;
        let rows: Vec<SpendingRow> = transaction
            .prepare_cached(
                "SELECT at_s, nonce, micros, chain = ?1 AND hash = ?2 FROM spending
                 WHERE wallet = ?3 AND at_s > ?4 - ?5 AND at_s < ?4 + ?5",
            )?
            .query_map(params![chain, hash, wallet, at_s, DAY_S], spending_row)?
            .collect::<Result<_, _>>()?;
        transaction.commit()?;
        Ok(day_spending(rows, limit_micros))
    }
}

fn spending_row(row: &Row<'_>) -> rusqlite::Result<SpendingRow> {
    Ok(SpendingRow { at_s: row.get(0)?, nonce: row.get(1)?, micros: row.get(2)?, is_noted: row.get(3)? })
}
