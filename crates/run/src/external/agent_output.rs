//! Output of an external agent in one trial: the bytes on stdout and the end of stderr, over all processes of the agent.

use crate::secrets::SecretRedactor;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use store::AgentOutput;

/// Size of the end of stderr that is kept with a trial.
pub(super) const MAX_STDERR_BYTES: usize = 64 * 1024;

/// Counts and keeps the output of all processes of one agent.
#[derive(Debug, Default)]
pub(super) struct OutputMonitor {
    secrets: SecretRedactor,
    has_started: AtomicBool,
    stdout_bytes: AtomicU64,
    stderr: Mutex<StderrTail>,
}

impl OutputMonitor {
    pub(super) fn new(secrets: SecretRedactor) -> Self {
        Self { secrets, ..Self::default() }
    }

    pub(super) fn secrets(&self) -> &SecretRedactor {
        &self.secrets
    }

    pub(super) fn note_start(&self) {
        self.has_started.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_started(&self) -> bool {
        self.has_started.load(Ordering::Relaxed)
    }

    pub(super) fn add_stdout(&self, bytes: usize) {
        self.stdout_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn add_stderr(&self, chunk: &[u8]) {
        let most = MAX_STDERR_BYTES + self.secrets.longest_form();
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).push(chunk, most);
    }

    /// Returns the output so far, without secrets; `None` if no program was started.
    pub(super) fn output(&self) -> Option<AgentOutput> {
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let stderr = tail.text(&self.secrets).replace('\0', "\u{fffd}");
        let from = stderr.ceil_char_boundary(stderr.len().saturating_sub(MAX_STDERR_BYTES));
        let output = AgentOutput { stdout_bytes: self.stdout_bytes.load(Ordering::Relaxed), stderr: stderr[from..].to_owned() };
        self.has_started().then_some(output)
    }
}

/// End of an output.
#[derive(Debug, Default)]
pub(super) struct StderrTail {
    bytes: Vec<u8>,
    /// Set if the beginning was dropped.
    is_cut: bool,
}

impl StderrTail {
    /// Adds to the end and keeps the last `most` bytes.
    pub(super) fn push(&mut self, chunk: &[u8], most: usize) {
        self.bytes.extend_from_slice(chunk);
        let excess = self.bytes.len().saturating_sub(most);
        self.is_cut |= excess > 0;
        self.bytes.drain(..excess);
    }

    /// Returns the text without secrets.
    pub(super) fn text(&self, secrets: &SecretRedactor) -> String {
        secrets.redact_end(&self.bytes, self.is_cut)
    }
}

/// Returns the line of stderr that tells why a program failed: the last one that names an error, else the last one.
/// Node ends every crash with its version, and traces of other languages with a hint or a location.
pub fn telling_line(text: &str) -> Option<&str> {
    let lines = || text.lines().rev().filter(|line| !line.trim().is_empty());
    let words = ["error:", "exception:", "error [", "panicked at", "fatal:"];
    let names_error = |line: &&str| {
        let line = line.to_lowercase();
        words.iter().any(|word| line.contains(word)) || line.trim_end().ends_with("error")
    };
    // Lines of a trace are indented.
    lines()
        .find(|line| !line.starts_with([' ', '\t']) && names_error(line))
        .or_else(|| lines().find(names_error))
        .or_else(|| lines().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crash_shows_the_line_that_names_the_error() {
        let node = "node:internal/modules/package_json_reader:267\n  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);\n        ^\n\n\
                    Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from /a.mjs\n    at Object.getPackageJSONURL (node:internal)\n  code: 'ERR_MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n";
        assert_eq!(telling_line(node), Some("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from /a.mjs"));
        let python =
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    raise ValueError(\"no\")\nValueError: no\n";
        assert_eq!(telling_line(python), Some("ValueError: no"));
        assert_eq!(telling_line("starting\nbye\n\n"), Some("bye"));
        assert_eq!(telling_line("\n"), None);
    }

    #[test]
    fn output_is_bounded_and_has_no_secrets() {
        let monitor = OutputMonitor::new(SecretRedactor::new(["hunter2hunter2"]));
        assert_eq!(monitor.output(), None, "nothing was started");
        monitor.note_start();
        assert_eq!(monitor.output(), Some(AgentOutput::default()));
        for _ in 0..10_000 {
            monitor.add_stderr(b"the key is hunter2hunter2, and more text\n");
        }
        monitor.add_stdout(3);
        let output = monitor.output().unwrap();
        assert_eq!(output.stdout_bytes, 3);
        assert!(output.stderr.len() <= MAX_STDERR_BYTES && output.stderr.len() > MAX_STDERR_BYTES / 2, "{}", output.stderr.len());
        assert!(!output.stderr.contains("hunter2") && output.stderr.ends_with("[secret], and more text\n"));
    }
}
