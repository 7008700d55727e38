//! Counts what a child prints and cuts it off at a limit, before the SDK buffers it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use super::error::{Fault, Quantity, at_most};
use super::limits::Limits;
use super::notes::Notes;

/// A banner or two on stdout is common and harmless; a server that goes on and on is something else.
const STRAY_LINES: usize = 100;
const HEAD: usize = 200;

/// A stream that fails at its limits and leaves the reason in `notes`.
#[derive(Debug)]
pub(super) struct Meter<R> {
    inner: R,
    tally: Tally,
}

impl<R> Meter<R> {
    pub(super) fn new(inner: R, limits: Limits, notes: Notes) -> Self {
        Meter { inner, tally: Tally { limits, notes, total: 0, lines: 0, strays: 0, length: 0, head: Vec::new() } }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Meter<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let counted = match &buf.filled()[before..] {
            [] => self.tally.line_ends(),
            bytes => self.tally.add(bytes),
        };
        Poll::Ready(counted.map_err(|fault| {
            buf.set_filled(before); // a failed read must not yield bytes
            let error = io::Error::other(fault.to_string());
            self.tally.notes.fault(fault);
            error
        }))
    }
}

#[derive(Debug)]
struct Tally {
    limits: Limits,
    notes: Notes,
    total: usize,
    lines: usize,
    strays: usize,
    length: usize,
    head: Vec<u8>,
}

impl Tally {
    fn add(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.total += bytes.len();
        at_most(self.total, self.limits.total, Quantity::Total)?;
        for (i, piece) in bytes.split(|b| *b == b'\n').enumerate() {
            if i > 0 {
                self.line_ends()?;
            }
            self.length += piece.len();
            at_most(self.length, self.limits.message, Quantity::Message)?;
            let room = HEAD.saturating_sub(self.head.len());
            self.head.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        Ok(())
    }

    fn line_ends(&mut self) -> Result<(), Fault> {
        self.lines += 1;
        at_most(self.lines, self.limits.lines, Quantity::Lines)?;
        // The SDK drops what is no JSON without a word; a message starts with a brace, a batch with a bracket.
        let head = self.head.trim_ascii();
        if !head.is_empty() && !head.starts_with(b"{") && !head.starts_with(b"[") {
            self.notes.stray(head);
            self.strays += 1;
            at_most(self.strays, STRAY_LINES, Quantity::StrayLines)?;
        }
        self.length = 0;
        self.head.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::super::error::{Fault, Quantity};
    use super::super::limits::Limits;
    use super::{Meter, Notes, STRAY_LINES};

    async fn read(text: &str, limits: Limits) -> (bool, Notes) {
        let notes = Notes::default();
        let mut out = Vec::new();
        let done = Meter::new(text.as_bytes(), limits, notes.clone()).read_to_end(&mut out).await;
        (done.is_ok(), notes)
    }

    fn fault(notes: &Notes) -> Fault {
        notes.cause_of(Fault::NotMcp { why: "nothing noticed".to_owned() })
    }

    #[tokio::test]
    async fn messages_pass_and_a_banner_is_remembered() {
        let (ok, notes) = read("{}\nHello there\n\n[1]\n{}", Limits::default()).await;
        assert!(ok);
        assert_eq!(notes.first_stray(), "Hello there");
    }

    #[tokio::test]
    async fn each_limit_is_inclusive_and_has_its_own_fault() {
        let small = Limits { message: 10, total: 30, lines: 4, ..Limits::default() };
        assert!(read("{23456789a\n{\n{\n{", small).await.0);
        for (text, what, limit) in [
            ("{23456789ab", Quantity::Message, 10),
            ("{234567\n{234567\n{234567\n{234567\n", Quantity::Total, 30),
            ("{\n{\n{\n{\n{\n", Quantity::Lines, 4),
        ] {
            let (ok, notes) = read(text, small).await;
            assert_eq!((ok, fault(&notes)), (false, Fault::TooMuch { what, limit }), "{text:?}");
        }
    }

    #[tokio::test]
    async fn endless_chatter_is_cut() {
        let (ok, notes) = read(&"chatter\n".repeat(STRAY_LINES + 1), Limits::default()).await;
        assert_eq!((ok, fault(&notes)), (false, Fault::TooMuch { what: Quantity::StrayLines, limit: STRAY_LINES }));
    }
}
