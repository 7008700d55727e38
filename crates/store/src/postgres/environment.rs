//! Environment of the process as far as PostgreSQL is concerned: user, password, password file and service file.

use std::fmt;

/// Values from the environment, read by the caller. Secrets are never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PgEnvironment {
    /// `PGUSER`, or the name of the user of the system.
    pub user: Option<String>,
    /// `PGPASSWORD`.
    pub password: Option<String>,
    /// Content of `PGPASSFILE` or `~/.pgpass`.
    pub password_file: Option<String>,
    /// Content of `PGSERVICEFILE` or `~/.pg_service.conf`.
    pub service_file: Option<String>,
}

impl fmt::Debug for PgEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgEnvironment").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Place whose password is looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PasswordKey<'k> {
    pub host: &'k str,
    pub port: u16,
    pub database: &'k str,
    pub user: &'k str,
}

impl PgEnvironment {
    /// Returns the password of a place: that of the environment, or of the first line of the password file that fits.
    pub(crate) fn password_of(&self, key: &PasswordKey<'_>) -> Option<String> {
        let from_file = || self.password_file.as_deref()?.lines().find_map(|line| password_of_line(line, key));
        self.password.clone().or_else(from_file)
    }

    /// Returns the settings of a service; `None` if the file does not have it.
    pub(crate) fn service(&self, name: &str) -> Option<Vec<(String, String)>> {
        let mut lines = self.service_file.as_deref()?.lines().map(str::trim);
        lines.find(|line| line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) == Some(name))?;
        let settings = lines.take_while(|line| !line.starts_with('['));
        let settings = settings.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
        Some(settings.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect())
    }
}

/// Returns the password of a line `host:port:database:user:password`, if its first four fields fit. `*` fits everything.
fn password_of_line(line: &str, key: &PasswordKey<'_>) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => fields.last_mut()?.extend(chars.next()),
            ':' if fields.len() < 5 => fields.push(String::new()),
            other => fields.last_mut()?.push(other),
        }
    }
    let [host, port, database, user, password] = fields.as_slice() else { return None };
    let fits = |field: &str, wanted: &str| field == "*" || field == wanted;
    let host_fits = fits(host, key.host) || (key.host.starts_with('/') && host == "localhost");
    (host_fits && fits(port, &key.port.to_string()) && fits(database, key.database) && fits(user, key.user)).then(|| password.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_file_is_read_as_psql_reads_it() {
        let password_file = Some("# comment\ndb:5432:*:ann:one\nlocalhost:*:runs:bob:a\\:b\\\\c:d\n*:*:*:*:rest\n".to_owned());
        let environment = PgEnvironment { password_file, ..PgEnvironment::default() };
        let of = |host, port, database, user| environment.password_of(&PasswordKey { host, port, database, user }).unwrap();
        assert_eq!(of("db", 5432, "x", "ann"), "one");
        assert_eq!(of("db", 5433, "x", "ann"), "rest");
        assert_eq!(of("/run/postgresql", 1, "runs", "bob"), "a:b\\c:d");
        let environment = PgEnvironment { password: Some("env".into()), ..environment };
        assert_eq!(environment.password_of(&PasswordKey { host: "db", port: 5432, database: "x", user: "ann" }).unwrap(), "env");
        assert!(!format!("{environment:?}").contains("env\""), "secrets are not shown");
    }

    #[test]
    fn service_file_has_sections() {
        let service_file = Some("[other]\nhost=a\n\n[evals]\n# c\nhost = db\nport=6432\n[last]\nhost=z\n".to_owned());
        let environment = PgEnvironment { service_file, ..PgEnvironment::default() };
        assert_eq!(environment.service("evals").unwrap(), [("host".into(), "db".into()), ("port".into(), "6432".into())]);
        assert!(environment.service("none").is_none());
    }
}
