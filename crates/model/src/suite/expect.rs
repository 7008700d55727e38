//! Expectations of a case on the transcript.

use super::arg_matcher::{ArgMatcher, read_arg_matcher};
use super::assertion::{CaseAssertion, read_assertion};
use super::call_pattern::{CallPattern, read_call_pattern};
use super::expected_report::{ExpectedReport, read_expected_report};
use super::named_args::{NamedArgs, named_args};
use super::rare_fields::{RareFields, RareValue};
use super::rubric::{CaseRubric, read_rubric};
use super::state_predicate::{StatePredicate, read_state_predicate};
use crate::agent::read_rule;
use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::rule::Rule;
use crate::yaml::{YamlFields, YamlNode, YamlShape, flag, json, list, map, name, spanned, text, unsigned};
use indexmap::IndexMap;
use serde_json::Value;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

/// Expectations of a case. Its further ones are read and changed like fields of this type.
#[derive(Debug, Clone, Default)]
pub struct CaseExpectations {
    pub calls: Option<ExpectedCalls>,
    pub further: RareFields<FurtherExpectations>,
}

/// Expectations besides calls, which most cases of tool selection do not have.
#[derive(Debug, Clone, Default)]
pub struct FurtherExpectations {
    pub forbid: Vec<Spanned<CallPattern>>,
    /// Writes that may happen besides the expected calls.
    pub allow: Vec<Spanned<CallPattern>>,
    pub rules: Vec<Spanned<Rule>>,
    /// Conditions on chain state at the end of the trial.
    pub post: Vec<Spanned<StatePredicate>>,
    pub output_schema: Option<Spanned<String>>,
    pub skill: Option<Spanned<String>>,
    pub params: IndexMap<String, Value>,
    /// Values that the subject must ask the user for.
    pub ask: Vec<String>,
    /// Further words of a question for one of these values, for example in the user's language.
    pub ask_words: IndexMap<String, Vec<String>>,
    pub carry: Vec<CarriedValue>,
    /// Tests of what was said, returned and called.
    pub assertions: Vec<CaseAssertion>,
    /// Content of the report that the agent of a carried-out skill returns.
    pub report: Option<Box<ExpectedReport>>,
    /// Question to the LLM judge, for properties that no other expectation can check.
    pub rubric: Option<Box<CaseRubric>>,
}

impl Deref for CaseExpectations {
    type Target = FurtherExpectations;

    fn deref(&self) -> &FurtherExpectations {
        &self.further
    }
}

impl DerefMut for CaseExpectations {
    fn deref_mut(&mut self) -> &mut FurtherExpectations {
        &mut self.further
    }
}

impl RareValue for FurtherExpectations {
    fn shared() -> &'static Arc<Self> {
        static DEFAULT: LazyLock<Arc<FurtherExpectations>> = LazyLock::new(Arc::default);
        &DEFAULT
    }

    fn is_default(&self) -> bool {
        self.tests_nothing() && self.allow.is_empty() && self.params.is_empty() && self.ask_words.is_empty()
    }
}

impl FurtherExpectations {
    /// Returns whether there is nothing that a trial could miss.
    fn tests_nothing(&self) -> bool {
        self.forbid.is_empty()
            && self.rules.is_empty()
            && self.post.is_empty()
            && self.output_schema.is_none()
            && self.skill.is_none()
            && self.ask.is_empty()
            && self.carry.is_empty()
            && self.assertions.is_empty()
            && self.report.is_none()
            && self.rubric.is_none()
    }
}

#[derive(Debug, Clone)]
pub enum ExpectedCalls {
    /// One of these alternatives, each a set of calls.
    AnyOf(Vec<Vec<ExpectedCall>>),
    /// No tool fits the request, and calling one is a miss.
    NoTool(Location),
}

impl ExpectedCalls {
    /// Returns the calls of all alternatives.
    pub fn expected_calls(&self) -> impl Iterator<Item = &ExpectedCall> {
        match self {
            ExpectedCalls::AnyOf(alternatives) => alternatives.as_slice(),
            ExpectedCalls::NoTool(_) => &[],
        }
        .iter()
        .flatten()
    }
}

#[derive(Debug, Clone)]
pub struct ExpectedCall {
    pub tool: Spanned<String>,
    pub args: NamedArgs<ArgMatcher>,
    /// The write of a server counts as made also if the server answered with an error.
    pub may_fail: bool,
}

impl ExpectedCall {
    /// Returns the place of an argument.
    pub fn arg_location(&self, name: &str) -> Location {
        Location { file: self.tool.at.file.clone(), line: self.args.line(name).unwrap_or(self.tool.at.line) }
    }
}

/// Value that must be preserved across turns or agents.
#[derive(Debug, Clone)]
pub struct CarriedValue {
    pub slot: String,
    pub value: Value,
    pub from: ValueOrigin,
    pub until: Option<String>,
}

