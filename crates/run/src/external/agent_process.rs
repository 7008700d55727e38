//! Process of an external agent: empty working folder, minimal environment, separate session, and killed with all its descendants.

use super::agent_output::{OutputMonitor, StderrTail, telling_line};
use super::orphans;
use launcher::{LaunchRequest, LaunchedProgram, LauncherConnection, ProgramInput, ProgramLaunch};
use process_wrap::tokio::ChildWrapper;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

/// Size of the stderr tail that the exit summary is taken from.
const STDERR_TAIL_BYTES: usize = 8 * 1024;
/// Time for a program to exit by itself after it closed stdout.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// Temporary folders of one agent in one trial, deleted on drop.
#[derive(Debug)]
pub(super) struct AgentHome {
    folder: TempDir,
}

impl AgentHome {
    pub(super) fn new() -> io::Result<Self> {
        let folder = sync_fs::private_folder()?;
        for name in ["work", "home", "tmp"] {
            sync_fs::create(&folder.path().join(name))?;
        }
        Ok(Self { folder })
    }

    /// Returns the folder that holds all others.
    pub(super) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the working folder. Empty at first, and the same for all turns of a trial.
    pub(super) fn work_dir(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file beside the working folder, which stays empty.
    pub(super) fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.path(name);
        sync_fs::write(&path, text)?;
        Ok(path)
    }
}

/// Synchronous file access, limited to the agent's temporary folder.
mod sync_fs {
    #![expect(clippy::disallowed_methods, reason = "temporary folder for the agent process")]

    /// Creates a folder that other users of the machine cannot enter: it holds the token of the trial.
    pub(super) fn private_folder() -> std::io::Result<tempfile::TempDir> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("bardo-eval-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        builder.tempdir()
    }

    pub(super) fn create(path: &std::path::Path) -> std::io::Result<()> {
        std::fs::create_dir(path)
    }

    pub(super) fn write(path: &std::path::Path, text: &str) -> std::io::Result<()> {
        std::fs::write(path, text)
    }
}

#[derive(Debug)]
pub(super) struct AgentProcess {
    inner: Box<dyn ChildWrapper>,
    /// Ends the program when it is closed, also by the death of this process.
    _lifeline: LauncherConnection,
    pid: Option<u32>,
    /// Value of [`orphans::AGENT_ENV_VAR`], inherited by children unless they remove it.
    env_mark: String,
    stderr_tail: Arc<Mutex<StderrTail>>,
    monitor: Arc<OutputMonitor>,
    stderr_task: JoinHandle<()>,
}

impl AgentProcess {
    /// Starts the program. `env` is its complete environment but for the mark.
    pub(super) async fn start(
        request: &LaunchRequest,
        mut env: Vec<(String, String)>,
        mark: &str,
        work: &Path,
        monitor: Arc<OutputMonitor>,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        orphans::become_subreaper();
        env.push((orphans::AGENT_ENV_VAR.to_owned(), mark.to_owned()));
        let launch = ProgramLaunch { request, env: &env, folder: Some(work), input: ProgramInput::Piped };
        let LaunchedProgram { child, stdin, stdout, stderr, lifeline } = LaunchedProgram::start(launch).await?;
        let pid = child.id();
        if let Some(pid) = pid {
            orphans::register_agent(pid);
        }
        monitor.note_start();
        let tail = Arc::<Mutex<StderrTail>>::default();
        let listener = tokio::spawn(collect_stderr(stderr, tail.clone(), monitor.clone()));
        let env_mark = mark.to_owned();
        let process = Self { inner: child, _lifeline: lifeline, pid, env_mark, stderr_tail: tail, monitor, stderr_task: listener };
        Ok((process, stdin.ok_or_else(|| io::Error::other("a pipe is missing"))?, stdout))
    }

    /// Returns the monitor of the agent's output.
    pub(super) fn monitor(&self) -> &Arc<OutputMonitor> {
        &self.monitor
    }

    pub(super) fn is_busy(&self) -> bool {
        self.pid.is_some_and(orphans::is_busy)
    }

    /// Waits for the program itself, not for its children. Cancel-safe.
    pub(super) async fn wait_exit(&mut self) -> io::Result<ExitStatus> {
        self.inner.inner_mut().wait().await
    }

    /// Waits until the program has exited with a failure. One that exits with success may have left its work to a child. Cancel-safe.
    pub(super) async fn failed(&mut self) {
        if self.wait_exit().await.is_ok_and(|status| status.success()) {
            std::future::pending::<()>().await;
        }
    }

    /// Describes in one line how the program exited, after waiting briefly for its exit.
    pub(super) async fn exit_summary(&mut self) -> String {
        let how = match tokio::time::timeout(EXIT_GRACE, self.wait_exit()).await {
            Ok(Ok(status)) => describe_exit(status),
            Ok(Err(error)) => format!("waiting for the exit failed: {error}"),
            Err(_) => "it closed stdout but kept running".to_owned(),
        };
        // The end of stderr may not have been read yet.
        let _ = tokio::time::timeout(Duration::from_millis(50), &mut self.stderr_task).await;
        let tail = self.stderr_tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = tail.text(self.monitor.secrets());
        match telling_line(&text) {
            Some(line) => format!("{how}: {}", printable(line, 300)),
            None => how,
        }
    }
}

pub(super) fn describe_exit(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("it exited with code {code}"),
        None => "it was killed".to_owned(),
    }
}

/// Shortens agent text to one printable line of at most `most` characters.
pub(super) fn printable(text: &str, most: usize) -> String {
    let short: String = text.trim().chars().filter(|c| !c.is_control()).take(most).collect();
    if text.trim().chars().count() > most { format!("{short}…") } else { short }
}

// Runs also when the trial is cancelled.
impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.stderr_task.abort();
        let family = self.pid.map(|pid| orphans::descendants(pid, &self.env_mark)).unwrap_or_default();
        let _ = self.inner.start_kill();
        if let Some(pid) = self.pid {
            orphans::kill_descendants(pid, &self.env_mark, family);
        }
    }
}

/// Reads all of stderr, so that the program never blocks on a full pipe, and keeps only the end.
async fn collect_stderr(mut stderr: ChildStderr, tail: Arc<Mutex<StderrTail>>, monitor: Arc<OutputMonitor>) {
    let most = STDERR_TAIL_BYTES + monitor.secrets().longest_form();
    let mut chunk = vec![0; 16 * 1024];
    while let Ok(n @ 1..) = stderr.read(&mut chunk).await {
        monitor.add_stderr(&chunk[..n]);
        tail.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..n], most);
    }
}
