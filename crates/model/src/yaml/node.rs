//! One node of a YAML tree.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub line: u32,
    pub shape: Shape,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// `plain` is false for quoted and block scalars, which are always text.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub text: String,
    pub line: u32,
}

impl Node {
    /// What a person would call this node in an error message.
    pub fn describe(&self) -> String {
        match &self.shape {
            Shape::Scalar { plain: true, text } if is_null(text) => "nothing".into(),
            Shape::Scalar { text, .. } => format!("\"{}\"", head(text)),
            Shape::List(_) => "a list".into(),
            Shape::Map(_) => "a mapping".into(),
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(&self.shape, Shape::Scalar { plain: true, text } if is_null(text))
    }
}

impl Key {
    pub fn describe(&self) -> String {
        format!("\"{}\"", head(&self.text))
    }
}

/// Enough of a text to recognise it: a message must not be as long as a hostile file.
pub(super) fn head(text: &str) -> String {
    let mut head: String = text.chars().take(MOST_SHOWN).collect();
    if head.len() < text.len() {
        head.push('…');
    }
    head
}

const MOST_SHOWN: usize = 80;

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null")
}
