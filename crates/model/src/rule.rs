//! Rule language for behaviour: `before(simulate, write)`, `at_most(uniswap_execute_swap[chain="base"], 1)`.
//! Only parsed here. Scorers evaluate rules on transcripts.

mod display;
mod parse;
mod text_parser;
mod text_pattern;

pub(crate) use text_parser::TextParser;
pub use text_pattern::{TextPattern, any_text, contains_text};

use crate::catalog::OpPattern;
use serde_json::Value;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Every B has an earlier A.
    Before(ActionSelector, ActionSelector),
    /// Every A is followed by some B.
    After(ActionSelector, ActionSelector),
    /// The next action after every A is a B.
    ImmediatelyAfter(ActionSelector, ActionSelector),
    Never(ActionSelector),
    /// No B once A has happened.
    NeverAfter(ActionSelector, ActionSelector),
    Eventually(ActionSelector),
    /// Every B comes at most this many seconds after an A.
    Within(ActionSelector, ActionSelector, u64),
    AtMost(ActionSelector, u64),
}

/// Selects actions of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionSelector {
    pub what: SelectorTarget,
    pub tests: Vec<ArgTest>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SelectorTarget {
    Tool(String),
    Class(ActionClass),
    Acts(OpPattern),
    DelegateTo(String),
    /// Delegation to the guardian, optionally with a required decision.
    Guard(Option<RequiredDecision>),
    /// Delegation to the assessor, optionally with a required decision.
    Assess(Option<RequiredDecision>),
    /// Any of several, written `A | B`. Tests of arguments belong to each of them.
    AnyOf(Vec<ActionSelector>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionClass {
    Read,
    Quote,
    Simulate,
    Write,
    Sign,
    Ask,
    Say,
    Report,
    Delegate,
    /// Any tool call, dry runs included.
    Call,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredDecision {
    Approve,
    Veto,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ArgTest {
    pub arg: TestedArg,
    pub check: ArgCheck,
}

impl ArgTest {
    /// Returns the tested parameter; `None` if the test is about every argument.
    pub fn param(&self) -> Option<&str> {
        if let TestedArg::Param(param) = &self.arg { Some(param) } else { None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestedArg {
    Param(String),
    /// Some argument, at any depth, written `*`.
    Any,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ArgCheck {
    Compare(ArgComparison, Value),
    /// A text of the argument contains this one; letter case is ignored.
    Contains(String),
    Regex(TextPattern),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgComparison {
    Is,
    IsNot,
    AtMost,
    AtLeast,
    Below,
    Above,
}

/// Syntax error in a rule or a state predicate, with its column.
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
    /// Parses a rule.
    ///
    /// # Errors
    ///
    /// Fails with the column of the first syntax error.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        parse::parse_rule(text)
    }

    /// Returns the selectors of the rule, in the order written, with each alternative of its own.
    pub fn selectors(&self) -> Vec<&ActionSelector> {
        match self {
            Rule::Before(a, b) | Rule::After(a, b) | Rule::ImmediatelyAfter(a, b) | Rule::NeverAfter(a, b) | Rule::Within(a, b, _) => {
                [a.alternatives(), b.alternatives()].concat()
            }
            Rule::Never(a) | Rule::Eventually(a) | Rule::AtMost(a, _) => a.alternatives(),
        }
    }
}

impl ActionSelector {
    /// Returns the alternatives of the selector; itself if it has none.
    pub fn alternatives(&self) -> Vec<&ActionSelector> {
        match &self.what {
            SelectorTarget::AnyOf(several) => several.iter().flat_map(ActionSelector::alternatives).collect(),
            SelectorTarget::Tool(_)
            | SelectorTarget::Class(_)
            | SelectorTarget::Acts(_)
            | SelectorTarget::DelegateTo(_)
            | SelectorTarget::Guard(_)
            | SelectorTarget::Assess(_) => vec![self],
        }
    }
}

#[cfg(test)]
mod tests;
