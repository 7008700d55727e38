//! Argument of `acts(…)` in rules.

use super::op_class::OpClass;
use super::operation::ToolOp;

/// Class of operations, or one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpPattern {
    Class(OpClass),
    Op(ToolOp),
}

impl OpPattern {
    /// Parses a word. If a class and one of its operations share a word, returns the class.
    pub fn parse(word: &str) -> Option<Self> {
        OpClass::parse(word).map(OpPattern::Class).or_else(|| ToolOp::parse(word).map(OpPattern::Op))
    }

    /// Returns every word that [`OpPattern::parse`] accepts.
    pub fn words() -> impl Iterator<Item = &'static str> {
        OpClass::ALL.iter().map(|(word, _)| *word).chain(ToolOp::ALL.iter().map(|(word, _)| *word))
    }

    /// Returns whether the pattern matches an operation.
    pub fn matches(self, op: ToolOp) -> bool {
        match self {
            OpPattern::Class(class) => op.class() == class,
            OpPattern::Op(only) => op == only,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acts_pattern_prefers_the_class() {
        let approve = OpPattern::parse("approve").unwrap();
        assert!(approve.matches(ToolOp::Approve) && approve.matches(ToolOp::Revoke));
        let revoke = OpPattern::parse("revoke").unwrap();
        assert!(revoke.matches(ToolOp::Revoke) && !revoke.matches(ToolOp::Approve));
        assert_eq!(OpPattern::parse("stroll"), None);
    }
}
