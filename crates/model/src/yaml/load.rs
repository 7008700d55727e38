//! Builds a YAML tree from parser events. Depth, size and alias expansion are limited; tags are refused.

use super::node::{YamlKey, YamlNode, YamlShape};
use crate::problem::ProblemReport;
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy)]
pub struct YamlLimits {
    pub bytes: usize,
    pub depth: usize,
    /// Counted with aliases expanded, against alias bombs.
    pub nodes: usize,
    /// Bytes of text that aliases may repeat, against alias bombs with few long values.
    pub copied: usize,
}

impl Default for YamlLimits {
    fn default() -> Self {
        Self { bytes: 4 << 20, depth: 48, nodes: 200_000, copied: 4 << 20 }
    }
}

/// Reads one YAML document. Reports a problem and returns `None` if it is invalid.
pub fn load(text: &str, limits: YamlLimits, report: &ProblemReport) -> Option<YamlNode> {
    match TreeBuilder::new(limits).build(text) {
        Ok(node) => Some(node),
        Err(YamlError { line, what, remedy }) => {
            report.add(line, what, remedy);
            None
        }
    }
}

/// Returns the remedy for a message of the parser. An item or key in another column ends the list or map that it belongs to.
fn syntax_remedy(message: &str) -> &'static str {
    let is_indentation = ["expected '-' indicator", "block collection", "indentation"];
    if is_indentation.iter().any(|words| message.contains(words)) {
        "check the indentation: items of a list, and keys of a map, begin in the same column, with spaces and not with tabs"
    } else {
        "correct it here; a text with : , # or { in it needs quotes"
    }
}

/// Characters that separate or open values in flow style.
const INDICATORS: &[u8] = b",:[]{}?&*!";

struct YamlError {
    line: u32,
    what: String,
    remedy: &'static str,
}

fn fail<T>(line: u32, what: impl Into<String>, remedy: &'static str) -> Result<T, YamlError> {
    Err(YamlError { line, what: what.into(), remedy })
}

/// Collection that is not closed yet.
struct OpenCollection {
    line: u32,
    anchor: usize,
    kind: CollectionKind,
}

enum CollectionKind {
    List(Vec<YamlNode>),
    Map { entries: Vec<(YamlKey, YamlNode)>, key: Option<YamlKey> },
}

struct TreeBuilder {
    limits: YamlLimits,
    nodes: usize,
    copied: usize,
    stack: Vec<OpenCollection>,
    anchors: BTreeMap<usize, (YamlNode, NodeSize)>,
    root: Option<YamlNode>,
    documents: usize,
}

impl TreeBuilder {
    fn new(limits: YamlLimits) -> Self {
        Self { limits, nodes: 0, copied: 0, stack: vec![], anchors: BTreeMap::new(), root: None, documents: 0 }
    }

    fn build(mut self, text: &str) -> Result<YamlNode, YamlError> {
        if text.len() > self.limits.bytes {
            let what = format!("the file has {} bytes, more than the limit of {}", text.len(), self.limits.bytes);
            return fail(1, what, "split it into several files");
        }
        // The parser buffers a flow collection until it is closed, before the limits below apply.
        if text.bytes().filter(|byte| INDICATORS.contains(byte)).count() > self.limits.nodes {
            return fail(1, format!("the file has more than {} values", self.limits.nodes), "split it into several files");
        }
        for event in Parser::new_from_str(text) {
            let (event, span) = match event {
                Ok(next) => next,
                Err(error) => return Err(self.syntax_error(line_of(error.marker().line()), error.info())),
            };
            self.event(event, line_of(span.start.line()))?;
        }
        match self.root {
            Some(root) => Ok(root),
            None => fail(1, "the file is empty", "write its content or delete the file"),
        }
    }

    /// Returns an error of the parser. One in a list or map in brackets is at the bracket that is not closed, far before the line where the
    /// parser gives up.
    fn syntax_error(&self, line: u32, message: &str) -> YamlError {
        let is_in_brackets = message.contains("flow sequence") || message.contains("flow mapping");
        match self.stack.last().filter(|open| is_in_brackets && open.line < line) {
            Some(open) => YamlError {
                line: open.line,
                what: format!("not valid YAML: the bracket that opens here is not closed before line {line}: {message}"),
                remedy: "close it; a text with : , # or { in it needs quotes",
            },
            None => YamlError { line, what: format!("not valid YAML: {message}"), remedy: syntax_remedy(message) },
        }
    }

