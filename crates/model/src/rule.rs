//! The rule language of behaviour: `before(simulate, write)`, `at_most(uniswap_execute_swap[chain="base"], 1)`.
//! Parsed here once, with the column of a mistake; what a rule means on a transcript is the scorer's business.

mod parse;
mod reader;

pub(crate) use reader::Reader;

use crate::catalog::OpPattern;
use serde_json::Value;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Every B has an earlier A.
    Before(Selector, Selector),
    /// Every A is followed by some B.
    After(Selector, Selector),
    /// The next act after every A is a B.
    ImmediatelyAfter(Selector, Selector),
    Never(Selector),
    /// No B once A has happened.
    NeverAfter(Selector, Selector),
    Eventually(Selector),
    /// Every B comes within that many seconds after an A.
    Within(Selector, Selector, u64),
    AtMost(Selector, u64),
}

/// Which acts of a transcript are meant.
#[derive(Debug, Clone, PartialEq)]
pub struct Selector {
    pub what: What,
    pub tests: Vec<ArgTest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Tool(String),
    Class(Class),
    Acts(OpPattern),
    DelegateTo(String),
    /// A delegation to the guardian or the assessor, with the required answer.
    Guard(Option<Answer>),
    Assess(Option<Answer>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Read,
    Quote,
    Simulate,
    Write,
    Sign,
    Ask,
    Say,
    Report,
    Delegate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Approve,
    Veto,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ArgTest {
    pub param: String,
    pub op: Op,
    pub value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Is,
    IsNot,
    AtMost,
    AtLeast,
    Below,
    Above,
}

/// Where in the rule's text something is wrong, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    pub column: usize,
    pub what: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.what)
    }
}

impl Rule {
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        parse::rule(text)
    }

    pub fn selectors(&self) -> Vec<&Selector> {
        match self {
            Rule::Before(a, b) | Rule::After(a, b) | Rule::ImmediatelyAfter(a, b) | Rule::NeverAfter(a, b) | Rule::Within(a, b, _) => {
                vec![a, b]
            }
            Rule::Never(a) | Rule::Eventually(a) | Rule::AtMost(a, _) => vec![a],
        }
    }
}

#[cfg(test)]
mod tests;
