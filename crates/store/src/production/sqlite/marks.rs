//! Times from which a reader tells whether something is missing.

use super::SqliteTraces;
use crate::StoreError;
use crate::production::engine::MarkTable;
use crate::production::records::StoreMark;
use rusqlite::{OptionalExtension, params};

impl MarkTable for SqliteTraces {
    fn set_mark(&self, mark: StoreMark, at: u64) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        transaction
            .prepare_cached("INSERT INTO marks (what, at) VALUES (?1, ?2) ON CONFLICT (what) DO UPDATE SET at = max(at, ?2)")?
            .execute(params![mark.word(), at])?;
        Ok(transaction.commit()?)
    }

    fn mark(&self, mark: StoreMark) -> Result<Option<u64>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT at FROM marks WHERE what = ?1")?;
        Ok(statement.query_row([mark.word()], |row| row.get(0)).optional()?)
    }
}
