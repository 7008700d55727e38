//! Builds the tree from parser events, within limits: depth, size and alias expansion are bounded, tags are refused.

use super::node::{Key, Node, Shape};
use crate::problem::Report;
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub bytes: usize,
    pub depth: usize,
    /// Counted after aliases are expanded, which is what makes an alias bomb small.
    pub nodes: usize,
    /// Bytes of text that aliases may repeat: a bomb needs few values when each is long.
    pub copied: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 4 << 20, depth: 48, nodes: 200_000, copied: 4 << 20 }
    }
}

/// Reads one YAML document. Mistakes go to the report; `None` means that no tree could be built.
pub fn load(text: &str, limits: Limits, report: &Report) -> Option<Node> {
    match Builder::new(limits).build(text) {
        Ok(node) => Some(node),
        Err(Stop { line, what, remedy }) => {
            report.add(line, what, remedy);
            None
        }
    }
}

/// What separates or opens values on one line.
const INDICATORS: &[u8] = b",:[]{}?&*!";

struct Stop {
    line: u32,
    what: String,
    remedy: &'static str,
}

fn stop<T>(line: u32, what: impl Into<String>, remedy: &'static str) -> Result<T, Stop> {
    Err(Stop { line, what: what.into(), remedy })
}

/// A collection that is still open.
struct Open {
    line: u32,
    anchor: usize,
    kind: Kind,
}

enum Kind {
    List(Vec<Node>),
    Map { entries: Vec<(Key, Node)>, key: Option<Key> },
}

struct Builder {
    limits: Limits,
    nodes: usize,
    copied: usize,
    stack: Vec<Open>,
    anchors: BTreeMap<usize, (Node, Size)>,
    root: Option<Node>,
    documents: usize,
}

impl Builder {
    fn new(limits: Limits) -> Self {
        Self { limits, nodes: 0, copied: 0, stack: vec![], anchors: BTreeMap::new(), root: None, documents: 0 }
    }

    fn build(mut self, text: &str) -> Result<Node, Stop> {
        if text.len() > self.limits.bytes {
            let what = format!("the file has {} bytes, more than the limit of {}", text.len(), self.limits.bytes);
            return stop(1, what, "split it into several files");
        }
        // The parser holds a flow collection as tokens until it is closed, before we see the first value of it.
        if text.bytes().filter(|byte| INDICATORS.contains(byte)).count() > self.limits.nodes {
            return stop(1, format!("the file has more than {} values", self.limits.nodes), "split it into several files");
        }
        for event in Parser::new_from_str(text) {
            let (event, span) = match event {
                Ok(next) => next,
                Err(error) => {
                    return stop(
                        line_of(error.marker().line()),
                        format!("not valid YAML: {}", error.info()),
                        "correct it here; a text with : , # or { in it needs quotes",
                    );
                }
            };
            self.event(event, line_of(span.start.line()))?;
        }
        match self.root {
            Some(root) => Ok(root),
            None => stop(1, "the file is empty", "write its content or delete the file"),
        }
    }

    fn event(&mut self, event: Event<'_>, line: u32) -> Result<(), Stop> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return stop(line, "a second document starts here", "one file holds one YAML document");
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                refuse_tag(tag.is_some(), line)?;
                self.count(1, line)?;
                let plain = matches!(style, ScalarStyle::Plain);
                self.place(Node { line, shape: Shape::Scalar { text: text.into_owned(), plain } }, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_tag(tag.is_some(), line)?;
                self.open(Open { line, anchor, kind: Kind::List(vec![]) })
            }
            Event::MappingStart(anchor, tag) => {
                refuse_tag(tag.is_some(), line)?;
                self.open(Open { line, anchor, kind: Kind::Map { entries: vec![], key: None } })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(line),
            Event::Alias(anchor) => {
                let Some(size) = self.anchors.get(&anchor).map(|(_, size)| *size) else {
                    return stop(line, "an alias stands inside its own anchor", "write the value out");
                };
                self.copy(size, line)?;
                match self.anchors.get(&anchor).map(|(node, _)| node.clone()) {
                    Some(node) => self.place(node, 0),
                    None => Ok(()),
                }
            }
        }
    }

    fn count(&mut self, more: usize, line: u32) -> Result<(), Stop> {
        self.nodes = self.nodes.saturating_add(more);
        if self.nodes > self.limits.nodes {
            let what = format!("the file has more than {} values, aliases expanded", self.limits.nodes);
            return stop(line, what, "split the file, or write fewer aliases");
        }
        Ok(())
    }

    fn copy(&mut self, size: Size, line: u32) -> Result<(), Stop> {
        self.count(size.nodes, line)?;
        self.copied = self.copied.saturating_add(size.bytes);
        if self.copied > self.limits.copied {
            let what = format!("the aliases of the file repeat more than {} bytes", self.limits.copied);
            return stop(line, what, "write fewer aliases");
        }
        Ok(())
    }

