//! Transactions that traces name, and what a node said about them. Each is asked for until there is a final answer, which is stored.

use super::ProductionStore;
use super::counters::{ProductionCounter, count};
use crate::StoreError;
use rusqlite::{OptionalExtension, params};

/// Transaction whose receipt is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedReceipt {
    pub chain: u64,
    /// Lower-case hex with prefix.
    pub hash: String,
    /// Attempts that failed.
    pub attempts: u32,
}

/// Knowledge about a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptState {
    Wanted,
    /// Final answer as JSON, which the caller writes and reads.
    Known(String),
}

impl ProductionStore {
    /// Asks for transactions that were not asked for before. Returns the state of each, in order.
    pub fn want_receipts(&self, wanted: &[(u64, String)], now_ms: u64) -> Result<Vec<ReceiptState>, StoreError> {
        let transaction = self.transaction()?;
        let mut states = vec![];
        for (chain, hash) in wanted {
            let known: Option<Option<String>> = transaction
                .prepare_cached("SELECT body FROM receipts WHERE chain = ?1 AND hash = ?2")?
                .query_row(params![chain, hash], |row| row.get(0))
                .optional()?;
            if known.is_none() {
                transaction
                    .prepare_cached("INSERT INTO receipts (chain, hash, wanted_ms, attempts, due_ms) VALUES (?1, ?2, ?3, 0, ?3)")?
                    .execute(params![chain, hash, now_ms])?;
            }
            states.push(known.flatten().map_or(ReceiptState::Wanted, ReceiptState::Known));
        }
        transaction.commit()?;
        Ok(states)
    }

    /// Returns transactions of a chain to ask for now, those that wait longest first.
    pub fn due_receipts(&self, chain: u64, now_ms: u64, most: usize) -> Result<Vec<WantedReceipt>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT chain, hash, attempts FROM receipts WHERE body IS NULL AND due_ms <= ?1 AND chain = ?3 ORDER BY due_ms, hash LIMIT ?2",
        )?;
        let rows = statement.query_map(params![now_ms, most as u64, chain], |row| {
            Ok(WantedReceipt { chain: row.get(0)?, hash: row.get(1)?, attempts: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Notes a failed attempt, and when to try again.
    pub fn retry_receipt(&self, wanted: &WantedReceipt, due_ms: u64) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        transaction.execute(
            "UPDATE receipts SET attempts = attempts + 1, due_ms = ?3 WHERE chain = ?1 AND hash = ?2 AND body IS NULL",
            params![wanted.chain, wanted.hash, due_ms],
        )?;
        Ok(transaction.commit()?)
    }

    /// Stores the final answer; a later one changes nothing.
    pub fn answer_receipt(&self, wanted: &WantedReceipt, body: &str, counter: ProductionCounter) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        let changed = transaction.execute(
            "UPDATE receipts SET body = ?3 WHERE chain = ?1 AND hash = ?2 AND body IS NULL",
            params![wanted.chain, wanted.hash, body],
        )?;
        count(&transaction, counter, changed as u64)?;
        Ok(transaction.commit()?)
    }
}
