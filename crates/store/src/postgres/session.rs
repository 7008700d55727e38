//! Session with a server: prepares statements, reconnects after a lost connection and commits each transaction exactly once.

use super::fault::{PgFault, PgFaultKind};
use super::target::{PgSettings, TlsMode};
use super::tls::PgTls;
use crate::StoreError;
use futures::future::join_all;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row, Statement};

/// Work on a session.
pub type SessionFuture<'s, T> = Pin<Box<dyn Future<Output = T> + 's>>;

/// Parameter of a statement.
pub type PgParam = Box<dyn ToSql + Sync + Send>;

/// Rows of each statement of a batch.
pub type BatchRows = Vec<Vec<Row>>;

/// Statement of a batch that is committed as a whole.
#[derive(Debug)]
pub struct PgStatement {
    pub sql: &'static str,
    pub params: Vec<PgParam>,
}

/// Longest time without a server before a statement fails. A restart takes seconds.
const LONGEST_OUTAGE: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Attempts of a statement that others are in the way of.
const MAX_CONFLICTS: u32 = 8;
/// Lost connections in one statement, after which the statement itself may be the cause.
const MAX_LOSSES: u32 = 20;
/// Attempts to take a lock again while the server ends the lost connection.
const MAX_LOCK_ATTEMPTS: u32 = 100;
/// Time after which the system asks whether the server is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// Time after which unacknowledged bytes end the connection.
const UNACKNOWLEDGED: Duration = Duration::from_secs(60);

/// Session with a server.
pub struct PgSession {
    settings: PgSettings,
    tls: Option<PgTls>,
    client: Option<Client>,
    statements: HashMap<String, Statement>,
    /// Number of connections so far.
    generation: u64,
    /// Keys of advisory locks, which are taken again on a new connection.
    locks: Vec<i64>,
    /// Process of the server for the last connection, and its start, which together are unique.
    backend: Option<(i32, String)>,
}

/// Failed attempts of one statement.
#[derive(Default)]
struct FailedAttempts {
    losses: u32,
    conflicts: u32,
}

/// End of an attempt to commit.
enum CommitAttempt<T> {
    Committed(T),
    /// The connection broke after the commit was sent, so the server alone knows whether it counts.
    Unknown(T, String),
}

impl PgSession {
    /// Connects to the server.
    pub(super) async fn connect(settings: PgSettings) -> Result<Self, PgFault> {
        let tls = PgTls::new(&settings)?;
        let mut session = Self { settings, tls, client: None, statements: HashMap::new(), generation: 0, locks: vec![], backend: None };
        session.open_client().await?;
        Ok(session)
    }