    fn open(&mut self, open: Open) -> Result<(), Stop> {
        self.count(1, open.line)?;
        if self.stack.len() >= self.limits.depth {
            return stop(open.line, format!("nested more than {} levels deep", self.limits.depth), "flatten the structure");
        }
        self.stack.push(open);
        Ok(())
    }

    fn close(&mut self, line: u32) -> Result<(), Stop> {
        let Some(open) = self.stack.pop() else { return stop(line, "a collection ends that never began", "") };
        let shape = match open.kind {
            Kind::List(items) => Shape::List(items),
            Kind::Map { entries, .. } => Shape::Map(entries),
        };
        self.place(Node { line: open.line, shape }, open.anchor)
    }

    /// Puts a finished node where it belongs: into the open collection, or at the root.
    fn place(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        if anchor > 0 {
            let size = size(&node);
            // The copy kept for aliases counts too, or nested anchors would multiply memory unseen.
            self.copy(size, node.line)?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let line = node.line;
        match self.stack.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(Kind::List(items)) => items.push(node),
            Some(Kind::Map { entries, key }) => match key.take() {
                Some(key) => entries.push((key, node)),
                None => *key = Some(as_key(node, line)?),
            },
        }
        Ok(())
    }
}

fn as_key(node: Node, line: u32) -> Result<Key, Stop> {
    match node.shape {
        Shape::Scalar { text, plain: true } if text == "<<" => stop(line, "merge keys are not supported", "write the keys out"),
        Shape::Scalar { text, .. } => Ok(Key { text, line }),
        Shape::List(_) | Shape::Map(_) => stop(line, "a key must be a word, not a collection", ""),
    }
}

fn refuse_tag(tagged: bool, line: u32) -> Result<(), Stop> {
    if tagged { stop(line, "YAML tags are not supported: data is inert", "remove the !tag") } else { Ok(()) }
}

#[derive(Debug, Clone, Copy)]
struct Size {
    nodes: usize,
    bytes: usize,
}

impl Size {
    fn and(self, other: Size) -> Size {
        Size { nodes: self.nodes + other.nodes, bytes: self.bytes + other.bytes }
    }
}

fn size(node: &Node) -> Size {
    let one = Size { nodes: 1, bytes: 0 };
    match &node.shape {
        Shape::Scalar { text, .. } => Size { bytes: text.len(), ..one },
        Shape::List(items) => items.iter().map(size).fold(one, Size::and),
        Shape::Map(entries) => {
            entries.iter().map(|(key, node)| Size { nodes: 0, bytes: key.text.len() }.and(size(node))).fold(one, Size::and)
        }
    }
}

fn line_of(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &str) -> String {
        let report = Report::new("f.yaml");
        assert_eq!(load(text, Limits::default(), &report), None);
        report.into_problems()[0].to_string()
    }

    #[test]
    fn keeps_text_and_lines() {
        let report = Report::new("f.yaml");
        let node = load("a: no\nb: 0x12\n", Limits::default(), &report).unwrap();
        let Shape::Map(entries) = node.shape else { panic!("a map") };
        assert_eq!(entries[1].0, Key { text: "b".into(), line: 2 });
        assert_eq!(entries[1].1.shape, Shape::Scalar { text: "0x12".into(), plain: true });
    }

    #[test]
    fn refuses_what_is_not_inert_or_not_bounded() {
        assert!(complaint("a: !!python/object x").contains("tags are not supported"));
        assert!(complaint("a: {<<: {b: 1}}").contains("merge keys"));
        assert!(complaint("a: 1\n---\nb: 2").contains("second document"));
        assert!(complaint(&"[".repeat(300)).starts_with("f.yaml:1"));
        let deep: String = (0..100).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        assert!(complaint(&deep).contains("nested more than"));
        let bomb: String = std::iter::once("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_string())
            .chain((1..12).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(","))))
            .collect();
        assert!(complaint(&bomb).contains("aliases expanded"));
        let long = "x".repeat(1 << 20);
        assert!(complaint(&format!("a: &a {long}\nb: [{}]", vec!["*a"; 1000].join(","))).contains("repeat more than"));
        assert!(complaint(&format!("a: &a {{\"{long}\": 1}}\nb: [{}]", vec!["*a"; 1000].join(","))).contains("repeat more than"));
        assert!(complaint(&format!("[{}", "x,".repeat(300_000))).contains("more than 200000 values"));
        assert!(complaint("\u{0}\u{1}\u{2}").contains("YAML"));
        assert!(complaint("").contains("empty"));
        assert!(complaint("a: &x [*x]").contains("alias"));
    }
}
