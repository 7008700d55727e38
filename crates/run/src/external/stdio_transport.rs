//! Transport for `process:` agents, which use the protocol in JSON lines: observations on stdin, one move per line on stdout.

use super::agent_output::OutputMonitor;
use super::agent_process::{AgentProcess, printable};
use super::message::AgentMessage;
use crate::secrets::SecretRedactor;
use crate::subjects::SubjectFault;
use model::transcript::LimitKind;
use serde_json::Value;
use std::collections::VecDeque;
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

type ReceivedLine = Result<AgentMessage, SubjectFault>;

#[derive(Debug)]
pub(super) struct StdioTransport {
    child: AgentProcess,
    outgoing: mpsc::UnboundedSender<String>,
    incoming: mpsc::Receiver<Vec<ReceivedLine>>,
    /// Lines that were printed together, or before the last message was sent.
    received: VecDeque<ReceivedLine>,
    has_sent: bool,
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
        Self { child, outgoing, incoming, received: VecDeque::new(), has_sent: false, tasks }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the program has already printed a move: it cannot answer a message that it has not read.
    pub(super) fn send(&mut self, message: &Value) -> Result<(), SubjectFault> {
        if self.has_sent {
            while let Ok(lines) = self.incoming.try_recv() {
                self.received.extend(lines);
            }
            check_no_move_ahead(&self.received, self.child.monitor().secrets())?;
        }
        self.has_sent = true;
        // A program that no longer reads runs into the time limit.
        let _ = self.outgoing.send(format!("{message}\n"));
        Ok(())
    }

    /// Takes the next line. A move after which another one was printed at once is a fault.
    fn next_line(&mut self) -> Option<ReceivedLine> {
        let line = self.received.pop_front()?;
        let is_move = line.as_ref().is_ok_and(|message| message.next_move.is_some());
        let checked = if is_move { check_no_move_ahead(&self.received, self.child.monitor().secrets()) } else { Ok(()) };
        Some(checked.and(line))
    }

    pub(super) async fn receive(&mut self) -> Result<AgentMessage, SubjectFault> {
        if let Some(line) = self.next_line() {
            return line;
        }
        let Self { child, incoming, .. } = self;
        let lines = tokio::select! {
            biased;
            lines = incoming.recv() => lines,
            // A leftover child may keep the pipe open forever.
            () = child.failed() => tokio::time::timeout(OUTPUT_GRACE, incoming.recv()).await.ok().flatten(),
        };
        self.received.extend(lines.unwrap_or_default());
        match self.next_line() {
            Some(line) => line,
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

/// Returns the fault of a program that prints its next move before it was told the result of the last one.
fn check_no_move_ahead(waiting: &VecDeque<ReceivedLine>, secrets: &SecretRedactor) -> Result<(), SubjectFault> {
    let ahead = waiting.iter().find_map(|line| line.as_ref().ok()?.next_move.as_ref());
    let Some(ahead) = ahead else { return Ok(()) };
    let shown = printable(&secrets.redact(&serde_json::to_string(ahead).unwrap_or_default()), 80);
    Err(SubjectFault::Malformed(format!("\"{shown}\" was printed before the message that it would answer; read one line after each move")))
}

/// Sends the lines of stdout, those that were read together in one piece.
async fn read_lines(stdout: ChildStdout, sender: mpsc::Sender<Vec<ReceivedLine>>, monitor: Arc<OutputMonitor>) {
    let mut stdout = BufReader::new(stdout);
    let (mut line, mut total, mut lines) = (Vec::new(), 0, vec![]);
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
            lines.push(Err(SubjectFault::OverLimit(LimitKind::Output)));
            let _ = sender.send(lines).await;
            return;
        }
        if end.is_some() {
            let text = std::mem::take(&mut line);
            if !text.iter().all(u8::is_ascii_whitespace) {
                lines.push(parse_line(&text, monitor.secrets()));
            }
        }
        let has_more = stdout.buffer().contains(&b'\n');
        if !has_more && !lines.is_empty() && sender.send(std::mem::take(&mut lines)).await.is_err() {
            return;
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
