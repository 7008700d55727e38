//! Workspace with a loopback vendor, a PostgreSQL server, and the program as watcher and worker.

use crate::crash::fixture::{CrashFixture, CrashOutput, wait_for_exit};
use std::time::Duration;
use testkit::PostgresServer;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

pub(super) struct ScaleFixture {
    pub(super) stage: CrashFixture,
    pub(super) server: PostgresServer,
    url: String,
    database: String,
}

const LONGEST_WAIT: Duration = Duration::from_secs(300);

impl ScaleFixture {
    pub(super) async fn new() -> Self {
        let stage = CrashFixture::new().await;
        let server = PostgresServer::start(None);
        let url = server.create_database();
        let database = url.split(['/', '?']).nth(3).unwrap().to_owned();
        Self { stage, server, url, database }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Starts a watcher of a new run.
    pub(super) fn watch(&self, args: &[&str]) -> Child {
        self.spawn(&[&["run", "--workers", "0", "--format", "json"], args].concat())
    }

    /// Starts a watcher of the run that was interrupted, with a worker beside it if none is there.
    pub(super) fn resume(&self, args: &[&str]) -> Child {
        self.spawn(&[&["run", "--resume", "--workers", "0", "--format", "json"], args].concat())
    }

    /// Starts a worker with a short lease.
    pub(super) fn work(&self, args: &[&str]) -> Child {
        self.spawn(&[&["work", "--lease", "3"], args].concat())
    }

    pub(super) fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.stage.command(&[args, &["--store", &self.url]].concat());
        command.env("PATH", "/usr/bin:/bin");
        command
    }

    /// Uses another database of the server.
    pub(super) fn use_database(&mut self, name: &str) {
        self.url = self.server.url(name);
        self.database = name.to_owned();
    }

    pub(super) fn database(&self) -> &str {
        &self.database
    }

    pub(super) async fn output(&self, args: &[&str]) -> CrashOutput {
        wait_for_exit(self.spawn(args)).await
    }

    /// Runs SQL in the schema of the store.
    pub(super) fn sql(&self, sql: &str) -> String {
        self.server.psql(&self.database, &format!("SET search_path TO bardo_eval; {sql}"))
    }

    /// Cuts all connections of the program to the server.
    pub(super) fn cut_connections(&self) {
        let cut = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()",
            self.database
        );
        self.server.psql("postgres", &cut);
    }

    pub(super) async fn wait_for_requests(&self, asked: u64) {
        let wait = async {
            while self.stage.request_count() < asked {
                sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(LONGEST_WAIT, wait).await.unwrap_or_else(|_| panic!("only {} of {asked} requests came", self.stage.request_count()));
    }

    /// Waits until so many trials are queued.
    pub(super) async fn wait_for_jobs(&self, jobs: u64) {
        let exists = || self.sql("SELECT to_regclass('jobs') IS NOT NULL") == "t";
        let wait = async {
            while !exists() || self.sql("SELECT count(*) FROM jobs") != jobs.to_string() {
                sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(LONGEST_WAIT, wait).await.unwrap_or_else(|_| panic!("the trials were not queued"));
    }
}

/// Asks a process to stop.
pub(super) async fn terminate(child: &Child) {
    let id = child.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().await.unwrap().success());
}

pub(super) async fn end(child: Child) -> CrashOutput {
    wait_for_exit(child).await
}
