//! Opening and creating the tables of a store. Safe if several processes open the same database at once.

use super::PgEngine;
use super::connection::PgConnection;
use super::fault::{PgFault, PgFaultKind};
use super::schema::{MIGRATIONS, SCHEMA_NAME};
use super::session::PgSession;
use super::target::PgTarget;
use super::text::get;
use crate::StoreError;

/// Tables of a purpose, in a schema of their own.
#[derive(Debug)]
pub(crate) struct TableSet {
    pub(crate) schema: &'static str,
    /// Steps from an empty database to the version of this program. The version of a schema is the number of steps it has seen. A step
    /// that was published is never changed; a later version adds one.
    pub(crate) migrations: &'static [&'static str],
    /// Key of the lock under which tables are made and changed.
    pub(crate) lock: i64,
}

static RUN_TABLES: TableSet = TableSet { schema: SCHEMA_NAME, migrations: MIGRATIONS, lock: 0x6261_7264_6f00_0001 };

impl TableSet {
    /// Connects to a database and creates the tables, or converts those of an older version.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses, or the tables are of a newer version.
    pub(crate) fn open(&'static self, target: &PgTarget) -> Result<PgConnection, StoreError> {
        let connection = PgConnection::open_schema(target, self.schema)?;
        connection.run(|session| Box::pin(prepare_tables(session, self)))?;
        Ok(connection)
    }

    /// Like [`TableSet::open`]; returns nothing and creates nothing if the database has no such tables.
    pub(crate) fn open_existing(&'static self, target: &PgTarget) -> Result<Option<PgConnection>, StoreError> {
        let connection = PgConnection::open_schema(target, self.schema)?;
        if connection.run(|session| Box::pin(version(session, self.schema)))? == 0 {
            return Ok(None);
        }
        connection.run(|session| Box::pin(prepare_tables(session, self)))?;
        Ok(Some(connection))
    }
}

/// Oldest server: functions and options of the statements came with it.
const OLDEST_SERVER: i32 = 140_000;

impl PgEngine {
    /// Opens a store, creating its tables or converting those of an older version.
    ///
    /// # Errors
    /// Like [`TableSet::open`].
    pub(crate) fn open(target: &PgTarget) -> Result<Self, StoreError> {
        Ok(Self::new(RUN_TABLES.open(target)?))
    }

    /// Opens a store for reading; returns nothing if the database has no tables of a store.
    pub(crate) fn open_existing(target: &PgTarget) -> Result<Option<Self>, StoreError> {
        Ok(RUN_TABLES.open_existing(target)?.map(Self::new))
    }
}

async fn prepare_tables(session: &mut PgSession, tables: &TableSet) -> Result<(), StoreError> {
    let TableSet { schema, migrations, lock } = tables;
    check_server(session).await?;
    let known = migrations.len();
    if is_current(version(session, schema).await?, known)? {
        return Ok(());
    }
    let transaction = session.client().await?.transaction().await.map_err(PgFault::from)?;
    let begin = format!(
        "SELECT pg_advisory_xact_lock({lock}); CREATE SCHEMA IF NOT EXISTS {schema};
        CREATE TABLE IF NOT EXISTS {schema}.schema_version (version bigint NOT NULL)"
    );
    transaction.batch_execute(&begin).await.map_err(PgFault::from)?;
    // Read again under the lock: another process may have created or converted the store.
    let sql = format!("SELECT coalesce(max(version), 0) FROM {schema}.schema_version");
    let row = transaction.query_one(&sql, &[]).await.map_err(PgFault::from)?;
    let found: i64 = get(&row, 0)?;
    is_current(found, known)?;
    for step in migrations.iter().skip(usize::try_from(found).unwrap_or(known)) {
        transaction.batch_execute(step).await.map_err(PgFault::from)?;
    }
    let end = format!("DELETE FROM {schema}.schema_version; INSERT INTO {schema}.schema_version VALUES ({known})");
    transaction.batch_execute(&end).await.map_err(PgFault::from)?;
    Ok(transaction.commit().await.map_err(PgFault::from)?)
}

/// Returns whether a store has the version of this program.
///
/// # Errors
/// If it has a newer one.
fn is_current(found: i64, known: usize) -> Result<bool, StoreError> {
    let known = known as i64;
    if found > known { Err(StoreError::NewerVersion { found, known }) } else { Ok(found == known) }
}

/// Returns the version of the tables; 0 if there are none.
async fn version(session: &mut PgSession, schema: &str) -> Result<i64, StoreError> {
    let exists = session.query(&format!("SELECT to_regclass('{schema}.schema_version') IS NOT NULL"), &[]).await?;
    match exists.first().map(|row| get::<bool>(row, 0)).transpose()? {
        Some(true) => {
            let rows = session.query(&format!("SELECT coalesce(max(version), 0) FROM {schema}.schema_version"), &[]).await?;
            Ok(rows.first().map(|row| get(row, 0)).transpose()?.unwrap_or_default())
        }
        Some(false) | None => Ok(0),
    }
}

async fn check_server(session: &mut PgSession) -> Result<(), StoreError> {
    let sql =
        "SELECT current_setting('server_version_num')::integer, current_setting('server_version'), current_setting('server_encoding')";
    let rows = session.query(sql, &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let (number, version, encoding): (i32, String, String) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
    if number < OLDEST_SERVER {
        return Err(PgFault::new(PgFaultKind::Unsuitable, format!("the server is PostgreSQL {version}")).into());
    }
    if encoding != "UTF8" {
        return Err(PgFault::new(PgFaultKind::Unsuitable, format!("the database has the encoding {encoding}")).into());
    }
    Ok(())
}
