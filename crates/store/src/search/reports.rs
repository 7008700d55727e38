//! Reports of complete runs that are costly to make, kept beside the word index. They are derived data, valid for one record of a run.

use super::SearchIndex;
use crate::StoreError;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use rusqlite::{OptionalExtension, params};

/// Level of compression: reports are read more often than written, and are small after any.
const LEVEL: u8 = 3;
/// Bytes of a report; a larger one is not kept.
const MAX_BYTES: usize = 64 << 20;

/// Name of a kept report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportKey<'k> {
    /// Id of the run.
    pub run: &'k str,
    /// Kind and version of the report, and the subject if it is about one.
    pub kind: &'k str,
    /// Everything that the report was made from: the record of the run, and the workspace if it matters.
    pub made_from: &'k str,
}

impl SearchIndex {
    /// Returns a kept report; absent if there is none, or if it was made from something else.
    pub fn report(&self, key: ReportKey<'_>) -> Result<Option<String>, StoreError> {
        let sql = "SELECT text FROM reports WHERE id = ?1 AND kind = ?2 AND made_from = ?3";
        let found: Option<Vec<u8>> =
            self.connection.prepare_cached(sql)?.query_row(params![key.run, key.kind, key.made_from], |row| row.get(0)).optional()?;
        // A damaged report is made again.
        Ok(found.and_then(|bytes| decompress_to_vec_with_limit(&bytes, MAX_BYTES).ok()).and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// Returns whether a report is kept, without reading it.
    pub fn has_report(&self, key: ReportKey<'_>) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM reports WHERE id = ?1 AND kind = ?2 AND made_from = ?3";
        Ok(self.connection.prepare_cached(sql)?.exists(params![key.run, key.kind, key.made_from])?)
    }

    /// Keeps a report in place of an earlier one of the same kind.
    pub fn keep_report(&self, key: ReportKey<'_>, text: &str) -> Result<(), StoreError> {
        if text.len() > MAX_BYTES {
            return Ok(());
        }
        let sql = "INSERT OR REPLACE INTO reports (id, kind, made_from, text) VALUES (?1, ?2, ?3, ?4)";
        let bytes = compress_to_vec(text.as_bytes(), LEVEL);
        self.connection.prepare_cached(sql)?.execute(params![key.run, key.kind, key.made_from, bytes])?;
        Ok(())
    }
}
