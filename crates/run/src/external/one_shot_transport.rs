//! `mcp:` an agent that knows nothing of us: words on stdin, tools over MCP, and what it printed is its answer when it ends.

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

/// Bytes of an answer, with everything else it prints.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// For what it printed to arrive once it has ended: a child it left behind may hold the pipe open for ever.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);

/// One turn of it: a program is started for each, with the whole conversation.
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

    pub(super) fn new(child: AgentProcess, mut stdin: ChildStdin, stdout: ChildStdout, words: String) -> Self {
        let writing = tokio::spawn(async move {
            // It may have its words elsewhere and not listen.
            let _ = stdin.write_all(words.as_bytes()).await;
            let _ = stdin.shutdown().await;
        });
        let printed = Arc::<Mutex<Vec<u8>>>::default();
        let (tell, got) = watch::channel(OutputStatus::Partial);
        let reading = tokio::spawn(read_output(stdout, printed.clone(), tell));
        Self { child, output: printed, status: got, tasks: [writing, reading] }
    }

    /// Waits for its end or for too much of it; may be dropped and asked again.
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
        let printed = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&printed).trim().to_owned();
        Ok(AgentMessage { next_move: Some(Move::Say(words)), claims: vec![] })
    }
}

impl Drop for OneShotTransport {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn read_output(mut stdout: ChildStdout, printed: Arc<Mutex<Vec<u8>>>, tell: watch::Sender<OutputStatus>) {
    let mut chunk = vec![0; 16 * 1024];
    let mut got = OutputStatus::Complete;
    while let Ok(n @ 1..) = stdout.read(&mut chunk).await {
        let mut printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
        if printed.len() + n > MAX_OUTPUT_BYTES {
            got = OutputStatus::TooLarge;
            break;
        }
        printed.extend_from_slice(&chunk[..n]);
    }
    let _ = tell.send(got);
    // Whoever waits for a change that cannot come any more would be told that we are gone, and that is no limit.
    tell.closed().await;
}
