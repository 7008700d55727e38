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

pub use connection::{PgConnection, SessionFuture};
pub use environment::PgEnvironment;
pub use fault::{PgFault, PgFaultKind};
pub use schema::SCHEMA_NAME;
pub use session::{BatchRows, PgParam, PgSession, PgStatement};
pub use target::PgTarget;

use crate::engine::StoreEngine;

/// Connection to a database with the tables of a store.
#[derive(Debug)]
pub(crate) struct PgEngine {
    connection: PgConnection,
}

impl StoreEngine for PgEngine {
    fn file(&self) -> Option<&std::path::Path> {
        None
    }

    fn postgres(&self) -> Option<&PgConnection> {
        Some(&self.connection)
    }
}
