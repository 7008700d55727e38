//! URL of a PostgreSQL store and the settings that follow from it.

use super::environment::{PasswordKey, PgEnvironment};
use super::fault::{PgFault, PgFaultKind};
use super::schema::SCHEMA_NAME;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

const SCHEMES: &[&str] = &["postgres://", "postgresql://"];
const DEFAULT_PORT: u16 = 5432;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const PARAMETERS: &str = "host, port, user, dbname, sslmode, sslrootcert, connect_timeout, application_name, service";

/// Database that a URL names. Shown without a password, which it must not have.
#[derive(Clone, PartialEq, Eq)]
pub struct PgTarget {
    url: String,
    environment: PgEnvironment,
}

/// Encryption of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsMode {
    Disable,
    /// Encrypts if the server can.
    Prefer,
    /// Encrypts, but does not check the certificate.
    Require,
    /// Encrypts, and checks certificate and host name.
    VerifyFull,
}

/// Settings of a connection.
#[derive(Clone)]
pub(crate) struct PgSettings {
    /// Host name, address or folder of a socket.
    pub host: String,
    pub port: u16,
    pub user: String,
    pub database: String,
    pub password: Option<String>,
    pub tls: TlsMode,
    pub root_certificate: Option<PathBuf>,
    pub timeout: Duration,
    pub application_name: String,
    /// Schema in which names are looked up first.
    pub schema: &'static str,
}

impl PgTarget {
    /// Returns whether a text is the URL of a PostgreSQL store.
    pub fn is_url(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    pub fn new(url: impl Into<String>, environment: PgEnvironment) -> Self {
        Self { url: url.into(), environment }
    }

    /// Returns host, port and database, which name the same store for every user.
    ///
    /// # Errors
    /// If the URL cannot be read.
    pub(crate) fn place(&self) -> Result<String, PgFault> {
        let PgSettings { host, port, database, .. } = self.settings()?;
        Ok(format!("{host}\n{port}\n{database}"))
    }

    /// Reads the URL.
    ///
    /// # Errors
    /// If it has a password, or cannot be read. The text of the error shows no part that may be secret.
    pub(crate) fn settings(&self) -> Result<PgSettings, PgFault> {
        let mut draft = SettingsDraft::default();
        let rest = SCHEMES.iter().find_map(|scheme| self.url.strip_prefix(scheme)).unwrap_or_default();
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        if user.contains(':') {
            return Err(PgFault::new(PgFaultKind::PasswordInUrl, "the URL of the store has a password"));
        }
        draft.set("user", &decode(user)?)?;
        draft.set("dbname", &decode(database)?)?;
        draft.set_host(host)?;
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if key.eq_ignore_ascii_case("password") {
                return Err(PgFault::new(PgFaultKind::PasswordInUrl, "the URL of the store has a password"));
            }
            draft.set(key, &decode(value)?)?;
        }
        draft.finish(&self.environment)
    }
}

impl fmt::Display for PgTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
        // A password may have the characters that end the other parts, so everything up to the last @ belongs to it.
        match rest.rsplit_once('@').filter(|(before, _)| before.contains(':')) {
            Some((before, after)) => {
                let user = before.split(':').next().unwrap_or_default();
                return write!(f, "{scheme}://{user}:***@{}", after.split('?').next().unwrap_or_default());
            }
            None => write!(f, "{scheme}://{place}")?,
        }
        for (n, part) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
            let sign = if n == 0 { '?' } else { '&' };
            let secret = part.get(..8).is_some_and(|key| key.eq_ignore_ascii_case("password"));
            write!(f, "{sign}{}", if secret { "password=***" } else { part })?;
        }
        Ok(())
    }
}

impl fmt::Debug for PgTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PgTarget({self})")
    }
}

impl fmt::Debug for PgSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgSettings").field("host", &self.host).field("database", &self.database).finish_non_exhaustive()
    }
}

