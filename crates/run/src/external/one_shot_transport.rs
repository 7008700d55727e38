//! Transport for `mcp:` agents, which do not use the protocol: prompt on stdin, tools over MCP, answer on stdout at exit.

use super::agent_output::OutputMonitor;
use super::agent_process::AgentProcess;
use super::message::AgentMessage;
use crate::subjects::SubjectFault;
use model::transcript::{LimitKind, Move};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Maximum size of stdout.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// Time for remaining output to arrive after exit; a leftover child may keep the pipe open forever.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);

/// Process for one turn, started with the whole conversation.
#[derive(Debug)]
pub(super) struct OneShotTransport {
    child: AgentProcess,
    output: Arc<Mutex<Vec<u8>>>,
    status: watch::Receiver<OutputStatus>,
    tasks: [JoinHandle<()>; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutputStatus {
    Partial,
    Complete,
    TooLarge,
}

impl OneShotTransport {
    pub(super) fn child(&self) -> &AgentProcess {
        &self.child
    }

    pub(super) fn new(child: AgentProcess, mut stdin: ChildStdin, stdout: ChildStdout, input: String) -> Self {
        let writing = tokio::spawn(async move {
            // A program that gets the prompt as an argument may not read stdin.
            let _ = stdin.write_all(input.as_bytes()).await;
            let _ = stdin.shutdown().await;
        });
        let output = Arc::<Mutex<Vec<u8>>>::default();
        let (sender, status) = watch::channel(OutputStatus::Partial);
        let reading = tokio::spawn(read_output(stdout, output.clone(), sender, child.monitor().clone()));
        Self { child, output, status, tasks: [writing, reading] }
    }

    /// Waits for the process to exit or exceed the output limit. Cancel-safe.
    pub(super) async fn receive(&mut self) -> Result<AgentMessage, SubjectFault> {
        let status = tokio::select! {
            Ok(_) = self.status.wait_for(|got| *got == OutputStatus::TooLarge) => return Err(SubjectFault::OverLimit(LimitKind::Output)),
            status = self.child.wait_exit() => status,
        };
        if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
            return Err(SubjectFault::Crashed(self.child.exit_summary().await));
        }
        let _ = tokio::time::timeout(OUTPUT_GRACE, self.status.wait_for(|got| *got != OutputStatus::Partial)).await;
        if *self.status.borrow() == OutputStatus::TooLarge {
            return Err(SubjectFault::OverLimit(LimitKind::Output));
        }
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&output).trim().to_owned();
        Ok(AgentMessage { next_move: Some(Move::Say(text)), claims: vec![] })
    }
}

impl Drop for OneShotTransport {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn read_output(
    mut stdout: ChildStdout,
    output: Arc<Mutex<Vec<u8>>>,
    sender: watch::Sender<OutputStatus>,
    monitor: Arc<OutputMonitor>,
) {
    let mut chunk = vec![0; 16 * 1024];
    let mut status = OutputStatus::Complete;
    while let Ok(n @ 1..) = stdout.read(&mut chunk).await {
        monitor.add_stdout(n);
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        if output.len() + n > MAX_OUTPUT_BYTES {
            status = OutputStatus::TooLarge;
            break;
        }
        output.extend_from_slice(&chunk[..n]);
    }
    let _ = sender.send(status);
    // Keep the sender alive: `wait_for` fails when it is dropped, which would not mean that a limit was exceeded.
    sender.closed().await;
}
