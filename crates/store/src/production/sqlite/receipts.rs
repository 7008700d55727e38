//! Transactions that traces name, and what a node said about them. Each is asked for until there is a final answer, which is stored.

use super::SqliteTraces;
use super::counters::count;
use crate::StoreError;
use crate::production::engine::ReceiptTable;
use crate::production::records::{ProductionCounter, ReceiptClaim, ReceiptState, TraceId, WantedReceipt};
use rusqlite::params;

impl ReceiptTable for SqliteTraces {
    fn want_receipts(&self, trace: &TraceId, wanted: &[(u64, String)], now_ms: u64) -> Result<Vec<ReceiptClaim>, StoreError> {
        let transaction = self.transaction()?;
        let mut claims = vec![];
        for (chain, hash) in wanted {
            transaction
                .prepare_cached(
                    "INSERT INTO receipts (chain, hash, wanted_ms, attempts, due_ms, named_by) VALUES (?1, ?2, ?3, 0, ?3, ?4)
                     ON CONFLICT (chain, hash) DO UPDATE SET named_by = ?4 WHERE named_by IS NULL",
                )?
                .execute(params![chain, hash, now_ms, &trace[..]])?;
            let (body, first, wanted_ms): (Option<String>, TraceId, u64) = transaction
                .prepare_cached("SELECT body, named_by, wanted_ms FROM receipts WHERE chain = ?1 AND hash = ?2")?
                .query_row(params![chain, hash], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let state = body.map_or(ReceiptState::Wanted, ReceiptState::Known);
            claims.push(ReceiptClaim { state, other: Some(first).filter(|first| first != trace), wanted_ms });
        }
        transaction.commit()?;
        Ok(claims)
    }

    fn due_receipts(&self, chain: u64, now_ms: u64, most: usize) -> Result<Vec<WantedReceipt>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT chain, hash, attempts FROM receipts WHERE body IS NULL AND due_ms <= ?1 AND chain = ?3 ORDER BY due_ms, hash LIMIT ?2",
        )?;
        let rows = statement.query_map(params![now_ms, most as u64, chain], |row| {
            Ok(WantedReceipt { chain: row.get(0)?, hash: row.get(1)?, attempts: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn retry_receipt(&self, wanted: &WantedReceipt, due_ms: u64) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        transaction.execute(
            "UPDATE receipts SET attempts = attempts + 1, due_ms = ?3 WHERE chain = ?1 AND hash = ?2 AND body IS NULL",
            params![wanted.chain, wanted.hash, due_ms],
        )?;
        Ok(transaction.commit()?)
    }

    fn answer_receipt(&self, wanted: &WantedReceipt, body: &str, counter: ProductionCounter) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        let changed = transaction.execute(
            "UPDATE receipts SET body = ?3 WHERE chain = ?1 AND hash = ?2 AND body IS NULL",
            params![wanted.chain, wanted.hash, body],
        )?;
        count(&transaction, counter, changed as u64)?;
        Ok(transaction.commit()?)
    }
}
