//! `process:` an agent that speaks our protocol in JSON lines: what it hears on stdin, one move a line on stdout.

use super::child::{Contained, printable};
use super::message::Said;
use crate::subjects::SubjectFault;
use model::transcript::Limit;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Bytes of one line.
const LINE: usize = 4 * 1024 * 1024;
/// Bytes of all lines of a trial.
const TOTAL: usize = 16 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Process {
    child: Contained,
    lines: mpsc::UnboundedSender<String>,
    came: mpsc::Receiver<Result<Said, SubjectFault>>,
    tasks: [JoinHandle<()>; 2],
}

impl Process {
    pub(super) fn child(&self) -> &Contained {
        &self.child
    }

    pub(super) fn new(child: Contained, stdin: ChildStdin, stdout: ChildStdout) -> Self {
        let (lines, waiting) = mpsc::unbounded_channel();
        // Few at once: whoever writes faster than we read has to wait.
        let (sender, came) = mpsc::channel(4);
        Self { child, lines, came, tasks: [tokio::spawn(write(stdin, waiting)), tokio::spawn(read(stdout, sender))] }
    }

    pub(super) fn tell(&self, message: &Value) {
        // A program that no longer reads is noticed by its silence.
        let _ = self.lines.send(format!("{message}\n"));
    }

    pub(super) async fn hear(&mut self) -> Result<Said, SubjectFault> {
        match self.came.recv().await {
            Some(came) => came,
            None => Err(SubjectFault::Crashed(self.child.last_words().await)),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn write(mut stdin: ChildStdin, mut waiting: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = waiting.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

async fn read(stdout: ChildStdout, sender: mpsc::Sender<Result<Said, SubjectFault>>) {
    let mut stdout = BufReader::new(stdout);
    let (mut line, mut total) = (Vec::new(), 0);
    loop {
        let Ok(chunk) = stdout.fill_buf().await else { return };
        if chunk.is_empty() {
            return;
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(chunk.len(), |at| at + 1);
        line.extend_from_slice(&chunk[..taken]);
        stdout.consume(taken);
        total += taken;
        if line.len() > LINE || total > TOTAL {
            let _ = sender.send(Err(SubjectFault::OverLimit(Limit::Output))).await;
            return;
        }
        if end.is_some() {
            let text = std::mem::take(&mut line);
            if !text.iter().all(u8::is_ascii_whitespace) && sender.send(parse(&text)).await.is_err() {
                return;
            }
        }
    }
}

fn parse(line: &[u8]) -> Result<Said, SubjectFault> {
    Said::read(line).map_err(|why| {
        let shown = printable(&String::from_utf8_lossy(&line[..line.len().min(400)]), 80);
        SubjectFault::Malformed(format!("\"{shown}\": {why}"))
    })
}
