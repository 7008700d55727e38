//! Nodes of a YAML tree.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlNode {
    pub line: u32,
    pub shape: YamlShape,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum YamlShape {
    /// `plain` is false for quoted and block scalars, which are always text.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<YamlNode>),
    Map(Vec<(YamlKey, YamlNode)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlKey {
    pub text: String,
    pub line: u32,
}

impl YamlNode {
    /// Describes this node for an error message.
    pub fn describe(&self) -> String {
        match &self.shape {
            YamlShape::Scalar { plain: true, text } if is_null(text) => "nothing".into(),
            YamlShape::Scalar { text, .. } => format!("\"{}\"", excerpt(text)),
            YamlShape::List(_) => "a list".into(),
            YamlShape::Map(_) => "a mapping".into(),
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(&self.shape, YamlShape::Scalar { plain: true, text } if is_null(text))
    }
}

impl YamlKey {
    pub fn describe(&self) -> String {
        format!("\"{}\"", excerpt(&self.text))
    }
}

/// Shortens a text for a message, because it may be as long as a hostile file.
pub(super) fn excerpt(text: &str) -> String {
    let mut head: String = text.chars().take(MAX_EXCERPT_CHARS).collect();
    if head.len() < text.len() {
        head.push('…');
    }
    head
}

const MAX_EXCERPT_CHARS: usize = 80;

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null")
}