/// User message that contains a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueOrigin {
    /// User turn with this number, counted from 1.
    Turn(u64),
    /// Message in which the persona tells this fact.
    Fact(String),
    /// Message in which the persona corrects this fact.
    Correction(String),
}

/// Keys of an expectation that test something.
const TESTING_KEYS: &[&str] = &["calls", "forbid", "rules", "post", "output_schema", "skill", "ask", "carry", "assert", "report", "rubric"];

pub(crate) fn read_expect(node: &YamlNode, report: &ProblemReport) -> Option<CaseExpectations> {
    let fields = YamlFields::open(node, "an expectation", report)?;
    let calls = fields.optional("calls", read_calls);
    let further = FurtherExpectations {
        forbid: fields.or_default("forbid", list(spanned(read_call_pattern))),
        allow: fields.or_default("allow", list(spanned(read_call_pattern))),
        rules: fields.or_default("rules", list(spanned(read_rule))),
        post: fields.or_default("post", list(spanned(read_state_predicate))),
        output_schema: fields.optional("output_schema", spanned(name)),
        skill: fields.optional("skill", spanned(name)),
        params: fields.or_default("params", map(json)),
        ask: fields.or_default("ask", list(name)),
        ask_words: fields.or_default("ask_words", map(list(text))),
        carry: fields.or_default("carry", list(read_carry)),
        assertions: fields.or_default("assert", list(read_assertion)),
        report: fields.optional("report", read_expected_report).map(Box::new),
        rubric: fields.optional("rubric", read_rubric).map(Box::new),
    };
    let empty = calls.is_none() && further.tests_nothing();
    for slot in further.ask_words.keys().filter(|slot| !further.ask.contains(slot)) {
        report.add(node.line, format!("ask_words has words for {slot}, which ask does not list"), "add it to ask, or remove its words");
    }
    // A part that is stated and cannot be read has a problem of its own.
    let is_stated = |&key: &&'static str| {
        fields.get(key).is_some_and(|node| match &node.shape {
            YamlShape::List(items) => !items.is_empty(),
            YamlShape::Map(entries) => !entries.is_empty(),
            YamlShape::Scalar { .. } => !node.is_null(),
        })
    };
    let is_stated = TESTING_KEYS.iter().any(is_stated);
    fields.close();
    if empty && !is_stated {
        report.add(node.line, "the case expects nothing, so it could not fail", "add calls, rules, skill, forbid, post, assert or rubric");
    }
    Some(CaseExpectations { calls, further: further.into() })
}

fn read_calls(node: &YamlNode, report: &ProblemReport) -> Option<ExpectedCalls> {
    let fields = YamlFields::open(node, "calls", report)?;
    let any_of = fields.optional("any_of", list(list(read_call)));
    let none = fields.optional("none", flag);
    fields.close();
    match (any_of, none) {
        (Some(alternatives), None) if !alternatives.is_empty() && alternatives.iter().all(|calls| !calls.is_empty()) => {
            Some(ExpectedCalls::AnyOf(alternatives))
        }
        (None, Some(true)) => Some(ExpectedCalls::NoTool(report.location(node.line))),
        (Some(_) | None, Some(_) | None) => {
            report.add(node.line, "calls has neither alternatives nor none: true", "write any_of: [[{tool: …}]] or none: true");
            None
        }
    }
}

fn read_call(node: &YamlNode, report: &ProblemReport) -> Option<ExpectedCall> {
    let fields = YamlFields::open(node, "an expected call", report)?;
    let tool = fields.required("tool", spanned(name));
    let args = fields.or_default("args", named_args(read_arg_matcher));
    let may_fail = fields.or_default("may_fail", flag);
    fields.close();
    Some(ExpectedCall { tool: tool?, args, may_fail })
}

fn read_carry(node: &YamlNode, report: &ProblemReport) -> Option<CarriedValue> {
    let fields = YamlFields::open(node, "a carried value", report)?;
    let slot = fields.required("slot", name);
    let value = fields.required("value", json);
    let turn = fields.optional("from_turn", unsigned).map(ValueOrigin::Turn);
    let fact = fields.optional("from_fact", name).map(ValueOrigin::Fact);
    let correction = fields.optional("from_correction", name).map(ValueOrigin::Correction);
    let until = fields.optional("until", name);
    fields.close();
    let mut given: Vec<ValueOrigin> = [turn, fact, correction].into_iter().flatten().collect();
    if given.len() != 1 {
        report.add(node.line, "a carried value needs exactly one source", "one of from_turn, from_fact, from_correction");
        return None;
    }
    Some(CarriedValue { slot: slot?, value: value?, from: given.remove(0), until })
}
