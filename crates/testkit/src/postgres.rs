//! PostgreSQL server for tests, started by `scripts/postgres-server` on a private socket. It ends with the process of the tests.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Server of one test process.
#[derive(Debug)]
pub struct PostgresServer {
    /// Folder of the socket.
    folder: PathBuf,
    binaries: PathBuf,
    port: Option<u16>,
    control: Mutex<ServerControl>,
    databases: AtomicU64,
}

/// Pipes to the script. It stops the server when they close.
#[derive(Debug)]
struct ServerControl {
    _script: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl PostgresServer {
    /// Returns the server that the tests of this process share, each with a database of its own.
    ///
    /// # Panics
    /// If PostgreSQL is missing or does not start: tests that need it fail without it.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<PostgresServer> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(None))
    }

    /// Starts a server; with a port also on 127.0.0.1, with TLS and passwords.
    ///
    /// # Panics
    /// If PostgreSQL is missing or does not start.
    pub fn start(port: Option<u16>) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres-server");
        let mut command = Command::new(script);
        if let Some(port) = port {
            command.arg("--port").arg(port.to_string());
        }
        let mut script = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("scripts/postgres-server starts");
        let (commands, answers) = (script.stdin.take().expect("a pipe"), script.stdout.take().expect("a pipe"));
        let mut control = ServerControl { _script: script, commands, answers: BufReader::new(answers) };
        let line = control.answer();
        let mut words = line.split_whitespace().skip(1).map(PathBuf::from);
        let folder = words.next().expect("PostgreSQL starts; scripts/install-test-tools installs it");
        let binaries = words.next().expect("the folder of its programs");
        Self { folder, binaries, port, control: Mutex::new(control), databases: AtomicU64::new(0) }
    }

    /// Creates an empty database and returns its URL on the socket.
    pub fn create_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// Returns the URL of a database on the socket.
    pub fn url(&self, database: &str) -> String {
        let port = self.port.map(|port| format!("&port={port}")).unwrap_or_default();
        format!("postgres://bardo@/{database}?host={}{port}", self.folder.display())
    }

    /// Returns the certificate of the authority that signed that of a server with a port, for `localhost`.
    pub fn root_certificate(&self) -> PathBuf {
        self.folder.join("root.crt")
    }

    /// Runs SQL in a database and returns the rows, fields separated by `|`.
    ///
    /// # Panics
    /// If the server refuses it.
    pub fn psql(&self, database: &str, sql: &str) -> String {
        let mut command = Command::new(self.binaries.join("psql"));
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "bardo", "-h"]).arg(&self.folder);
        if let Some(port) = self.port {
            command.arg("-p").arg(port.to_string());
        }
        let output = command.args(["-d", database, "-c", sql]).stdin(Stdio::null()).output().expect("psql runs");
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Kills the server as a crash would, and starts it again.
    pub fn restart(&self) {
        drop(self.send("restart"));
    }

    /// Kills the server as a crash would.
    pub fn stop(&self) {
        drop(self.send("stop"));
    }

    /// Starts a replica that follows the server and returns the URL of a database on it.
    ///
    /// # Panics
    /// If the replica does not start.
    pub fn start_standby(&self, database: &str) -> String {
        let answer = self.send("standby");
        let folder = answer.split_whitespace().nth(1).expect("the replica starts");
        format!("postgres://bardo@/{database}?host={folder}")
    }

    /// Returns the folder of the server.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn send(&self, command: &str) -> String {
        let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(control.commands, "{command}").expect("the script listens");
        let answer = control.answer();
        assert!(answer.starts_with("ready") || answer.starts_with("stopped"), "{answer}");
        answer
    }
}

impl ServerControl {
    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the script answers");
        line
    }
}
