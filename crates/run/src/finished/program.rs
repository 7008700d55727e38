//! `mcp:` an agent that knows nothing of us: words on stdin, tools over MCP, and what it printed is its answer when it ends.

use super::child::Contained;
use super::message::Said;
use crate::subjects::SubjectFault;
use model::transcript::{Limit, Move};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Bytes of an answer, with everything else it prints.
const PRINTED: usize = 1024 * 1024;
/// For what it printed to arrive once it has ended: a child it left behind may hold the pipe open for ever.
const REST: Duration = Duration::from_millis(200);

/// One turn of it: a program is started for each, with the whole conversation.
#[derive(Debug)]
pub(super) struct Program {
    child: Contained,
    printed: Arc<Mutex<Vec<u8>>>,
    got: watch::Receiver<Got>,
    tasks: [JoinHandle<()>; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Got {
    Some,
    All,
    TooMuch,
}

impl Program {
    pub(super) fn child(&self) -> &Contained {
        &self.child
    }

    pub(super) fn new(child: Contained, mut stdin: ChildStdin, stdout: ChildStdout, words: String) -> Self {
        let writing = tokio::spawn(async move {
            // It may have its words elsewhere and not listen.
            let _ = stdin.write_all(words.as_bytes()).await;
            let _ = stdin.shutdown().await;
        });
        let printed = Arc::<Mutex<Vec<u8>>>::default();
        let (tell, got) = watch::channel(Got::Some);
        let reading = tokio::spawn(read(stdout, printed.clone(), tell));
        Self { child, printed, got, tasks: [writing, reading] }
    }

    /// Waits for its end or for too much of it; may be dropped and asked again.
    pub(super) async fn hear(&mut self) -> Result<Said, SubjectFault> {
        let status = tokio::select! {
            Ok(_) = self.got.wait_for(|got| *got == Got::TooMuch) => return Err(SubjectFault::OverLimit(Limit::Output)),
            status = self.child.ended() => status,
        };
        if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
            return Err(SubjectFault::Crashed(self.child.last_words().await));
        }
        let _ = tokio::time::timeout(REST, self.got.wait_for(|got| *got != Got::Some)).await;
        if *self.got.borrow() == Got::TooMuch {
            return Err(SubjectFault::OverLimit(Limit::Output));
        }
        let printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&printed).trim().to_owned();
        Ok(Said { does: Some(Move::Say(words)), claims: vec![] })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn read(mut stdout: ChildStdout, printed: Arc<Mutex<Vec<u8>>>, tell: watch::Sender<Got>) {
    let mut chunk = vec![0; 16 * 1024];
    let mut got = Got::All;
    while let Ok(n @ 1..) = stdout.read(&mut chunk).await {
        let mut printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
        if printed.len() + n > PRINTED {
            got = Got::TooMuch;
            break;
        }
        printed.extend_from_slice(&chunk[..n]);
    }
    let _ = tell.send(got);
    // Whoever waits for a change that cannot come any more would be told that we are gone, and that is no limit.
    tell.closed().await;
}