    /// Returns the client, connected again if the connection was lost.
    ///
    /// # Errors
    /// If the server stays away, or another process took a lock of this session meanwhile.
    pub async fn client(&mut self) -> Result<&mut Client, StoreError> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.reconnect().await?;
        }
        self.client.as_mut().ok_or_else(lost)
    }

    /// Returns the client like [`PgSession::client`], and a number that changes with every new connection, for statements that are prepared
    /// outside of this session.
    pub(super) async fn numbered_client(&mut self) -> Result<(&Client, u64), StoreError> {
        self.client().await?;
        let client = self.client.as_ref().ok_or_else(lost)?;
        Ok((client, self.generation))
    }

    /// Runs one statement and returns its rows. After a lost connection it runs again, so it must be one that may.
    pub async fn query(&mut self, sql: &str, params: &[PgParam]) -> Result<Vec<Row>, StoreError> {
        let mut failed = FailedAttempts::default();
        loop {
            match self.try_query(sql, params).await {
                Err(error) => self.recover(&mut failed, error).await?,
                Ok(rows) => return Ok(rows),
            }
        }
    }

    async fn try_query(&mut self, sql: &str, params: &[PgParam]) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepare(sql).await?;
        Ok(self.client().await?.query(&statement, &references(params)).await.map_err(PgFault::from)?)
    }

    /// Runs statements in one transaction and commits it exactly once, also if the connection breaks while it is committed. `check` sees
    /// the rows before the commit and can still refuse them.
    pub async fn commit(
        &mut self,
        batch: &[PgStatement],
        check: impl Fn(&BatchRows) -> Result<(), StoreError>,
    ) -> Result<BatchRows, StoreError> {
        let mut failed = FailedAttempts::default();
        loop {
            match self.try_commit(batch, &check).await {
                Ok(CommitAttempt::Committed(rows)) => return Ok(rows),
                Ok(CommitAttempt::Unknown(rows, transaction)) => {
                    if self.was_committed(&transaction).await? {
                        return Ok(rows);
                    }
                }
                Err(error) => self.recover(&mut failed, error).await?,
            }
        }
    }

    /// Prepares another attempt of a statement that failed.
    ///
    /// # Errors
    /// Returns the failure if another attempt would not help.
    async fn recover(&mut self, failed: &mut FailedAttempts, error: StoreError) -> Result<(), StoreError> {
        let StoreError::Postgres(fault) = &error else { return Err(error) };
        if fault.is_lost() && failed.losses < MAX_LOSSES {
            failed.losses += 1;
            return self.reconnect().await;
        }
        if fault.kind == PgFaultKind::Conflict && failed.conflicts < MAX_CONFLICTS {
            failed.conflicts += 1;
            tokio::time::sleep(FIRST_PAUSE * failed.conflicts).await;
            return Ok(());
        }
        Err(error)
    }

    async fn try_commit(
        &mut self,
        batch: &[PgStatement],
        check: &impl Fn(&BatchRows) -> Result<(), StoreError>,
    ) -> Result<CommitAttempt<BatchRows>, StoreError> {
        let own_id = self.prepare("SELECT pg_current_xact_id()::text").await?;
        let mut prepared = vec![];
        for statement in batch {
            prepared.push((self.prepare(statement.sql).await?, references(&statement.params)));
        }
        let client = self.client().await?;
        // All requests are sent before the first answer is awaited.
        let statements = join_all(prepared.iter().map(|(statement, params)| client.query(statement, params)));
        let (begun, id, results) = tokio::join!(client.batch_execute("BEGIN"), client.query_one(&own_id, &[]), statements);
        let ran = || -> Result<(BatchRows, String), StoreError> {
            begun.map_err(PgFault::from)?;
            // A replica refuses the number first, and then the statements only because they follow.
            let id = id.and_then(|row| row.try_get(0)).map_err(PgFault::from)?;
            let rows: BatchRows = results.into_iter().collect::<Result<_, _>>().map_err(PgFault::from)?;
            Ok((rows, id))
        };
        let (rows, transaction) = match ran().and_then(|(rows, id)| check(&rows).map(|()| (rows, id))) {
            Ok(ran) => ran,
            Err(error) => {
                // A connection that cannot roll back is closed, which rolls back too.
                drop(client.batch_execute("ROLLBACK").await);
                return Err(error);
            }
        };
        end_transaction(client, rows, transaction).await
    }

    /// Runs `work` in a transaction and commits it exactly once, also if the connection breaks while it is committed. `work` may run more
    /// than once; of all attempts but the last nothing is stored.
    pub(crate) async fn transact<T>(
        &mut self,
        work: impl for<'t> Fn(PgTransaction<'t>) -> SessionFuture<'t, Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut failed = FailedAttempts::default();
        loop {
            match self.try_transact(&work).await {
                Ok(CommitAttempt::Committed(found)) => return Ok(found),
                Ok(CommitAttempt::Unknown(found, transaction)) => {
                    if self.was_committed(&transaction).await? {
                        return Ok(found);
                    }
                }
                Err(error) => self.recover(&mut failed, error).await?,
            }
        }
    }

    async fn try_transact<T>(
        &mut self,
        work: &impl for<'t> Fn(PgTransaction<'t>) -> SessionFuture<'t, Result<T, StoreError>>,
    ) -> Result<CommitAttempt<T>, StoreError> {
        let own_id = self.prepare("SELECT pg_current_xact_id()::text").await?;
        self.client().await?;
        let Self { client, statements, .. } = self;
        let client = client.as_ref().ok_or_else(lost)?;
        let (begun, id) = tokio::join!(client.batch_execute("BEGIN"), client.query_one(&own_id, &[]));
        let id: Result<String, _> = begun.and(id).and_then(|row| row.try_get(0));
        let ran = match id {
            Ok(id) => work(PgTransaction { client, statements }).await.map(|found| (found, id)),
            Err(error) => Err(PgFault::from(error).into()),
        };
        match ran {
            Ok((found, id)) => end_transaction(client, found, id).await,
            Err(error) => {
                // A connection that cannot roll back is closed, which rolls back too.
                drop(client.batch_execute("ROLLBACK").await);
                Err(error)
            }
        }
    }

    /// Asks the server what became of a transaction whose commit was not answered.
    async fn was_committed(&mut self, transaction: &str) -> Result<bool, StoreError> {
        let mut waited = Duration::ZERO;
        loop {
            let id: Vec<PgParam> = vec![Box::new(transaction.to_owned())];
            let rows = self.query("SELECT pg_xact_status($1::text::xid8)", &id).await?;
            let state: Option<String> = rows.first().and_then(|row| row.get(0));
            match state.as_deref() {
                Some("committed") => return Ok(true),
                Some("aborted") => return Ok(false),
                // The server has not noticed yet that the connection is gone.
                Some("in progress") if waited < LONGEST_OUTAGE => {
                    tokio::time::sleep(FIRST_PAUSE).await;
                    waited += FIRST_PAUSE;
                }
                Some(_) | None => {
                    let what = "the connection was lost during a commit, and the server does not know what became of it";
                    return Err(PgFault::new(PgFaultKind::Lost, what).into());
                }
            }
        }
    }

    /// Prepares a statement once per connection.
    async fn prepare(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.reconnect().await?;
        }
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client().await?.prepare(sql).await.map_err(PgFault::from)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Takes an advisory lock until it is released or the session ends. Returns false if another session has it, or this one.
    pub(super) async fn lock(&mut self, key: i64) -> Result<bool, StoreError> {
        if self.locks.contains(&key) || !self.try_lock(key).await? {
            return Ok(false);
        }
        self.locks.push(key);
        Ok(true)
    }

    async fn try_lock(&mut self, key: i64) -> Result<bool, StoreError> {
        let client = self.client.as_ref().ok_or_else(lost)?;
        let row = client.query_one("SELECT pg_try_advisory_lock($1)", &[&key]).await.map_err(PgFault::from)?;
        Ok(row.try_get(0).map_err(PgFault::from)?)
    }

    pub(super) async fn unlock(&mut self, key: i64) {
        self.locks.retain(|held| *held != key);
        if let Some(client) = &self.client {
            // A session that ended has no locks.
            drop(client.execute("SELECT pg_advisory_unlock($1)", &[&key]).await);
        }
    }

    /// Connects again, waiting for a server that restarts.
    async fn reconnect(&mut self) -> Result<(), StoreError> {
        let (mut waited, mut pause) = (Duration::ZERO, FIRST_PAUSE);
        loop {
            match self.open_client().await {
                Ok(()) => break,
                Err(fault) if fault.is_lost() && waited < LONGEST_OUTAGE => {
                    tokio::time::sleep(pause).await;
                    waited += pause;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(fault) => return Err(fault.into()),
            }
        }
        for key in self.locks.clone() {
            self.lock_again(key).await?;
        }
        Ok(())
    }

    async fn lock_again(&mut self, key: i64) -> Result<(), StoreError> {
        for _ in 0..MAX_LOCK_ATTEMPTS {
            if self.try_lock(key).await? {
                return Ok(());
            }
            tokio::time::sleep(FIRST_PAUSE).await;
        }
        Err(StoreError::Journal("the connection was lost, and another process has taken the run".into()))
    }

    async fn open_client(&mut self) -> Result<(), PgFault> {
        self.statements.clear();
        self.client = None;
        let config = config(&self.settings);
        let client = match self.tls.clone() {
            None => {
                let (client, connection) = config.connect(NoTls).await?;
                tokio::spawn(connection);
                client
            }
            Some(tls) => {
                let (client, connection) = config.connect(tls).await?;
                tokio::spawn(connection);
                client
            }
        };
        // Plans are made for the size that tables have now. A transaction of a process that hangs ends.
        let setup = format!(
            "SET search_path TO {}, pg_catalog; SET plan_cache_mode TO force_custom_plan; SET client_min_messages TO warning;
             SET idle_in_transaction_session_timeout TO '60s'",
            self.settings.schema
        );
        client.batch_execute(&setup).await?;
        if let Some((process, started)) = self.backend.take() {
            // A server that has not noticed the loss would keep locks and transactions of the lost connection.
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2";
            client.query(end, &[&process, &started]).await?;
        }
        let own = client.query_one("SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()", &[]).await?;
        self.backend = Some((own.try_get(0)?, own.try_get(1)?));
        self.client = Some(client);
        self.generation += 1;
        Ok(())
    }
}