    fn event(&mut self, event: Event<'_>, line: u32) -> Result<(), YamlError> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return fail(line, "a second document starts here", "one file holds one YAML document");
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                refuse_tag(tag.is_some(), line)?;
                self.count(1, line)?;
                let plain = matches!(style, ScalarStyle::Plain);
                self.insert_node(YamlNode { line, shape: YamlShape::Scalar { text: text.into_owned(), plain } }, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_tag(tag.is_some(), line)?;
                self.open(OpenCollection { line, anchor, kind: CollectionKind::List(vec![]) })
            }
            Event::MappingStart(anchor, tag) => {
                refuse_tag(tag.is_some(), line)?;
                self.open(OpenCollection { line, anchor, kind: CollectionKind::Map { entries: vec![], key: None } })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(line),
            Event::Alias(anchor) => {
                let Some(size) = self.anchors.get(&anchor).map(|(_, size)| *size) else {
                    return fail(line, "an alias refers to the anchor that contains it", "write the value out");
                };
                self.charge_alias(size, line)?;
                match self.anchors.get(&anchor).map(|(node, _)| node.clone()) {
                    Some(node) => self.insert_node(node, 0),
                    None => Ok(()),
                }
            }
        }
    }

    fn count(&mut self, more: usize, line: u32) -> Result<(), YamlError> {
        self.nodes = self.nodes.saturating_add(more);
        if self.nodes > self.limits.nodes {
            let what = format!("the file has more than {} values, aliases expanded", self.limits.nodes);
            return fail(line, what, "split the file, or write fewer aliases");
        }
        Ok(())
    }

    fn charge_alias(&mut self, size: NodeSize, line: u32) -> Result<(), YamlError> {
        self.count(size.nodes, line)?;
        self.copied = self.copied.saturating_add(size.bytes);
        if self.copied > self.limits.copied {
            let what = format!("the aliases of the file repeat more than {} bytes", self.limits.copied);
            return fail(line, what, "write fewer aliases");
        }
        Ok(())
    }

    fn open(&mut self, open: OpenCollection) -> Result<(), YamlError> {
        self.count(1, open.line)?;
        if self.stack.len() >= self.limits.depth {
            return fail(open.line, format!("nested more than {} levels deep", self.limits.depth), "flatten the structure");
        }
        self.stack.push(open);
        Ok(())
    }

    fn close(&mut self, line: u32) -> Result<(), YamlError> {
        let Some(open) = self.stack.pop() else { return fail(line, "unexpected end of a collection", "") };
        let shape = match open.kind {
            CollectionKind::List(items) => YamlShape::List(items),
            CollectionKind::Map { entries, .. } => YamlShape::Map(entries),
        };
        self.insert_node(YamlNode { line: open.line, shape }, open.anchor)
    }

    /// Adds a complete node to the open collection, or sets it as the root.
    fn insert_node(&mut self, node: YamlNode, anchor: usize) -> Result<(), YamlError> {
        if anchor > 0 {
            let size = node_size(&node);
            // The copy kept for aliases counts too, otherwise nested anchors could multiply memory.
            self.charge_alias(size, node.line)?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let line = node.line;
        match self.stack.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(CollectionKind::List(items)) => items.push(node),
            Some(CollectionKind::Map { entries, key }) => match key.take() {
                Some(key) => entries.push((key, node)),
                None => *key = Some(as_key(node, line)?),
            },
        }
        Ok(())
    }
}

fn as_key(node: YamlNode, line: u32) -> Result<YamlKey, YamlError> {
    match node.shape {
        YamlShape::Scalar { text, plain: true } if text == "<<" => fail(line, "merge keys are not supported", "write the keys out"),
        YamlShape::Scalar { text, .. } => Ok(YamlKey { text, line }),
        YamlShape::List(_) | YamlShape::Map(_) => fail(line, "a key must be a word, not a collection", ""),
    }
}

