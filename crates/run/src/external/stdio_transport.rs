//! Transport for `process:` agents, which use the protocol in JSON lines: observations on stdin, one move per line on stdout.

use super::agent_output::OutputMonitor;
use super::agent_process::{AgentProcess, printable};
use super::message::AgentMessage;
use crate::secrets::SecretRedactor;
use crate::subjects::SubjectFault;
use model::transcript::LimitKind;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Maximum size of one line.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;
/// Maximum output of a trial.
const MAX_OUTPUT_BYTES: usize = 16 * 1024 * 1024;
/// Time for remaining output to arrive after the program has failed.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct StdioTransport {
    child: AgentProcess,
    outgoing: mpsc::UnboundedSender<String>,
    incoming: mpsc::Receiver<Result<AgentMessage, SubjectFault>>,
    tasks: [JoinHandle<()>; 2],
}

impl StdioTransport {
    pub(super) fn child(&self) -> &AgentProcess {
        &self.child
    }

    pub(super) fn new(child: AgentProcess, stdin: ChildStdin, stdout: ChildStdout) -> Self {
        let (outgoing, lines) = mpsc::unbounded_channel();
        // Small buffer, so that a fast writer is throttled.
        let (sender, incoming) = mpsc::channel(4);
        let tasks = [tokio::spawn(write_lines(stdin, lines)), tokio::spawn(read_lines(stdout, sender, child.monitor().clone()))];
        Self { child, outgoing, incoming, tasks }
    }

    pub(super) fn send(&self, message: &Value) {
        // A program that no longer reads runs into the time limit.
        let _ = self.outgoing.send(format!("{message}\n"));
    }

    pub(super) async fn receive(&mut self) -> Result<AgentMessage, SubjectFault> {
        let Self { child, incoming, .. } = self;
        let message = tokio::select! {
            biased;
            message = incoming.recv() => message,
            // A leftover child may keep the pipe open forever.
            () = child.failed() => tokio::time::timeout(OUTPUT_GRACE, incoming.recv()).await.ok().flatten(),
        };
        match message {
            Some(message) => message,
            None => Err(SubjectFault::Crashed(self.child.exit_summary().await)),
        }
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn write_lines(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

async fn read_lines(stdout: ChildStdout, sender: mpsc::Sender<Result<AgentMessage, SubjectFault>>, monitor: Arc<OutputMonitor>) {
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
        monitor.add_stdout(taken);
        if line.len() > MAX_LINE_BYTES || total > MAX_OUTPUT_BYTES {
            let _ = sender.send(Err(SubjectFault::OverLimit(LimitKind::Output))).await;
            return;
        }
        if end.is_some() {
            let text = std::mem::take(&mut line);
            if !text.iter().all(u8::is_ascii_whitespace) && sender.send(parse_line(&text, monitor.secrets())).await.is_err() {
                return;
            }
        }
    }
}

fn parse_line(line: &[u8], secrets: &SecretRedactor) -> Result<AgentMessage, SubjectFault> {
    AgentMessage::parse(line).map_err(|why| {
        // Redacted before it is cut, because the beginning of a secret is not recognized.
        let shown = printable(&secrets.redact(&String::from_utf8_lossy(line)), 80);
        SubjectFault::Malformed(format!("\"{shown}\": {why}"))
    })
}
