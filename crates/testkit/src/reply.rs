//! Replies of the loopback server: correct, delayed or broken.

use std::time::Duration;

/// Reply with a delay.
#[derive(Debug, Clone)]
pub struct VendorReply {
    pub after: Duration,
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: ReplyBody,
}

/// Body of a reply, possibly broken.
#[derive(Debug, Clone)]
pub enum ReplyBody {
    Whole(Vec<u8>),
    /// Shorter than its content length; the connection closes after these bytes.
    Truncated(Vec<u8>),
    /// One byte at a time, with a pause after each.
    Drip(Vec<u8>, Duration),
    /// No body: the connection is reset.
    Reset,
    /// This many filler bytes, chunked without a content length.
    Endless(usize),
}

impl VendorReply {
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self { after: Duration::ZERO, status: 200, headers: vec![], body: ReplyBody::Whole(body.into()) }
    }

    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, ..Self::ok(body) }
    }

    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn with_body(body: ReplyBody) -> Self {
        Self { body, ..Self::ok("") }
    }

    pub fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }
}
