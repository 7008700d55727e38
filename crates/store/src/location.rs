//! Location of a store: a file, or the URL of a database.

use crate::postgres::{PgEnvironment, PgTarget};
use std::fmt;
use std::path::{Path, PathBuf};

/// Folder of what is kept beside a store that is not a file.
const DEFAULT_FOLDER: &str = ".bardo-eval";

/// Location of a store. Shown without a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreLocation {
    /// SQLite file.
    File(PathBuf),
    /// PostgreSQL database.
    Postgres(PgTarget),
}

impl StoreLocation {
    /// Reads a location: a URL that begins with `postgres://` or `postgresql://`, else a file. The URL is checked when the store is opened.
    pub fn new(text: &str, environment: impl FnOnce() -> PgEnvironment) -> Self {
        if PgTarget::is_url(text) { StoreLocation::Postgres(PgTarget::new(text, environment())) } else { StoreLocation::File(text.into()) }
    }

    /// Returns the folder of what is kept beside the store.
    pub fn folder(&self) -> PathBuf {
        match self {
            StoreLocation::File(path) => path.parent().unwrap_or(Path::new(".")).to_owned(),
            StoreLocation::Postgres(_) => DEFAULT_FOLDER.into(),
        }
    }

    /// Returns the file of a store in a file.
    pub fn file(&self) -> Option<&Path> {
        match self {
            StoreLocation::File(path) => Some(path),
            StoreLocation::Postgres(_) => None,
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreLocation::File(path) => write!(f, "{}", path.display()),
            StoreLocation::Postgres(target) => write!(f, "{target}"),
        }
    }
}

impl From<&Path> for StoreLocation {
    fn from(path: &Path) -> Self {
        StoreLocation::File(path.to_owned())
    }
}

impl From<&PathBuf> for StoreLocation {
    fn from(path: &PathBuf) -> Self {
        StoreLocation::File(path.clone())
    }
}

impl From<PathBuf> for StoreLocation {
    fn from(path: PathBuf) -> Self {
        StoreLocation::File(path)
    }
}

impl From<&StoreLocation> for StoreLocation {
    fn from(location: &StoreLocation) -> Self {
        location.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_is_a_file_unless_it_is_a_database_url() {
        let unread = || -> PgEnvironment { unreachable!("a file needs no environment") };
        let file = StoreLocation::new("a/store.sqlite", unread);
        assert_eq!((file.file(), file.folder()), (Some(Path::new("a/store.sqlite")), PathBuf::from("a")));
        assert_eq!(file.to_string(), "a/store.sqlite");
        for url in ["postgres://host/runs", "postgresql://host/runs"] {
            let database = StoreLocation::new(url, PgEnvironment::default);
            assert_eq!((database.file(), database.folder()), (None, PathBuf::from(DEFAULT_FOLDER)), "{url}");
        }
    }
}
