//! Location of the store, with what the environment says about PostgreSQL.

use crate::{env, files};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use store::StoreLocation;
use store::postgres::PgEnvironment;

/// Reads a location. Never fails, since a usage error would print the text, which may have a password; it is checked when it is used.
pub(crate) fn parse_location(text: &str) -> Result<StoreLocation, Infallible> {
    Ok(StoreLocation::new(text, postgres_environment))
}

/// Returns the files in which passwords of PostgreSQL may be: the password file and the service file.
pub(crate) fn secret_files() -> [Option<PathBuf>; 2] {
    let home = |name: &str| env::var("HOME").map(|home| Path::new(&home).join(name));
    let file = |variable: &str, name: &str| env::var(variable).map(PathBuf::from).or_else(|| home(name));
    [file("PGPASSFILE", ".pgpass"), file("PGSERVICEFILE", ".pg_service.conf")]
}

/// Reads what PostgreSQL's own programs read.
fn postgres_environment() -> PgEnvironment {
    let [password_file, service_file] = secret_files();
    PgEnvironment {
        user: env::var("PGUSER").or_else(|| env::var("USER")).or_else(|| env::var("LOGNAME")),
        password: env::var("PGPASSWORD"),
        password_file: password_file.and_then(|path| files::read_private(&path)),
        service_file: service_file.and_then(|path| files::read_file(&path).ok()),
    }
}
