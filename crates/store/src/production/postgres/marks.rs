//! Times from which a reader tells whether something is missing.

use super::PgTraces;
use crate::StoreError;
use crate::postgres::{PgTransaction, get_count, number};
use crate::production::engine::MarkTable;
use crate::production::records::StoreMark;

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
}
