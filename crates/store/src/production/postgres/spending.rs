//! Value that left the wallets of the agents, over all traces, also those that were not kept.

use super::PgTraces;
use crate::StoreError;
use crate::postgres::{encode, get, number};
use crate::production::engine::SpendingTable;
use crate::production::records::WalletSpending;

const DAY_S: i64 = 86_400;

/// Days that end with a transaction or a later one.
const DAYS_OVER_LIMIT: &str = "SELECT max(total) FROM (
        SELECT last.chain = $5::bigint AND last.hash = $6::text AS own,
               (SELECT sum(usd) FROM spending AS one WHERE one.wallet = $1::text AND one.at_s > last.at_s - $4::bigint
                AND (one.at_s, one.nonce) <= (last.at_s, last.nonce)) AS total
        FROM spending AS last
        WHERE last.wallet = $1::text AND (last.at_s, last.nonce) >= ($2::bigint, $3::bigint)
            AND last.at_s < $2::bigint + $4::bigint) AS days
    WHERE total > $7::double precision AND (own OR total - $8::double precision <= $7::double precision)";

impl SpendingTable for PgTraces {
    fn add_spending(&self, spent: &WalletSpending, limit_usd: f64) -> Result<Option<f64>, StoreError> {
        let [chain, nonce, at] = [number(spent.chain)?, number(spent.nonce)?, number(spent.at_s)?];
        let (texts, usd) = ([&spent.hash, &spent.wallet].map(|text| encode(text)), spent.usd);
        // In turn, so that of two transactions that are noted at once one finds the other.
        self.transact_in_turn(move |mut transaction| {
            let [hash, wallet] = texts.clone();
            Box::pin(async move {
                let note = "INSERT INTO spending (chain, hash, wallet, nonce, at_s, usd) VALUES ($1, $2, $3, $4, $5, $6)
                    ON CONFLICT DO NOTHING";
                transaction.query(note, &[&chain, &hash, &wallet, &nonce, &at, &usd]).await?;
                let values: [&(dyn tokio_postgres::types::ToSql + Sync); 8] =
                    [&wallet, &at, &nonce, &DAY_S, &chain, &hash, &limit_usd, &usd];
                let over = transaction.query(DAYS_OVER_LIMIT, &values).await?;
                over.first().map_or(Ok(None), |row| get(row, 0))
            })
        })
    }
}
