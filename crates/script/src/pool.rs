//! Evaluator's side: children that run scripts, killed at their deadline and replaced.

use crate::SCRIPT_ARGUMENT;
use crate::engine::ScriptLimits;
use crate::host::HostRequest;
use crate::request::{ScriptReply, ScriptRequest};
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Largest reply of a script.
const MAX_REPLY_BYTES: u64 = 16 << 20;
/// Time after the deadline of the engine until the process is killed, as a share of the deadline.
const GRACE: f64 = 0.5;
/// Least time until a process is killed, for its start on a busy machine.
const MIN_WAIT: Duration = Duration::from_millis(250);

/// Failure of the machinery, not of a script.
#[derive(Debug, thiserror::Error)]
#[error("the process for scripts cannot be used: {0}")]
pub struct ScriptError(#[from] io::Error);

/// Children that run one script each at a time.
#[derive(Debug)]
pub struct ScriptPool {
    program: PathBuf,
    limits: ScriptLimits,
    slots: Semaphore,
    idle: Mutex<Vec<HostProcess>>,
}

#[derive(Debug)]
struct HostProcess {
    // Killed when dropped.
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl ScriptPool {
    /// Makes a pool of at most `size` children of this program.
    pub fn new(program: PathBuf, limits: ScriptLimits, size: usize) -> Self {
        Self { program, limits, slots: Semaphore::new(size.max(1)), idle: Mutex::new(vec![]) }
    }

    pub fn limits(&self) -> ScriptLimits {
        self.limits
    }

    /// Runs a request. A script that ends its process, or does not end in time, is stopped; others are not affected.
    ///
    /// # Errors
    /// If no process can be started.
    pub async fn run(&self, request: ScriptRequest) -> Result<ScriptReply, ScriptError> {
        let _slot = self.slots.acquire().await.map_err(io::Error::other)?;
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut host = match idle {
            Some(host) => host,
            None => self.start()?,
        };
        let limit = Duration::from_millis(self.limits.time_ms);
        let wait = (limit + limit.mul_f64(GRACE)).max(MIN_WAIT);
        let mut line = serde_json::to_vec(&HostRequest { request, limits: self.limits }).map_err(io::Error::from)?;
        line.push(b'\n');
        match timeout(wait, host.ask(&line)).await {
            Ok(Ok(reply)) => {
                if let Ok(mut idle) = self.idle.lock() {
                    idle.push(host);
                }
                Ok(reply)
            }
            Ok(Err(_)) => Ok(ScriptReply::Stopped("it ended the process that ran it, for example by taking too much memory".to_owned())),
            Err(_) => Ok(ScriptReply::Stopped(format!("it took longer than {} ms, and its process was killed", self.limits.time_ms))),
        }
    }

    fn start(&self) -> io::Result<HostProcess> {
        let mut command = Command::new(&self.program);
        command.arg(SCRIPT_ARGUMENT).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let (input, output) = (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        Ok(HostProcess { _child: child, input, output: BufReader::new(output) })
    }
}

impl HostProcess {
    async fn ask(&mut self, line: &[u8]) -> io::Result<ScriptReply> {
        self.input.write_all(line).await?;
        self.input.flush().await?;
        let mut reply = vec![];
        (&mut self.output).take(MAX_REPLY_BYTES).read_until(b'\n', &mut reply).await?;
        Ok(serde_json::from_slice(&reply)?)
    }
}
