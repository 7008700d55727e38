//! Times from which a reader tells whether something is missing.

use super::{PgTraces, bound, limit};
use crate::StoreError;
use crate::postgres::{PgTransaction, get, get_count, number};
use crate::production::engine::MarkTable;
use crate::production::records::{StoreMark, WorkOutage};

/// Notes a time, unless a later one is known.
pub(super) async fn set_mark(transaction: &mut PgTransaction<'_>, mark: StoreMark, at: i64) -> Result<(), StoreError> {
    let sql = "INSERT INTO marks (what, at) VALUES ($1, $2) ON CONFLICT (what) DO UPDATE SET at = greatest(marks.at, excluded.at)";
    transaction.query(sql, &[&mark.word(), &at]).await.map(drop)
}

impl MarkTable for PgTraces {
    fn set_mark(&self, mark: StoreMark, at: u64) -> Result<(), StoreError> {
        let at = number(at)?;
        self.transact(move |mut transaction| Box::pin(async move { set_mark(&mut transaction, mark, at).await }))
    }

    fn mark(&self, mark: StoreMark) -> Result<Option<u64>, StoreError> {
        let rows = self.connection.query("SELECT at FROM marks WHERE what = $1", vec![Box::new(mark.word())])?;
        rows.first().map(|row| get_count(row, 0)).transpose()
    }

    fn note_work(&self, now_s: u64, max_silence_s: u64) -> Result<(), StoreError> {
        let (now, silence) = (number(now_s)?, bound(max_silence_s));
        // In turn, so that of two collectors that start at once the second finds the note of the first.
        self.transact_in_turn(move |mut transaction| {
            Box::pin(async move {
                let rows = transaction.query("SELECT at FROM marks WHERE what = $1", &[&StoreMark::Worked.word()]).await?;
                let last: Option<i64> = rows.first().map(|row| get(row, 0)).transpose()?;
                if let Some(last) = last.filter(|last| now.saturating_sub(*last) > silence) {
                    let note = "INSERT INTO outages (from_s, to_s) VALUES ($1, $2) ON CONFLICT DO NOTHING";
                    transaction.query(note, &[&last, &now]).await?;
                }
                set_mark(&mut transaction, StoreMark::Worked, now).await
            })
        })
    }

    fn outages(&self, from_s: u64, most: usize) -> Result<Vec<WorkOutage>, StoreError> {
        let sql = "SELECT from_s, to_s FROM outages WHERE to_s >= $1 ORDER BY from_s DESC LIMIT $2";
        let rows = self.connection.query(sql, vec![Box::new(bound(from_s)), Box::new(limit(most))])?;
        rows.iter().map(|row| Ok(WorkOutage { from_s: get_count(row, 0)?, to_s: get_count(row, 1)? })).collect()
    }
}
