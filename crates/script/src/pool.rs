//! Evaluator's side: children that run scripts, killed at their deadline and replaced. Requests that wait are sent together, so that
//! neither side sleeps between them.

use crate::SCRIPT_ARGUMENT;
use crate::limits::ScriptLimits;
use crate::request::{ScriptReply, ScriptRequest};
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

/// Largest reply of a script.
const MAX_REPLY_BYTES: u64 = 16 << 20;
/// Time after the deadline of the engine until the process is killed, as a share of the deadline.
const GRACE: f64 = 0.5;
/// Least time until a process is killed, for its start on a busy machine.
const MIN_WAIT: Duration = Duration::from_millis(250);
/// Most requests that are sent together.
const MAX_BATCH: usize = 32;
/// Most bytes that are sent together. They fit into a pipe, so that sending never waits for a child that waits for us.
const MAX_BATCH_BYTES: usize = 48 << 10;

/// Failure of the machinery, not of a script.
#[derive(Debug, thiserror::Error)]
#[error("the process for scripts cannot be used: {0}")]
pub struct ScriptError(#[from] io::Error);

/// Children that run one script each at a time.
#[derive(Debug)]
pub struct ScriptPool {
    program: PathBuf,
    limits: ScriptLimits,
    size: usize,
    /// A request that gets a slot also serves those that wait.
    slots: Semaphore,
    waiting: Mutex<VecDeque<ScriptJob>>,
    idle: Mutex<Vec<HostProcess>>,
}

/// Request that waits for its reply.
#[derive(Debug)]
struct ScriptJob {
    lines: Vec<u8>,
    reply: oneshot::Sender<ScriptReply>,
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
        let size = size.max(1);
        Self { program, limits, size, slots: Semaphore::new(size), waiting: Mutex::default(), idle: Mutex::default() }
    }

    pub fn limits(&self) -> ScriptLimits {
        self.limits
    }

    /// Runs a request. A script that ends its process, or does not end in time, is stopped; others are not affected.
    ///
    /// # Errors
    /// If no process can be started.
    pub async fn run(&self, request: ScriptRequest) -> Result<ScriptReply, ScriptError> {
        let mut lines = vec![];
        request.write_to(&mut lines).map_err(io::Error::from)?;
        loop {
            let (reply, mut replied) = oneshot::channel();
            lock(&self.waiting).push_back(ScriptJob { lines: lines.clone(), reply });
            loop {
                let served = tokio::select! {
                    biased;
                    got = &mut replied => match got {
                        Ok(reply) => return Ok(reply),
                        // The request that served this one was given up.
                        Err(_) => break,
                    },
                    slot = self.slots.acquire() => {
                        let _slot = slot.map_err(io::Error::other)?;
                        self.serve().await?
                    }
                };
                if !served {
                    // Another request serves this one.
                    match (&mut replied).await {
                        Ok(reply) => return Ok(reply),
                        Err(_) => break,
                    }
                }
            }
        }
    }

    /// Sends requests that wait to a child, and hands out its replies. Returns false if none waits.
    async fn serve(&self) -> Result<bool, ScriptError> {
        let mut batch = self.take_batch();
        let found = !batch.is_empty();
        while !batch.is_empty() {
            let idle = lock(&self.idle).pop();
            let mut host = match idle {
                Some(host) => host,
                None => self.start().await?,
            };
            if self.answer(&mut host, &mut batch).await {
                lock(&self.idle).push(host);
            }
        }
        Ok(found)
    }

    /// Answers requests until the first that ends its process or takes too long. Returns whether the process can be used again.
    async fn answer(&self, host: &mut HostProcess, batch: &mut VecDeque<ScriptJob>) -> bool {
        let sent: Vec<u8> = batch.iter().flat_map(|job| job.lines.iter().copied()).collect();
        let limit = Duration::from_millis(self.limits.time_ms);
        let wait = (limit + limit.mul_f64(GRACE)).max(MIN_WAIT);
        let mut answered = timeout(wait, host.exchange(&sent)).await;
        while let Some(job) = batch.pop_front() {
            let stopped = match answered {
                Ok(Ok(reply)) => {
                    drop(job.reply.send(reply));
                    if batch.is_empty() {
                        return true;
                    }
                    answered = timeout(wait, host.read()).await;
                    continue;
                }
                Ok(Err(_)) => "it ended the process that ran it, for example by taking too much memory".to_owned(),
                Err(_) => format!("it took longer than {} ms, and its process was killed", self.limits.time_ms),
            };
            drop(job.reply.send(ScriptReply::Stopped(stopped)));
            return false;
        }
        true
    }

    /// Takes this child's share of the requests that wait.
    fn take_batch(&self) -> VecDeque<ScriptJob> {
        let mut waiting = lock(&self.waiting);
        let share = waiting.len().div_ceil(self.size).min(MAX_BATCH);
        let (mut batch, mut bytes) = (VecDeque::new(), 0);
        while batch.len() < share {
            if waiting.front().is_some_and(|job| bytes > 0 && bytes + job.lines.len() > MAX_BATCH_BYTES) {
                break;
            }
            let Some(job) = waiting.pop_front() else { break };
            bytes += job.lines.len();
            batch.push_back(job);
        }
        batch
    }

    async fn start(&self) -> io::Result<HostProcess> {
        let mut command = Command::new(&self.program);
        command.arg(SCRIPT_ARGUMENT).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let (input, output) = (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        let mut host = HostProcess { _child: child, input, output: BufReader::new(output) };
        let mut limits = serde_json::to_vec(&self.limits)?;
        limits.push(b'\n');
        host.write(&limits).await?;
        Ok(host)
    }
}

impl HostProcess {
    async fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        self.input.write_all(lines).await?;
        self.input.flush().await
    }

    /// Sends requests and reads the first reply.
    async fn exchange(&mut self, lines: &[u8]) -> io::Result<ScriptReply> {
        self.write(lines).await?;
        self.read().await
    }

    async fn read(&mut self) -> io::Result<ScriptReply> {
        let mut reply = vec![];
        (&mut self.output).take(MAX_REPLY_BYTES).read_until(b'\n', &mut reply).await?;
        Ok(serde_json::from_slice(&reply)?)
    }
}

/// Queues change by single pushes and pops, so a panic elsewhere cannot leave them half written.
fn lock<T>(queue: &Mutex<T>) -> MutexGuard<'_, T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