/// Settings as they are collected; what the URL says goes before what the service file says.
#[derive(Default)]
struct SettingsDraft {
    host: Option<String>,
    port: Option<u16>,
    user: Option<String>,
    database: Option<String>,
    password: Option<String>,
    tls: Option<TlsMode>,
    root_certificate: Option<PathBuf>,
    timeout: Option<Duration>,
    application_name: Option<String>,
    service: Option<String>,
}

impl SettingsDraft {
    fn set(&mut self, key: &str, value: &str) -> Result<(), PgFault> {
        if value.is_empty() {
            return Ok(());
        }
        let number = || value.parse::<u16>().map_err(|_| url_fault(format!("{key} in the URL of the store is not a number")));
        match key {
            "host" => keep(&mut self.host, value.to_owned()),
            "port" => keep(&mut self.port, number()?),
            "user" => keep(&mut self.user, value.to_owned()),
            "dbname" => keep(&mut self.database, value.to_owned()),
            "password" => keep(&mut self.password, value.to_owned()),
            "sslmode" => keep(&mut self.tls, tls_mode(value)?),
            "sslrootcert" => keep(&mut self.root_certificate, value.into()),
            "connect_timeout" => keep(&mut self.timeout, Duration::from_secs(number()?.max(1).into())),
            "application_name" => keep(&mut self.application_name, value.to_owned()),
            "service" => keep(&mut self.service, value.to_owned()),
            _ => return Err(url_fault(format!("the URL of the store has an unknown parameter; the known ones are {PARAMETERS}"))),
        }
        Ok(())
    }

    /// Takes `host:port`, `[address]:port` or nothing.
    fn set_host(&mut self, text: &str) -> Result<(), PgFault> {
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, rest)) => (address, rest.strip_prefix(':').unwrap_or_default()),
            None => text.rsplit_once(':').unwrap_or((text, "")),
        };
        self.set("host", &decode(host)?)?;
        self.set("port", port)
    }

    fn finish(mut self, environment: &PgEnvironment) -> Result<PgSettings, PgFault> {
        if let Some(name) = self.service.take() {
            let unknown = || url_fault(format!("there is no service \"{name}\" in the service file (PGSERVICEFILE or ~/.pg_service.conf)"));
            for (key, value) in environment.service(&name).ok_or_else(unknown)? {
                self.set(&key, &value)?;
            }
        }
        let host = self.host.ok_or_else(|| url_fault("the URL of the store names no host"))?;
        let user = self.user.or_else(|| environment.user.clone()).ok_or_else(|| url_fault("the URL of the store names no user"))?;
        let database = self.database.unwrap_or_else(|| user.clone());
        let port = self.port.unwrap_or(DEFAULT_PORT);
        let key = PasswordKey { host: &host, port, database: &database, user: &user };
        let password = environment.password.clone().or(self.password).or_else(|| environment.password_of(&key));
        // A socket has no name that a certificate could be checked for, and nothing leaves the machine.
        let wanted = self.tls.filter(|_| !host.starts_with('/'));
        let tls = wanted.unwrap_or(if is_local(&host) { TlsMode::Disable } else { TlsMode::VerifyFull });
        let timeout = self.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let application_name = self.application_name.unwrap_or_else(|| "bardo-eval".to_owned());
        Ok(PgSettings {
            password,
            tls,
            root_certificate: self.root_certificate,
            timeout,
            application_name,
            host,
            port,
            user,
            database,
            schema: SCHEMA_NAME,
        })
    }
}

/// Sets a value unless it is set.
fn keep<T>(place: &mut Option<T>, value: T) {
    place.get_or_insert(value);
}

