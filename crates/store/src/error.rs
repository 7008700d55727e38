//! Errors of a store.

use crate::postgres::PgFault;
use model::UserError;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the store cannot be opened or used: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("the store cannot be opened or used: {0}")]
    Postgres(#[from] PgFault),
    #[error("the store was written by a newer version (schema version {found}, this program supports {known})")]
    NewerVersion { found: i64, known: i64 },
    #[error("the store has an older format and its run {id} cannot be converted: {why}")]
    NotConverted { id: String, why: String },
    #[error("run {id} cannot be read back: {why}")]
    Unreadable { id: String, why: String },
    #[error("the store is on a read-only file system, and {why}")]
    ReadOnly { why: &'static str },
    #[error("the file is not one of production traces")]
    NotProduction,
    #[error("run {id} was not copied: {why}")]
    NotCopied { id: String, why: String },
    #[error("run {id} is in use by another process")]
    InUse { id: String },
    /// Failed write, possibly an earlier one that no caller waited for.
    #[error("the journal failed: {0}")]
    Journal(String),
}

impl From<StoreError> for UserError {
    fn from(error: StoreError) -> Self {
        UserError::new(error.to_string(), error.remedy())
    }
}

impl StoreError {
    /// Returns advice for the user; empty if there is none.
    pub fn remedy(&self) -> &'static str {
        match self {
            StoreError::NewerVersion { .. } => "use the version that wrote it, or another --store",
            StoreError::NotConverted { .. } => "nothing was changed; use another --store",
            StoreError::ReadOnly { .. } => "copy it to a folder that can be written to, with its -wal file if there is one",
            StoreError::NotProduction => "name another file with --traces",
            StoreError::NotCopied { .. } => {
                "nothing of it was changed in either store; remove the other run with `bardo-eval runs rm`, or name another store"
            }
            StoreError::Postgres(fault) => fault.remedy(),
            StoreError::Sqlite(_) | StoreError::Unreadable { .. } | StoreError::InUse { .. } | StoreError::Journal(_) => "",
        }
    }

    pub(crate) fn unreadable(id: &str, why: &dyn std::fmt::Display) -> Self {
        StoreError::Unreadable { id: id.to_owned(), why: why.to_string() }
    }

    pub(crate) fn is_busy(&self) -> bool {
        let StoreError::Sqlite(rusqlite::Error::SqliteFailure(error, _)) = self else { return false };
        matches!(error.code, rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    }
}
