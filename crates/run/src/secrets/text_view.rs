//! Readings of a text in which a secret may be hidden: with escapes undone, and without white space. Each knows the places in the text.

use std::borrow::Cow;
use std::ops::Range;

/// Kind of escapes. They are undone one after the other, because a secret may hold what looks like an escape of the other kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EscapeKind {
    /// Backslashes of JSON and C.
    Backslash,
    /// Percent escapes of URLs.
    Percent,
}

/// Bytes of one reading.
#[derive(Debug, Clone)]
pub(super) struct TextView<'t> {
    pub(super) bytes: Cow<'t, [u8]>,
    /// Range in the original text of each byte; `None` for the text itself.
    origins: Option<Vec<(usize, usize)>>,
}

impl<'t> TextView<'t> {
    pub(super) fn of_text(text: &'t str) -> Self {
        Self { bytes: Cow::Borrowed(text.as_bytes()), origins: None }
    }

    /// Returns the range in the original text of a range that is not empty.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        match &self.origins {
            Some(origins) => origins[range.start].0..origins[range.end - 1].1,
            None => range,
        }
    }

    /// Returns the reading with one layer of escapes undone; `None` if there are none.
    pub(super) fn unescaped(&self, kind: EscapeKind) -> Option<TextView<'static>> {
        let sign = match kind {
            EscapeKind::Backslash => b'\\',
            EscapeKind::Percent => b'%',
        };
        if !self.bytes.contains(&sign) {
            return None;
        }
        let (mut bytes, mut origins, mut at, mut undone) = (vec![], vec![], 0, false);
        while at < self.bytes.len() {
            let (decoded, taken) = match decode_escape(&self.bytes[at..]).filter(|_| self.bytes[at] == sign) {
                Some((decoded, taken)) => {
                    undone = true;
                    (decoded, taken)
                }
                None => (vec![self.bytes[at]], 1),
            };
            let origin = self.origin(at..at + taken);
            origins.extend(decoded.iter().map(|_| (origin.start, origin.end)));
            bytes.extend(decoded);
            at += taken;
        }
        undone.then_some(TextView { bytes: Cow::Owned(bytes), origins: Some(origins) })
    }

    /// Returns the reading without white space and control characters; `None` if there are none.
    pub(super) fn without_space(&self) -> Option<TextView<'static>> {
        let is_space = |byte: u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
        if !self.bytes.iter().any(|byte| is_space(*byte)) {
            return None;
        }
        let kept = self.bytes.iter().enumerate().filter(|(_, byte)| !is_space(**byte));
        let (bytes, origins) = kept
            .map(|(at, byte)| {
                let origin = self.origin(at..at + 1);
                (*byte, (origin.start, origin.end))
            })
            .unzip::<u8, _, Vec<_>, Vec<_>>();
        Some(TextView { bytes: Cow::Owned(bytes), origins: Some(origins) })
    }
}

/// Decodes the escape at the start of a text, and returns its bytes and its length.
fn decode_escape(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    match text {
        [b'%', ..] => Some((vec![hex_byte(text.get(1..3)?)?], 3)),
        [b'\\', b'x', ..] => Some((vec![hex_byte(text.get(2..4)?)?], 4)),
        [b'\\', b'u' | b'U', ..] => decode_unicode(text),
        [b'\\', b'n' | b'r' | b't' | b'b' | b'f', ..] => Some((vec![b'\n'], 2)),
        [b'\\', c @ (b'"' | b'\'' | b'\\' | b'/'), ..] => Some((vec![*c], 2)),
        _ => None,
    }
}

fn decode_unicode(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let unit = |text: &[u8]| Some(u16::from_be_bytes([hex_byte(text.get(2..4)?)?, hex_byte(text.get(4..6)?)?]));
    let first = unit(text)?;
    let second = text.get(6..).filter(|rest| rest.starts_with(b"\\u")).and_then(unit);
    let units = [Some(first), second].into_iter().flatten();
    let c = char::decode_utf16(units).next()?.ok()?;
    Some((c.to_string().into_bytes(), 6 * c.len_utf16()))
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(*digits.first()?)? << 4 | digit(*digits.get(1)?)?)
}
