//! Value that left the wallets of the agents, over all traces, also those that were not kept.

use super::SqliteTraces;
use crate::StoreError;
use crate::production::engine::SpendingTable;
use crate::production::records::WalletSpending;
use rusqlite::params;

const DAY_S: u64 = 86_400;

impl SpendingTable for SqliteTraces {
    fn add_spending(&self, spent: &WalletSpending, limit_usd: f64) -> Result<Option<f64>, StoreError> {
        let WalletSpending { chain, hash, wallet, nonce, at_s, usd } = spent;
        let transaction = self.transaction()?;
        transaction
            .prepare_cached("INSERT OR IGNORE INTO spending (chain, hash, wallet, nonce, at_s, usd) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![chain, hash, wallet, nonce, at_s, usd])?;
        // Days that end with this transaction or a later one.
        let over = transaction
            .prepare_cached(
                "SELECT max(total) FROM (
                     SELECT last.chain = ?5 AND last.hash = ?6 AS own,
                            (SELECT sum(usd) FROM spending AS one WHERE one.wallet = ?1 AND one.at_s > last.at_s - ?4
                             AND (one.at_s, one.nonce) <= (last.at_s, last.nonce)) AS total
                     FROM spending AS last
                     WHERE last.wallet = ?1 AND (last.at_s, last.nonce) >= (?2, ?3) AND last.at_s < ?2 + ?4)
                 WHERE total > ?7 AND (own OR total - ?8 <= ?7)",
            )?
            .query_row(params![wallet, at_s, nonce, DAY_S, chain, hash, limit_usd, usd], |row| row.get(0))?;
        transaction.commit()?;
        Ok(over)
    }
}
