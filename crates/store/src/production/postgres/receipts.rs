//! Transactions that traces name, and what a node said about them. Each is asked for until there is a final answer, which is stored.

use super::counters::count;
use super::{PgTraces, bound, get_trace, limit};
use crate::StoreError;
use crate::postgres::{encode, get, get_count, get_optional_text, get_text, number};
use crate::production::engine::ReceiptTable;
use crate::production::records::{ProductionCounter, ReceiptClaim, ReceiptState, TraceId, WantedReceipt};
use std::collections::HashMap;
use std::sync::Arc;

impl ReceiptTable for PgTraces {
    fn want_receipts(&self, trace: &TraceId, wanted: &[(u64, String)], now_ms: u64) -> Result<Vec<ReceiptClaim>, StoreError> {
        let keys = wanted.iter().map(|(chain, hash)| Ok((number(*chain)?, encode(hash)))).collect::<Result<Vec<_>, StoreError>>()?;
        let (chains, hashes): (Vec<i64>, Vec<String>) = keys.iter().cloned().unzip();
        let (given, now, namer) = (Arc::new((chains, hashes)), number(now_ms)?, *trace);
        let rows = self.transact_in_turn(move |mut transaction| {
            let given = given.clone();
            Box::pin(async move {
                let (chains, hashes) = &*given;
                let ask = "INSERT INTO receipts (chain, hash, wanted_ms, attempts, due_ms, named_by)
                    SELECT chain, hash, $3, 0, $3, $4 FROM unnest($1::bigint[], $2::text[]) AS given (chain, hash)
                    ON CONFLICT (chain, hash) DO NOTHING";
                transaction.query(ask, &[chains, hashes, &now, &&namer[..]]).await?;
                let read = "SELECT receipts.chain, receipts.hash, body, named_by, wanted_ms
                    FROM receipts JOIN unnest($1::bigint[], $2::text[]) AS given (chain, hash) USING (chain, hash)";
                transaction.query(read, &[chains, hashes]).await
            })
        })?;
        let mut claims = HashMap::new();
        for row in &rows {
            let key: (i64, String) = (get(row, 0)?, get(row, 1)?);
            let state = get_optional_text(row, 2)?.map_or(ReceiptState::Wanted, ReceiptState::Known);
            let other = Some(get_trace(row, 3)?).filter(|first| first != trace);
            claims.insert(key, ReceiptClaim { state, other, wanted_ms: get_count(row, 4)? });
        }
        let claim = |key| claims.get(key).cloned().unwrap_or(ReceiptClaim { state: ReceiptState::Wanted, other: None, wanted_ms: now_ms });
        Ok(keys.iter().map(claim).collect())
    }

    fn due_receipts(&self, chain: u64, now_ms: u64, most: usize) -> Result<Vec<WantedReceipt>, StoreError> {
        let sql = "SELECT chain, hash, attempts FROM receipts WHERE body IS NULL AND due_ms <= $1 AND chain = $3
            ORDER BY due_ms, hash LIMIT $2";
        let rows = self.connection.query(sql, vec![Box::new(bound(now_ms)), Box::new(limit(most)), Box::new(number(chain)?)])?;
        let read = |row| {
            let attempts = u32::try_from(get_count(row, 2)?).unwrap_or(u32::MAX);
            Ok(WantedReceipt { chain: get_count(row, 0)?, hash: get_text(row, 1)?, attempts })
        };
        rows.iter().map(read).collect()
    }

    fn retry_receipt(&self, wanted: &WantedReceipt, due_ms: u64) -> Result<(), StoreError> {
        let (chain, hash, due) = (number(wanted.chain)?, encode(&wanted.hash), number(due_ms)?);
        self.transact(move |mut transaction| {
            let hash = hash.clone();
            Box::pin(async move {
                let sql = "UPDATE receipts SET attempts = attempts + 1, due_ms = $3 WHERE chain = $1 AND hash = $2 AND body IS NULL";
                transaction.query(sql, &[&chain, &hash, &due]).await.map(drop)
            })
        })
    }

    fn answer_receipt(&self, wanted: &WantedReceipt, body: &str, counter: ProductionCounter) -> Result<(), StoreError> {
        let (chain, texts) = (number(wanted.chain)?, [&wanted.hash, body].map(encode));
        self.transact(move |mut transaction| {
            let [hash, body] = texts.clone();
            Box::pin(async move {
                let sql = "UPDATE receipts SET body = $3 WHERE chain = $1 AND hash = $2 AND body IS NULL RETURNING 1";
                let changed = transaction.query(sql, &[&chain, &hash, &body]).await?;
                count(&mut transaction, &[(counter, changed.len() as u64)]).await
            })
        })
    }
}
