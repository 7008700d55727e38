//! MCP server as a child process: started with an explicit environment, its stderr captured, and killed on drop.

use std::io;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::printable::printable_lines;

/// Bytes of stderr shown in an error: the end, which contains the reason.
const MAX_STDERR_BYTES: usize = 2048;
/// Time for a server to exit after its stdin was closed.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// Time for the kernel to end the process after SIGKILL.
const REAP_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct ServerProcess {
    inner: Box<dyn ChildWrapper>,
    tail: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
    gone: bool,
}

#[derive(Debug)]
pub(super) struct ServerPipes {
    pub(super) stdin: LenientStdin,
    pub(super) stdout: ChildStdout,
}

/// Exit of a child process.
#[derive(Debug)]
pub(super) struct ProcessExit {
    /// `None` if it had to be killed.
    pub(super) status: Option<ExitStatus>,
    pub(super) stderr: String,
}

impl ServerProcess {
    pub(super) fn start(program: &str, args: &[String], env: &[(String, String)]) -> io::Result<(ServerProcess, ServerPipes)> {
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut command = CommandWrap::from(command);
        // Launchers such as npx start the server as a grandchild, so the whole process group must be killed.
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        let mut inner = command.spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let stdin = inner.stdin().take().ok_or_else(missing)?;
        let stdout = inner.stdout().take().ok_or_else(missing)?;
        let stderr = inner.stderr().take().ok_or_else(missing)?;
        let tail = Arc::default();
        let listener = tokio::spawn(read_stderr(stderr, Arc::clone(&tail)));
        Ok((ServerProcess { inner, tail, listener, gone: false }, ServerPipes { stdin: LenientStdin(stdin), stdout }))
    }

    /// Waits briefly for the child to exit, then kills its process group.
    pub(super) async fn stop(mut self) -> ProcessExit {
        let left = tokio::time::timeout(EXIT_GRACE, self.inner.wait()).await;
        // An error means that the group has already ended.
        let _ = self.inner.start_kill();
        let _ = tokio::time::timeout(REAP_TIMEOUT, self.inner.wait()).await;
        self.gone = true;
        // A process that left the group may keep stderr open.
        let _ = tokio::time::timeout(EXIT_GRACE, &mut self.listener).await;
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        ProcessExit { status: left.ok().and_then(Result::ok), stderr: printable_lines(&String::from_utf8_lossy(&tail)) }
    }
}

/// Stdin of the child that ignores write errors. A child may print the reason for its exit without reading stdin, and a failed
/// write would end the session before that output is read.
#[derive(Debug)]
pub(super) struct LenientStdin(ChildStdin);

impl AsyncWrite for LenientStdin {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf).map(|written| Ok(written.unwrap_or(buf.len())))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx).map(|_| Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx).map(|_| Ok(()))
    }
}

// The caller may be dropped during a listing, for example on Ctrl-C.
impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.listener.abort();
        if !self.gone {
            let _ = self.inner.start_kill();
        }
    }
}

async fn read_stderr(mut stderr: ChildStderr, tail: Arc<Mutex<Vec<u8>>>) {
    let mut chunk = [0; MAX_STDERR_BYTES];
    while let Ok(n @ 1..) = stderr.read(&mut chunk).await {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&chunk[..n]);
        let excess = tail.len().saturating_sub(MAX_STDERR_BYTES);
        tail.drain(..excess);
    }
}
