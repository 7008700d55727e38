//! Opening a file of production traces.

use super::SqliteTraces;
use crate::StoreError;
use crate::private_file::create_private;
use crate::sqlite::ignore_in_git;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// Schema version, stored as `PRAGMA user_version`.
const SCHEMA_VERSION: i64 = 4;
/// Distinguishes the file from a store of runs.
const APPLICATION_ID: i64 = 0x6265_7031;
const PAGE_BYTES: u32 = 8 << 10;
/// Size of the write-ahead log at which it is copied into the file.
const WAL_BYTES: u32 = 32 << 20;
/// Cache of a connection in KiB, negative as SQLite wants it.
const CACHE_KIB: i64 = -(32 << 10);
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

const SCHEMA: &str = "
CREATE TABLE spans (
    trace       BLOB NOT NULL,
    span        BLOB NOT NULL,
    received_ms INTEGER NOT NULL,
    body        BLOB NOT NULL,
    PRIMARY KEY (trace, span)
) STRICT, WITHOUT ROWID;

CREATE TABLE open_traces (
    trace      BLOB PRIMARY KEY,
    first_ms   INTEGER NOT NULL,
    last_ms    INTEGER NOT NULL,
    spans      INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    root_ended INTEGER NOT NULL,
    wait_until_ms INTEGER NOT NULL DEFAULT 0,
    refused    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX open_traces_by_time ON open_traces (last_ms);

CREATE TABLE traces (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    trace       BLOB NOT NULL UNIQUE,
    at_s        INTEGER NOT NULL,
    decided_ms  INTEGER NOT NULL,
    sampled     INTEGER NOT NULL,
    probability REAL NOT NULL,
    reasons     TEXT NOT NULL,
    facts       TEXT NOT NULL,
    scores      TEXT NOT NULL,
    transcript  TEXT NOT NULL
) STRICT;
CREATE INDEX traces_by_time ON traces (at_s);

CREATE TABLE dropped (
    trace      BLOB PRIMARY KEY,
    decided_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
    what TEXT PRIMARY KEY,
    n    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE alerts (
    n        INTEGER PRIMARY KEY AUTOINCREMENT,
    key      TEXT NOT NULL,
    raised_s INTEGER NOT NULL,
    body     TEXT NOT NULL,
    sent_s   INTEGER
) STRICT;
CREATE INDEX alerts_by_key ON alerts (key, raised_s);
";

/// Tables since version 2: evidence from outside that is asked for once and stored.
const EVIDENCE_SCHEMA: &str = "
CREATE TABLE receipts (
    chain     INTEGER NOT NULL,
    hash      TEXT NOT NULL,
    wanted_ms INTEGER NOT NULL,
    attempts  INTEGER NOT NULL,
    due_ms    INTEGER NOT NULL,
    body      TEXT,
    PRIMARY KEY (chain, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_by_due ON receipts (due_ms) WHERE body IS NULL;

CREATE TABLE judgements (
    n        INTEGER PRIMARY KEY AUTOINCREMENT,
    trace    BLOB NOT NULL,
    at_s     INTEGER NOT NULL,
    judged_ms INTEGER NOT NULL,
    sampled  INTEGER NOT NULL,
    question TEXT NOT NULL,
    answer   TEXT NOT NULL,
    score    TEXT NOT NULL
) STRICT;
CREATE INDEX judgements_by_trace ON judgements (trace, n);

CREATE TABLE judge_calls (
    n       INTEGER PRIMARY KEY AUTOINCREMENT,
    call    TEXT NOT NULL,
    day     INTEGER NOT NULL,
    ceiling INTEGER NOT NULL,
    cost    INTEGER,
    reply   TEXT
) STRICT;
CREATE INDEX judge_calls_by_day ON judge_calls (day);
CREATE INDEX judge_calls_by_call ON judge_calls (call);
";

/// Steps from version 1. Alerts of that version were not tracked without a webhook, so that none of them is sent now.
const FROM_VERSION_1: &str = "
ALTER TABLE open_traces ADD COLUMN wait_until_ms INTEGER NOT NULL DEFAULT 0;
UPDATE alerts SET sent_s = raised_s WHERE sent_s IS NULL;
";

/// Tables since version 3: what wallets spent, and times that tell whether something is missing. The trace that named a transaction
/// first is the one that sent it.
const SPENDING_SCHEMA: &str = "
ALTER TABLE receipts ADD COLUMN named_by BLOB;

CREATE TABLE spending (
    chain  INTEGER NOT NULL,
    hash   TEXT NOT NULL,
    wallet TEXT NOT NULL,
    nonce  INTEGER NOT NULL,
    at_s   INTEGER NOT NULL,
    usd    REAL NOT NULL,
    PRIMARY KEY (chain, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_by_wallet ON spending (wallet, at_s);

CREATE TABLE marks (
    what TEXT PRIMARY KEY,
    at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

const FROM_VERSION_2: &str = "ALTER TABLE open_traces ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;";

/// Tables since version 4: refused spans outlive the decision on their trace, times without a collector are noted, and money is counted in
/// millionths of a dollar by wallet, or not known.
const COMPLETENESS_SCHEMA: &str = "
ALTER TABLE traces ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dropped ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
CREATE INDEX dropped_incomplete ON dropped (decided_ms) WHERE refused > 0;

CREATE TABLE outages (
    from_s INTEGER PRIMARY KEY,
    to_s   INTEGER NOT NULL
) STRICT;

CREATE TABLE spending_in_micros (
    chain  INTEGER NOT NULL,
    hash   TEXT NOT NULL,
    wallet TEXT NOT NULL,
    nonce  INTEGER NOT NULL,
    at_s   INTEGER NOT NULL,
    micros INTEGER,
    PRIMARY KEY (chain, hash, wallet)
) STRICT, WITHOUT ROWID;
INSERT INTO spending_in_micros
    SELECT chain, hash, wallet, nonce, at_s, CAST(min(round(usd * 1000000), 9e18) AS INTEGER) FROM spending;
DROP TABLE spending;
ALTER TABLE spending_in_micros RENAME TO spending;
CREATE INDEX spending_by_wallet ON spending (wallet, at_s);
";

/// Returns the steps from a version to the current one; none if the version is not known.
fn steps_from(version: i64) -> Option<&'static [&'static str]> {
    Some(match version {
        0 => &[SCHEMA, EVIDENCE_SCHEMA, SPENDING_SCHEMA, COMPLETENESS_SCHEMA],
        1 => &[FROM_VERSION_1, EVIDENCE_SCHEMA, FROM_VERSION_2, SPENDING_SCHEMA, COMPLETENESS_SCHEMA],
        2 => &[FROM_VERSION_2, SPENDING_SCHEMA, COMPLETENESS_SCHEMA],
        3 => &[COMPLETENESS_SCHEMA],
        SCHEMA_VERSION => &[],
        _ => return None,
    })
}

impl SqliteTraces {
    /// Opens or creates a file.
    ///
    /// # Errors
    ///
    /// Fails if the file is something else, or was written by a newer version.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        create_private(path);
        ignore_in_git(path);
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "page_size", PAGE_BYTES)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // A span is acknowledged once it would survive a power cut.
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "wal_autocheckpoint", WAL_BYTES / PAGE_BYTES)?;
        connection.pragma_update(None, "cache_size", CACHE_KIB)?;
        connection.set_prepared_statement_cache_capacity(64);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let application: i64 = transaction.pragma_query_value(None, "application_id", |row| row.get(0))?;
        if application != APPLICATION_ID && (version, application) != (0, 0) {
            return Err(StoreError::NotProduction);
        }
        let steps = steps_from(version).ok_or(StoreError::NewerVersion { found: version, known: SCHEMA_VERSION })?;
        for step in steps {
            transaction.execute_batch(step)?;
        }
        if !steps.is_empty() {
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        }
        transaction.commit()?;
        Ok(Self { connection })
    }
}