/// Transaction of a session. Its statements never reconnect, so that all are part of it.
pub(crate) struct PgTransaction<'s> {
    client: &'s Client,
    statements: &'s mut HashMap<String, Statement>,
}

impl PgTransaction<'_> {
    pub(crate) async fn query(&mut self, sql: &'static str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, StoreError> {
        let statement = match self.statements.get(sql) {
            Some(statement) => statement.clone(),
            None => {
                let statement = self.client.prepare(sql).await.map_err(PgFault::from)?;
                self.statements.insert(sql.to_owned(), statement.clone());
                statement
            }
        };
        Ok(self.client.query(&statement, params).await.map_err(PgFault::from)?)
    }

    /// Runs statements without parameters, such as those that change tables.
    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        Ok(self.client.batch_execute(sql).await.map_err(PgFault::from)?)
    }
}

async fn end_transaction<T>(client: &Client, found: T, transaction: String) -> Result<CommitAttempt<T>, StoreError> {
    match client.batch_execute("COMMIT").await.map_err(PgFault::from) {
        Ok(()) => Ok(CommitAttempt::Committed(found)),
        Err(fault) if fault.is_lost() => Ok(CommitAttempt::Unknown(found, transaction)),
        Err(fault) => Err(fault.into()),
    }
}

fn lost() -> StoreError {
    PgFault::new(PgFaultKind::Lost, "the connection was lost").into()
}

impl std::fmt::Debug for PgSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PgSession").field("settings", &self.settings).finish_non_exhaustive()
    }
}

fn references(params: &[PgParam]) -> Vec<&(dyn ToSql + Sync)> {
    params.iter().map(|param| &**param as &(dyn ToSql + Sync)).collect()
}

fn config(settings: &PgSettings) -> Config {
    let mut config = Config::new();
    config.host(&settings.host).port(settings.port).user(&settings.user).dbname(&settings.database);
    config.application_name(&settings.application_name).connect_timeout(settings.timeout);
    config.keepalives_idle(KEEPALIVE).tcp_user_timeout(UNACKNOWLEDGED);
    config.ssl_mode(match settings.tls {
        TlsMode::Disable => SslMode::Disable,
        TlsMode::Prefer => SslMode::Prefer,
        TlsMode::Require | TlsMode::VerifyFull => SslMode::Require,
    });
    if let Some(password) = &settings.password {
        config.password(password);
    }
    config
}