/// Returns whether a host is a socket or this machine, where nothing leaves the machine.
fn is_local(host: &str) -> bool {
    host.starts_with('/') || host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn tls_mode(word: &str) -> Result<TlsMode, PgFault> {
    match word {
        "disable" => Ok(TlsMode::Disable),
        "prefer" => Ok(TlsMode::Prefer),
        "require" => Ok(TlsMode::Require),
        "verify-full" => Ok(TlsMode::VerifyFull),
        _ => Err(url_fault("sslmode is disable, prefer, require or verify-full")),
    }
}

fn url_fault(what: impl Into<String>) -> PgFault {
    PgFault::new(PgFaultKind::Url, what)
}

/// Decodes `%2F` and the like.
fn decode(text: &str) -> Result<String, PgFault> {
    let mut bytes = vec![];
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
        let (Some(high), Some(low)) = (digit(tail.first()), digit(tail.get(1))) else {
            return Err(url_fault("the URL of the store has a % without two hexadecimal digits"));
        };
        bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
        rest = tail.get(2..).unwrap_or_default();
    }
    String::from_utf8(bytes).map_err(|_| url_fault("the URL of the store is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> PgEnvironment {
        let service_file = Some("[evals]\nhost=db.example\ndbname=runs\nuser=ann\npassword=sesame\n".to_owned());
        PgEnvironment { user: Some("me".into()), service_file, ..PgEnvironment::default() }
    }

    fn settings(url: &str) -> Result<PgSettings, PgFault> {
        PgTarget::new(url, environment()).settings()
    }

    #[test]
    fn urls_name_host_socket_and_service() {
        let tcp = settings("postgres://ann@db.example:6432/runs?connect_timeout=3").unwrap();
        assert_eq!((tcp.host.as_str(), tcp.port, tcp.user.as_str(), tcp.database.as_str()), ("db.example", 6432, "ann", "runs"));
        assert_eq!((tcp.tls, tcp.timeout), (TlsMode::VerifyFull, Duration::from_secs(3)));
        let socket = settings("postgresql:///runs?host=%2Frun%2Fpostgresql").unwrap();
        assert_eq!((socket.host.as_str(), socket.user.as_str(), socket.tls), ("/run/postgresql", "me", TlsMode::Disable));
        let address = settings("postgres://[::1]:7000/a%20b?sslmode=prefer").unwrap();
        assert_eq!((address.host.as_str(), address.port, address.database.as_str(), address.tls), ("::1", 7000, "a b", TlsMode::Prefer));
        let service = settings("postgres://?service=evals").unwrap();
        assert_eq!((service.user.as_str(), service.password.as_deref()), ("ann", Some("sesame")));
        assert_eq!(settings("postgres://bob@/x?service=evals").unwrap().user, "bob", "the URL goes before the service");
    }

    #[test]
    fn passwords_in_urls_are_refused_and_never_shown() {
        for url in [
            "postgres://ann:hunter2@db/runs",
            "postgres://ann:hunter2/x@db/runs",
            "postgres://ann:hunter2?x@db/runs",
            "postgres://ann:@hunter2@db/runs?a=b",
            "postgres://db/runs?password=hunter2",
            "postgres://db/runs?sslmode=disable&PASSWORD=hunter2",
            "postgres://ann:hunter2@db/runs?sslmode=nonsense",
        ] {
            let fault = settings(url).unwrap_err();
            let shown = format!("{} {fault} {fault:?} {:?}", PgTarget::new(url, environment()), PgTarget::new(url, environment()));
            assert!(!shown.contains("hunter2"), "{shown}");
            assert!(matches!(fault.kind, PgFaultKind::PasswordInUrl | PgFaultKind::Url), "{url}");
        }
        let url = "postgres://ann@db:1/runs?sslmode=require&application_name=x";
        assert_eq!(PgTarget::new(url, environment()).to_string(), url);
        assert!(!format!("{:?}", settings("postgres://?service=evals").unwrap()).contains("sesame"));
    }

    #[test]
    fn wrong_urls_are_refused() {
        for url in
            ["postgres:///runs", "postgres://db:port/runs", "postgres://db/%zz", "postgres://db/x?sslmode=maybe", "postgres://db/x?foo=1"]
        {
            assert_eq!(settings(url).unwrap_err().kind, PgFaultKind::Url, "{url}");
        }
        assert_eq!(settings("postgres://?service=none").unwrap_err().kind, PgFaultKind::Url);
    }
}
