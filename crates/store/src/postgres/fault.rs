//! Failures of a PostgreSQL server or of the connection to it.

use std::error::Error;
use std::fmt;
use tokio_postgres::error::SqlState;

/// Kind of a failure, from which the advice follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PgFaultKind {
    /// The URL cannot be read.
    Url,
    PasswordInUrl,
    /// Nothing accepts connections there.
    Unreachable,
    Authentication,
    NoDatabase,
    Certificate,
    /// The server is a replica, or the database is read-only.
    ReadOnly,
    DiskFull,
    Privilege,
    TooManyConnections,
    /// The server is too old, or the database has another encoding.
    Unsuitable,
    /// The connection broke.
    Lost,
    /// Another transaction was in the way; the same one may succeed later.
    Conflict,
    /// A row violates a check of its table, or no partition takes it.
    RowRefused,
    /// Any other refusal of a statement.
    Statement,
}

/// Failure of a PostgreSQL server or of the connection to it. Its text never has a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgFault {
    pub kind: PgFaultKind,
    what: String,
}

impl PgFault {
    pub fn new(kind: PgFaultKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into() }
    }

    /// Returns whether the same statement may succeed on a new connection.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.kind, PgFaultKind::Lost | PgFaultKind::Unreachable)
    }

    /// Returns advice for the user; empty if there is none.
    pub(crate) fn remedy(&self) -> &'static str {
        match self.kind {
            PgFaultKind::Url => "write postgres://USER@HOST:PORT/DATABASE, or postgres:///DATABASE?host=/FOLDER for a socket",
            PgFaultKind::PasswordInUrl => {
                "take it out of the URL; set PGPASSWORD, or keep it in ~/.pgpass or in a service file (?service=NAME)"
            }
            PgFaultKind::Unreachable => "check host and port, and that the server runs",
            PgFaultKind::Authentication => "set PGPASSWORD, or keep the password in ~/.pgpass or in a service file (?service=NAME)",
            PgFaultKind::NoDatabase => "create it with createdb, or name another one in the URL",
            PgFaultKind::Certificate => {
                "name the certificate of its authority with sslrootcert=FILE; sslmode=require encrypts without checking who answers"
            }
            PgFaultKind::ReadOnly => "name the primary server, not a replica",
            PgFaultKind::DiskFull => "make room on the server, then resume the run",
            PgFaultKind::Privilege => "let the owner of the database open the store once, and grant its role to this user",
            PgFaultKind::TooManyConnections => "raise max_connections of the server, or start fewer processes",
            PgFaultKind::Unsuitable => "use a database of PostgreSQL 14 or later with the encoding UTF8",
            PgFaultKind::Lost | PgFaultKind::Conflict | PgFaultKind::RowRefused | PgFaultKind::Statement => "",
        }
    }
}

impl fmt::Display for PgFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Error for PgFault {}

impl From<tokio_postgres::Error> for PgFault {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(refusal) = error.as_db_error() else { return connection_fault(&error) };
        let kind = refusal_kind(refusal.code());
        let mut what = format!("the server says: {}", refusal.message());
        if let Some(detail) = refusal.detail().filter(|_| kind == PgFaultKind::Statement) {
            what.push_str(&format!(" ({detail})"));
        }
        Self { kind, what }
    }
}

fn refusal_kind(code: &SqlState) -> PgFaultKind {
    match code.code() {
        "28P01" | "28000" => PgFaultKind::Authentication,
        "3D000" => PgFaultKind::NoDatabase,
        "25006" => PgFaultKind::ReadOnly,
        "53100" => PgFaultKind::DiskFull,
        "53300" => PgFaultKind::TooManyConnections,
        "42501" => PgFaultKind::Privilege,
        "40001" | "40P01" | "55P03" => PgFaultKind::Conflict,
        "57P01" | "57P02" | "57P03" | "25P03" => PgFaultKind::Lost,
        code if code.starts_with("08") => PgFaultKind::Lost,
        "23514" => PgFaultKind::RowRefused,
        _ => PgFaultKind::Statement,
    }
}

/// Describes an error that did not come from the server.
fn connection_fault(error: &tokio_postgres::Error) -> PgFault {
    let source = error.source();
    if let Some(io) = source.and_then(|source| source.downcast_ref::<std::io::Error>()) {
        let unreachable =
            matches!(io.kind(), std::io::ErrorKind::ConnectionRefused | std::io::ErrorKind::NotFound | std::io::ErrorKind::TimedOut);
        let certificate = io.get_ref().is_some_and(|inner| inner.is::<tokio_rustls::rustls::Error>());
        let kind = match (certificate, unreachable) {
            (true, _) => PgFaultKind::Certificate,
            (false, true) => PgFaultKind::Unreachable,
            (false, false) => PgFaultKind::Lost,
        };
        return PgFault::new(kind, format!("the connection failed: {io}"));
    }
    let text = source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
    let kind = if error.is_closed() {
        PgFaultKind::Lost
    } else if text.contains("password missing") {
        PgFaultKind::Authentication
    } else if text.contains("connecting to server") || text.contains("timed out") {
        PgFaultKind::Unreachable
    } else if text.contains("TLS") {
        PgFaultKind::Certificate
    } else {
        PgFaultKind::Statement
    };
    PgFault::new(kind, text)
}
