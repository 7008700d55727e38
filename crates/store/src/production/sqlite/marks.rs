//! Times from which a reader tells whether something is missing.

use super::SqliteTraces;
use crate::StoreError;
use crate::production::engine::MarkTable;
use crate::production::records::{StoreMark, WorkOutage};
use rusqlite::{Connection, OptionalExtension, params};

impl MarkTable for SqliteTraces {
    fn set_mark(&self, mark: StoreMark, at: u64) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        set_mark(&transaction, mark, at)?;
        Ok(transaction.commit()?)
    }

    fn mark(&self, mark: StoreMark) -> Result<Option<u64>, StoreError> {
        read_mark(&self.connection, mark)
    }

    fn note_work(&self, now_s: u64, max_silence_s: u64) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        let last = read_mark(&transaction, StoreMark::Worked)?.filter(|last| now_s.saturating_sub(*last) > max_silence_s);
        if let Some(last) = last {
            transaction.execute("INSERT OR IGNORE INTO outages (from_s, to_s) VALUES (?1, ?2)", params![last, now_s])?;
        }
        set_mark(&transaction, StoreMark::Worked, now_s)?;
        Ok(transaction.commit()?)
    }

    fn outages(&self, from_s: u64, most: usize) -> Result<Vec<WorkOutage>, StoreError> {
        let sql = "SELECT from_s, to_s FROM outages WHERE to_s >= ?1 ORDER BY from_s DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![from_s, most as u64], |row| Ok(WorkOutage { from_s: row.get(0)?, to_s: row.get(1)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn set_mark(connection: &Connection, mark: StoreMark, at: u64) -> Result<(), StoreError> {
    connection
        .prepare_cached("INSERT INTO marks (what, at) VALUES (?1, ?2) ON CONFLICT (what) DO UPDATE SET at = max(at, ?2)")?
        .execute(params![mark.word(), at])?;
    Ok(())
}

fn read_mark(connection: &Connection, mark: StoreMark) -> Result<Option<u64>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT at FROM marks WHERE what = ?1")?;
    Ok(statement.query_row([mark.word()], |row| row.get(0)).optional()?)
}
