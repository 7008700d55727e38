//! Engine of stores in a PostgreSQL database, which many machines can share.

mod browse;
mod calls;
mod connection;
mod environment;
mod fault;
mod group;
mod open;
pub mod queue;
mod queue_tables;
mod runs;
mod schema;
mod session;
mod target;
mod text;
mod tls;
mod trials;

pub use connection::PgConnection;
pub use environment::PgEnvironment;
pub use fault::{PgFault, PgFaultKind};
pub(crate) use open::TableSet;
pub use schema::SCHEMA_NAME;
pub(crate) use session::PgTransaction;
pub use session::{BatchRows, PgParam, PgSession, PgStatement, SessionFuture};
pub use target::PgTarget;
pub(crate) use text::{encode, get, get_count, get_optional_text, get_text, number};

use crate::RunCounts;
use crate::engine::StoreEngine;
use std::collections::HashMap;
use std::sync::Mutex;

/// Connection to a database with the tables of a store.
#[derive(Debug)]
pub(crate) struct PgEngine {
    connection: PgConnection,
    /// Counters of complete runs, by key.
    complete_runs: Mutex<HashMap<i64, CompleteRun>>,
}

/// Complete run whose counters do not change.
#[derive(Debug, Clone)]
struct CompleteRun {
    id: String,
    ended: String,
    counts: RunCounts,
}

impl PgEngine {
    fn new(connection: PgConnection) -> Self {
        Self { connection, complete_runs: Mutex::default() }
    }
}

impl StoreEngine for PgEngine {
    fn postgres(&self) -> Option<&PgConnection> {
        Some(&self.connection)
    }
}
