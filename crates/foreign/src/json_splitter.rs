//! Splits a stream of JSON into items and holds one at a time: lines, elements of a top-level list, and elements of the long lists of a
//! document.

use std::io::{self, BufRead};

/// Largest item, in bytes of JSON.
pub(crate) const MAX_ITEM_BYTES: usize = 32 << 20;
/// Most values in an item: a parsed value takes far more memory than its text.
const MAX_ITEM_VALUES: usize = 1 << 20;
/// Deepest nesting; the parser refuses more.
const MAX_DEPTH: usize = 120;

/// Lists that may be longer than memory: simulations of tau2-bench, samples of Inspect, spans of OTLP.
const LONG_LISTS: &[&str] = &["simulations", "samples", "resourceSpans"];

/// Part of a stream. Its bytes are in [`JsonSplitter::bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonPiece {
    /// Whole value: a line, or a document without a long list.
    Item,
    ListBegin,
    /// Element of the top-level list.
    Element,
    ListEnd,
    /// Element of a long list; the members before it are in [`JsonSplitter::header`].
    LongElement(&'static str),
    DocumentEnd,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SplitError {
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The item cannot be used; the next one can be read.
    #[error("{0}")]
    Item(&'static str),
    /// Nothing after this can be read.
    #[error("{0}")]
    Fatal(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitMode {
    Start,
    /// The first item was one line, so that every line is an item.
    Lines,
    List,
    Document(&'static str),
    DocumentTail,
    End,
}

pub(crate) struct JsonSplitter<'r> {
    source: &'r mut dyn BufRead,
    mode: SplitMode,
    bytes: Vec<u8>,
    header: Vec<u8>,
    is_first: bool,
    /// White space with a line break was skipped since the item began.
    has_break: bool,
}

const TOO_LARGE: &str = "the item has more than 32 MB";
const TOO_MANY: &str = "the item has more than a million values";
const CUT_OFF: &str = "the JSON ends in the middle of a value";
const NOT_JSON: &str = "this is not JSON";

impl<'r> JsonSplitter<'r> {
    pub(crate) fn new(source: &'r mut dyn BufRead) -> Self {
        Self { source, mode: SplitMode::Start, bytes: vec![], header: vec![], is_first: true, has_break: false }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the members of the document that were read so far, without the long list, as an unclosed object.
    pub(crate) fn header(&self) -> &[u8] {
        &self.header
    }

    /// Returns the next part; `None` at the end. After [`SplitError::Item`] the next call goes on behind the item.
    pub(crate) fn next_piece(&mut self) -> Result<Option<JsonPiece>, SplitError> {
        self.bytes.clear();
        let piece = match self.mode {
            SplitMode::Start => self.start(),
            SplitMode::Lines => self.line(),
            SplitMode::List => self.element(JsonPiece::Element, JsonPiece::ListEnd, SplitMode::Start),
            SplitMode::Document(key) => match self.element(JsonPiece::LongElement(key), JsonPiece::DocumentEnd, SplitMode::DocumentTail) {
                Ok(Some(JsonPiece::DocumentEnd)) => self.members(),
                other => other,
            },
            SplitMode::DocumentTail => self.members(),
            SplitMode::End => Ok(None),
        };
        if matches!(piece, Err(SplitError::Io(_) | SplitError::Fatal(_))) {
            self.mode = SplitMode::End;
        }
        piece
    }

    fn start(&mut self) -> Result<Option<JsonPiece>, SplitError> {
        let Some(first) = self.skip_space()? else { return Ok(None) };
        let first_item = std::mem::take(&mut self.is_first);
        match first {
            b'[' if first_item => {
                self.source.consume(1);
                self.mode = SplitMode::List;
                Ok(Some(JsonPiece::ListBegin))
            }
            b'{' => {
                self.source.consume(1);
                self.header.clear();
                self.header.push(b'{');
                self.has_break = false;
                let piece = self.members()?;
                let is_line = !self.has_break && !self.bytes.contains(&b'\n');
                if first_item && self.mode == SplitMode::Start && is_line && self.is_at_line_end()? {
                    self.mode = SplitMode::Lines;
                }
                Ok(piece)
            }
            _ => self.value(0).map(|()| Some(JsonPiece::Item)).map_err(fatal),
        }
    }

    /// Reads a line; longer ones than the limit are skipped.
    fn line(&mut self) -> Result<Option<JsonPiece>, SplitError> {
        loop {
            self.bytes.clear();
            let mut too_long = false;
            loop {
                let chunk = self.source.fill_buf()?;
                if chunk.is_empty() {
                    break;
                }
                let end = memchr::memchr(b'\n', chunk);
                let taken = end.unwrap_or(chunk.len());
                too_long |= self.bytes.len() + taken > MAX_ITEM_BYTES;
                if !too_long {
                    self.bytes.extend_from_slice(&chunk[..taken]);
                }
                let used = taken + usize::from(end.is_some());
                self.source.consume(used);
                if end.is_some() {
                    break;
                }
            }
            if too_long {
                return Err(SplitError::Item(TOO_LARGE));
            }
            if self.bytes.iter().all(u8::is_ascii_whitespace) {
                if self.source.fill_buf()?.is_empty() {
                    return Ok(None);
                }
                continue;
            }
            // Separators within texts count too: enough for most lines, and the exact count follows for the others.
            let separators = self.bytes.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
            if separators > MAX_ITEM_VALUES && count_values(&self.bytes) > MAX_ITEM_VALUES {
                return Err(SplitError::Item(TOO_MANY));
            }
            return Ok(Some(JsonPiece::Item));
        }
    }

    fn element(&mut self, element: JsonPiece, end: JsonPiece, after: SplitMode) -> Result<Option<JsonPiece>, SplitError> {
        loop {
            match self.skip_space()?.ok_or(SplitError::Fatal(CUT_OFF))? {
                b',' => self.source.consume(1),
                b']' => {
                    self.source.consume(1);
                    self.mode = after;
                    return Ok(Some(end));
                }
                _ => return self.value(0).map(|()| Some(element)),
            }
        }
    }

    /// Reads members of a document up to a long list or to the end of the document.
    fn members(&mut self) -> Result<Option<JsonPiece>, SplitError> {
        loop {
            match self.skip_space()?.ok_or(SplitError::Fatal(CUT_OFF))? {
                b',' => self.source.consume(1),
                b'}' => {
                    self.source.consume(1);
                    let had_list = self.mode == SplitMode::DocumentTail;
                    self.mode = SplitMode::Start;
                    if had_list {
                        return Ok(Some(JsonPiece::DocumentEnd));
                    }
                    std::mem::swap(&mut self.bytes, &mut self.header);
                    self.bytes.push(b'}');
                    return Ok(Some(JsonPiece::Item));
                }
                b'"' => {
                    if let Some(key) = self.member()? {
                        self.mode = SplitMode::Document(key);
                        return match self.element(JsonPiece::LongElement(key), JsonPiece::DocumentEnd, SplitMode::DocumentTail)? {
                            Some(JsonPiece::DocumentEnd) => continue,
                            other => Ok(other),
                        };
                    }
                }
                _ => return Err(SplitError::Fatal(NOT_JSON)),
            }
        }
    }

    /// Reads a member into the header, or the key and the bracket of a long list.
    fn member(&mut self) -> Result<Option<&'static str>, SplitError> {
        self.bytes.clear();
        self.value(0).map_err(fatal)?;
        if self.skip_space()? != Some(b':') {
            return Err(SplitError::Fatal(NOT_JSON));
        }
        self.source.consume(1);
        let is_list = self.skip_space()? == Some(b'[');
        let name = self.bytes.get(1..self.bytes.len().saturating_sub(1)).unwrap_or_default();
        if let Some(key) = LONG_LISTS.iter().find(|key| is_list && key.as_bytes() == name) {
            self.source.consume(1);
            self.bytes.clear();
            return Ok(Some(key));
        }
        self.bytes.push(b':');
        self.value(self.header.len()).map_err(fatal)?;
        if self.header.len() > 1 {
            self.header.push(b',');
        }
        self.header.append(&mut self.bytes);
        Ok(None)
    }

    /// Appends one value to `bytes`. `used` bytes of the limit are taken by other parts of the item.
    fn value(&mut self, used: usize) -> Result<(), SplitError> {
        let mut scan = ValueScan::default();
        loop {
            let chunk = self.source.fill_buf()?;
            if chunk.is_empty() {
                return if scan.is_plain && !self.bytes.is_empty() { Ok(()) } else { Err(SplitError::Fatal(CUT_OFF)) };
            }
            let (taken, is_done) = scan.advance(chunk).map_err(SplitError::Fatal)?;
            if used + self.bytes.len() + taken > MAX_ITEM_BYTES {
                return Err(SplitError::Fatal(TOO_LARGE));
            }
            self.bytes.extend_from_slice(&chunk[..taken]);
            self.source.consume(taken);
            if scan.values > MAX_ITEM_VALUES {
                return Err(SplitError::Fatal(TOO_MANY));
            }
            if is_done {
                return if taken == 0 && self.bytes.is_empty() { Err(SplitError::Fatal(NOT_JSON)) } else { Ok(()) };
            }
        }
    }

    /// Returns the next byte that is not white space, without consuming it. Skips a byte order mark and record separators.
    fn skip_space(&mut self) -> Result<Option<u8>, SplitError> {
        loop {
            let chunk = self.source.fill_buf()?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let is_space = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf | 0x1e);
            let spaces = chunk.iter().take_while(|byte| is_space(byte)).count();
            let next = chunk.get(spaces).copied();
            self.has_break |= chunk[..spaces].contains(&b'\n');
            self.source.consume(spaces);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    fn is_at_line_end(&mut self) -> Result<bool, SplitError> {
        let chunk = self.source.fill_buf()?;
        Ok(matches!(chunk, [b'\n', ..] | [b'\r', b'\n', ..]))
    }
}

fn fatal(error: SplitError) -> SplitError {
    match error {
        SplitError::Item(what) => SplitError::Fatal(what),
        SplitError::Io(_) | SplitError::Fatal(_) => error,
    }
}

/// Finds the end of a value across chunks.
#[derive(Debug, Default)]
struct ValueScan {
    depth: usize,
    values: usize,
    in_text: bool,
    escaped: bool,
    /// Number or word, which ends where something else begins.
    is_plain: bool,
}

impl ValueScan {
    /// Returns the number of bytes that belong to the value, and whether it ends there.
    fn advance(&mut self, chunk: &[u8]) -> Result<(usize, bool), &'static str> {
        let mut at = 0;
        while at < chunk.len() {
            if self.in_text {
                at = self.skip_text(chunk, at);
                if !self.in_text && self.depth == 0 {
                    return Ok((at, true));
                }
                continue;
            }
            let byte = chunk[at];
            if self.is_plain && self.depth == 0 {
                if byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}' | b':') {
                    return Ok((at, true));
                }
                at += 1;
                continue;
            }
            match byte {
                b'"' => self.in_text = true,
                b'{' | b'[' => {
                    self.depth += 1;
                    self.values += 1;
                    if self.depth > MAX_DEPTH {
                        return Err("the JSON is nested more than 120 deep");
                    }
                }
                b'}' | b']' => {
                    if self.depth == 0 {
                        return Err(NOT_JSON);
                    }
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Ok((at + 1, true));
                    }
                }
                b',' if self.depth > 0 => self.values += 1,
                _ if self.depth == 0 => {
                    if matches!(byte, b',' | b':') {
                        return Err(NOT_JSON);
                    }
                    self.is_plain = true;
                }
                _ => {}
            }
            at += 1;
        }
        Ok((at, false))
    }

    /// Moves behind the end of a text, or to the end of the chunk.
    fn skip_text(&mut self, chunk: &[u8], mut at: usize) -> usize {
        if std::mem::take(&mut self.escaped) {
            at += 1;
        }
        while at < chunk.len() {
            let Some(found) = memchr::memchr2(b'"', b'\\', &chunk[at..]) else { return chunk.len() };
            at += found + 1;
            if chunk[at - 1] == b'"' {
                self.in_text = false;
                return at;
            }
            if at == chunk.len() {
                self.escaped = true;
            }
            at += 1;
        }
        chunk.len()
    }
}

/// Counts the values of an item without those within texts.
fn count_values(bytes: &[u8]) -> usize {
    let mut scan = ValueScan::default();
    match scan.advance(bytes) {
        Ok(_) | Err(_) => scan.values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// Splits with a buffer of the given size, so that every boundary is met.
    fn split(text: &str, buffer: usize) -> Vec<String> {
        let mut source = BufReader::with_capacity(buffer, text.as_bytes());
        let mut splitter = JsonSplitter::new(&mut source);
        let mut seen = vec![];
        loop {
            match splitter.next_piece() {
                Ok(Some(piece)) => seen.push(format!("{piece:?} {}", String::from_utf8_lossy(splitter.bytes()))),
                Ok(None) => return seen,
                Err(error) => {
                    seen.push(format!("error {error}"));
                    if !matches!(error, SplitError::Item(_)) {
                        return seen;
                    }
                }
            }
        }
    }

    #[test]
    fn streams_are_split_at_every_boundary() {
        for (text, pieces) in [
            ("{\"a\": 1}\n{\"b\"\n\n[1]", vec!["Item {\"a\":1}", "Item {\"b\"", "Item [1]"]),
            ("{\n\"a\": \"}\\\"{\"}\n{\"b\": [2]}", vec!["Item {\"a\":\"}\\\"{\"}", "Item {\"b\":[2]}"]),
            ("{\"a\": 1}\n{\"b\": 2}", vec!["Item {\"a\":1}", "Item {\"b\": 2}"]),
            (" [ {\"a\":1}, 2 ,\"x\\\\\" ] ", vec!["ListBegin ", "Element {\"a\":1}", "Element 2", "Element \"x\\\\\"", "ListEnd "]),
            (
                "{\"info\": 1, \"simulations\": [ {\"a\":1},{\"b\":2} ], \"z\": []}",
                vec!["LongElement(\"simulations\") {\"a\":1}", "LongElement(\"simulations\") {\"b\":2}", "DocumentEnd "],
            ),
            ("{\"samples\": []}", vec!["DocumentEnd "]),
            ("{\"samples\": null}", vec!["Item {\"samples\":null}"]),
            ("[1, {\"a\"", vec!["ListBegin ", "Element 1", "error the JSON ends in the middle of a value"]),
            ("}", vec!["error this is not JSON"]),
            ("", vec![]),
        ] {
            for buffer in [1, 2, 3, 5, 4096] {
                assert_eq!(split(text, buffer), pieces, "{text} with a buffer of {buffer}");
            }
        }
    }
}
