//! Connection of a queue: transactions that are repeated when the server was away.

use crate::StoreError;
use crate::postgres::fault::{PgFault, PgFaultKind};
use crate::postgres::session::PgSession;
use crate::postgres::target::PgTarget;
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

/// Parameters of a statement.
pub(super) type SqlParams<'p> = &'p [&'p (dyn ToSql + Sync)];

/// Attempts of a transaction in a row that lose their connection or meet another transaction.
const MAX_ATTEMPTS: u32 = 40;
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Connection to the queues of a store, for the thread that opened it. A transaction that the server did not answer is repeated on a new
/// connection, so its statements must find out what an earlier attempt has committed.
#[derive(Debug)]
pub struct QueueConnection {
    runtime: Runtime,
    session: PgSession,
    statements: StatementCache,
}

/// Prepared statements of one connection to the server.
#[derive(Debug, Default)]
struct StatementCache {
    generation: u64,
    prepared: RefCell<HashMap<&'static str, Statement>>,
}

impl QueueConnection {
    /// Connects to a store whose tables exist.
    pub(super) fn open(target: &PgTarget) -> Result<Self, StoreError> {
        let settings = target.settings()?;
        let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = built.map_err(|error| StoreError::Journal(format!("the connection cannot be started: {error}")))?;
        let session = runtime.block_on(PgSession::connect(settings))?;
        Ok(Self { runtime, session, statements: StatementCache::default() })
    }

    /// Runs `work` in a transaction, again on a new connection if the server was lost.
    pub(super) fn transaction<T>(&mut self, mut work: impl FnMut(&QueueSql<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut attempt = 1;
        loop {
            match self.attempt(&mut work) {
                Err(StoreError::Postgres(fault)) if is_repeatable(&fault) && attempt < MAX_ATTEMPTS => {
                    std::thread::sleep(RETRY_PAUSE * attempt.min(10));
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    fn attempt<T>(&mut self, work: &mut impl FnMut(&QueueSql<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let Self { runtime, session, statements } = self;
        // Waits for a server that restarts.
        let (client, generation) = runtime.block_on(session.numbered_client())?;
        if statements.generation != generation {
            *statements = StatementCache { generation, ..StatementCache::default() };
        }
        let sql = QueueSql { runtime, client, statements: &statements.prepared };
        sql.batch("BEGIN")?;
        match work(&sql) {
            Ok(found) => sql.batch("COMMIT").map(|()| found),
            Err(error) => {
                // A connection that cannot roll back is closed, which rolls back too.
                drop(sql.batch("ROLLBACK"));
                Err(error)
            }
        }
    }
}

fn is_repeatable(fault: &PgFault) -> bool {
    matches!(fault.kind, PgFaultKind::Lost | PgFaultKind::Conflict)
}

/// Statements of one transaction, all on one connection.
pub(super) struct QueueSql<'c> {
    runtime: &'c Runtime,
    client: &'c Client,
    statements: &'c RefCell<HashMap<&'static str, Statement>>,
}

impl QueueSql<'_> {
    pub(super) fn query(&self, sql: &'static str, params: SqlParams<'_>) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepare(sql)?;
        Ok(self.runtime.block_on(self.client.query(&statement, params)).map_err(PgFault::from)?)
    }

    /// Returns the first row.
    pub(super) fn query_first(&self, sql: &'static str, params: SqlParams<'_>) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, params)?.into_iter().next())
    }

    /// Returns the number of changed rows.
    pub(super) fn execute(&self, sql: &'static str, params: SqlParams<'_>) -> Result<u64, StoreError> {
        let statement = self.prepare(sql)?;
        Ok(self.runtime.block_on(self.client.execute(&statement, params)).map_err(PgFault::from)?)
    }

    fn prepare(&self, sql: &'static str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.borrow().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.runtime.block_on(self.client.prepare(sql)).map_err(PgFault::from)?;
        self.statements.borrow_mut().insert(sql, statement.clone());
        Ok(statement)
    }

    fn batch(&self, sql: &str) -> Result<(), StoreError> {
        Ok(self.runtime.block_on(self.client.batch_execute(sql)).map_err(PgFault::from)?)
    }
}

/// Returns the first column of rows.
pub(super) fn first_column(rows: &[Row]) -> Result<Vec<i64>, StoreError> {
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Converts a count for a column. Values beyond are none of a store.
pub(super) fn column(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Converts a column that holds a count.
pub(super) fn count(value: i64) -> u64 {
    u64::try_from(value).unwrap_or_default()
}