fn refuse_tag(tagged: bool, line: u32) -> Result<(), YamlError> {
    if tagged { fail(line, "YAML tags are not supported: data is inert", "remove the !tag") } else { Ok(()) }
}

#[derive(Debug, Clone, Copy)]
struct NodeSize {
    nodes: usize,
    bytes: usize,
}

impl NodeSize {
    fn plus(self, other: NodeSize) -> NodeSize {
        NodeSize { nodes: self.nodes + other.nodes, bytes: self.bytes + other.bytes }
    }
}

fn node_size(node: &YamlNode) -> NodeSize {
    let one = NodeSize { nodes: 1, bytes: 0 };
    match &node.shape {
        YamlShape::Scalar { text, .. } => NodeSize { bytes: text.len(), ..one },
        YamlShape::List(items) => items.iter().map(node_size).fold(one, NodeSize::plus),
        YamlShape::Map(entries) => {
            entries.iter().map(|(key, node)| NodeSize { nodes: 0, bytes: key.text.len() }.plus(node_size(node))).fold(one, NodeSize::plus)
        }
    }
}

fn line_of(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_problem(text: &str) -> String {
        let report = ProblemReport::new("f.yaml");
        assert_eq!(load(text, YamlLimits::default(), &report), None);
        report.into_problems()[0].to_string()
    }

    #[test]
    fn yaml_load_keeps_text_and_lines() {
        let report = ProblemReport::new("f.yaml");
        let node = load("a: no\nb: 0x12\n", YamlLimits::default(), &report).unwrap();
        let YamlShape::Map(entries) = node.shape else { panic!("a map") };
        assert_eq!(entries[1].0, YamlKey { text: "b".into(), line: 2 });
        assert_eq!(entries[1].1.shape, YamlShape::Scalar { text: "0x12".into(), plain: true });
    }

    #[test]
    fn remedy_for_a_misplaced_item_is_the_indentation() {
        let misplaced = first_problem("cases:\n  - id: a\n    tags: [x]\n  id: b\n");
        assert!(misplaced.contains("expected '-' indicator") && misplaced.contains("check the indentation"), "{misplaced}");
        let unclosed = first_problem("about: [a, b\n");
        assert!(!unclosed.contains("check the indentation"), "{unclosed}");
    }

    #[test]
    fn an_unclosed_bracket_is_found_where_it_opens() {
        let list = first_problem("about: x\ntags: [a, b\n\n\n");
        assert!(list.starts_with("f.yaml:2") && list.contains("is not closed before line"), "{list}");
        let map = first_problem("about: x\nexpect: { calls: a,\n  b: c\n\n");
        assert!(map.starts_with("f.yaml:2") && map.contains("close it"), "{map}");
    }

    #[test]
    fn yaml_load_refuses_tags_merges_and_bombs() {
        assert!(first_problem("a: !!python/object x").contains("tags are not supported"));
        assert!(first_problem("a: {<<: {b: 1}}").contains("merge keys"));
        assert!(first_problem("a: 1\n---\nb: 2").contains("second document"));
        assert!(first_problem(&"[".repeat(300)).starts_with("f.yaml:1"));
        let deep: String = (0..100).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        assert!(first_problem(&deep).contains("nested more than"));
        let bomb: String = std::iter::once("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_string())
            .chain((1..12).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(","))))
            .collect();
        assert!(first_problem(&bomb).contains("aliases expanded"));
        let long = "x".repeat(1 << 20);
        assert!(first_problem(&format!("a: &a {long}\nb: [{}]", vec!["*a"; 1000].join(","))).contains("repeat more than"));
        assert!(first_problem(&format!("a: &a {{\"{long}\": 1}}\nb: [{}]", vec!["*a"; 1000].join(","))).contains("repeat more than"));
        assert!(first_problem(&format!("[{}", "x,".repeat(300_000))).contains("more than 200000 values"));
        assert!(first_problem("\u{0}\u{1}\u{2}").contains("YAML"));
        assert!(first_problem("").contains("empty"));
        assert!(first_problem("a: &x [*x]").contains("alias"));
    }
}
