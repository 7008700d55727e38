//! Value that left the wallets of the agents, over all traces, also those that were not kept.

use super::{PgTraces, bound};
use crate::StoreError;
use crate::postgres::{encode, get, get_count, number};
use crate::production::day_spending::{DAY_S, SpendingRow, day_spending};
use crate::production::engine::SpendingTable;
use crate::production::records::{DaySpending, WalletSpending};
use tokio_postgres::Row;

impl SpendingTable for PgTraces {
    fn add_spending(&self, spent: &WalletSpending, limit_micros: u64) -> Result<DaySpending, StoreError> {
        let [chain, nonce, at] = [number(spent.chain)?, number(spent.nonce)?, number(spent.at_s)?];
        let (texts, micros) = ([&spent.hash, &spent.wallet].map(|text| encode(text)), spent.micros.map(bound));
        // In turn, so that of two transactions that are noted at once one finds the other.
        let rows = self.transact_in_turn(move |mut transaction| {
            let [hash, wallet] = texts.clone();
            Box::pin(async move {
                // A value that was not known may be known when the trace is read again.
                let note = "INSERT INTO spending (chain, hash, wallet, nonce, at_s, micros) VALUES ($1, $2, $3, $4, $5, $6)
                    ON CONFLICT (chain, hash, wallet) DO UPDATE SET micros = excluded.micros WHERE spending.micros IS NULL";
                transaction.query(note, &[&chain, &hash, &wallet, &nonce, &at, &micros]).await?;
                let days = "SELECT at_s, nonce, micros, chain = $1 AND hash = $2 FROM spending
                    WHERE wallet = $3 AND at_s > $4::bigint - $5::bigint AND at_s < $4::bigint + $5::bigint";
                transaction.query(days, &[&chain, &hash, &wallet, &at, &bound(DAY_S)]).await
            })
        })?;
        let rows = rows.iter().map(spending_row).collect::<Result<_, StoreError>>()?;
        Ok(day_spending(rows, limit_micros))
    }
}

fn spending_row(row: &Row) -> Result<SpendingRow, StoreError> {
    let micros: Option<i64> = get(row, 2)?;
    let micros = micros.map(|micros| u64::try_from(micros).unwrap_or(0));
    Ok(SpendingRow { at_s: get_count(row, 0)?, nonce: get_count(row, 1)?, micros, is_noted: get(row, 3)? })
}
