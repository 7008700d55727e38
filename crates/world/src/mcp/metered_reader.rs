//! Reader that enforces limits on the stdout of a child before the SDK buffers it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use super::diagnostics::StreamDiagnostics;
use super::error::{BoundedQuantity, McpFault, check_limit};
use super::limits::McpLimits;

/// Maximum number of lines that are not messages. A short banner on stdout is common.
const MAX_STRAY_LINES: usize = 100;
/// Bytes of each line kept to recognise messages and to report other lines.
const MAX_HEAD_BYTES: usize = 200;

/// Stream that fails at its limits and records the reason in [`StreamDiagnostics`].
#[derive(Debug)]
pub(super) struct MeteredReader<R> {
    inner: R,
    counters: ReadCounters,
}

impl<R> MeteredReader<R> {
    pub(super) fn new(inner: R, limits: McpLimits, diagnostics: StreamDiagnostics) -> Self {
        MeteredReader { inner, counters: ReadCounters { limits, diagnostics, total: 0, lines: 0, strays: 0, length: 0, head: Vec::new() } }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for MeteredReader<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let counted = match &buf.filled()[before..] {
            [] => self.counters.end_line(),
            bytes => self.counters.add(bytes),
        };
        Poll::Ready(counted.map_err(|fault| {
            buf.set_filled(before); // a failed read must not yield bytes
            let error = io::Error::other(fault.to_string());
            self.counters.diagnostics.record_fault(fault);
            error
        }))
    }
}

#[derive(Debug)]
struct ReadCounters {
    limits: McpLimits,
    diagnostics: StreamDiagnostics,
    /// Bytes read so far.
    total: usize,
    lines: usize,
    /// Lines that are not messages.
    strays: usize,
    /// Bytes of the current line.
    length: usize,
    /// Start of the current line.
    head: Vec<u8>,
}

impl ReadCounters {
    fn add(&mut self, bytes: &[u8]) -> Result<(), McpFault> {
        self.total += bytes.len();
        check_limit(self.total, self.limits.total_bytes, BoundedQuantity::Total)?;
        for (i, piece) in bytes.split(|b| *b == b'\n').enumerate() {
            if i > 0 {
                self.end_line()?;
            }
            self.length += piece.len();
            check_limit(self.length, self.limits.message_bytes, BoundedQuantity::Message)?;
            let room = MAX_HEAD_BYTES.saturating_sub(self.head.len());
            self.head.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), McpFault> {
        self.lines += 1;
        check_limit(self.lines, self.limits.lines, BoundedQuantity::Lines)?;
        // The SDK silently drops lines that are not JSON. A message starts with a brace, a batch with a bracket.
        let head = self.head.trim_ascii();
        if !head.is_empty() && !head.starts_with(b"{") && !head.starts_with(b"[") {
            self.diagnostics.record_stray(head);
            self.strays += 1;
            check_limit(self.strays, MAX_STRAY_LINES, BoundedQuantity::StrayLines)?;
        }
        self.length = 0;
        self.head.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::super::error::{BoundedQuantity, McpFault};
    use super::super::limits::McpLimits;
    use super::{MAX_STRAY_LINES, MeteredReader, StreamDiagnostics};

    async fn read(text: &str, limits: McpLimits) -> (bool, StreamDiagnostics) {
        let diagnostics = StreamDiagnostics::default();
        let mut out = Vec::new();
        let done = MeteredReader::new(text.as_bytes(), limits, diagnostics.clone()).read_to_end(&mut out).await;
        (done.is_ok(), diagnostics)
    }

    fn fault(diagnostics: &StreamDiagnostics) -> McpFault {
        diagnostics.fault_or(McpFault::NotMcp { why: "no fault recorded".to_owned() })
    }

    #[tokio::test]
    async fn stdout_banner_is_recorded_and_messages_pass() {
        let (ok, diagnostics) = read("{}\nHello there\n\n[1]\n{}", McpLimits::default()).await;
        assert!(ok);
        assert_eq!(diagnostics.first_stray(), "Hello there");
    }

    #[tokio::test]
    async fn reader_limits_are_inclusive_with_distinct_faults() {
        let small = McpLimits { message_bytes: 10, total_bytes: 30, lines: 4, ..McpLimits::default() };
        assert!(read("{23456789a\n{\n{\n{", small).await.0);
        for (text, what, limit) in [
            ("{23456789ab", BoundedQuantity::Message, 10),
            ("{234567\n{234567\n{234567\n{234567\n", BoundedQuantity::Total, 30),
            ("{\n{\n{\n{\n{\n", BoundedQuantity::Lines, 4),
        ] {
            let (ok, diagnostics) = read(text, small).await;
            assert_eq!((ok, fault(&diagnostics)), (false, McpFault::TooMuch { what, limit }), "{text:?}");
        }
    }

    #[tokio::test]
    async fn too_many_stray_lines_are_a_fault() {
        let (ok, diagnostics) = read(&"chatter\n".repeat(MAX_STRAY_LINES + 1), McpLimits::default()).await;
        assert_eq!((ok, fault(&diagnostics)), (false, McpFault::TooMuch { what: BoundedQuantity::StrayLines, limit: MAX_STRAY_LINES }));
    }
}
