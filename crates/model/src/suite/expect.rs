//! What must be seen in the transcript.

use super::post::{Post, read_post};
use super::wanted::{Wanted, read_wanted};
use crate::agent::read_rule;
use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::rule::Rule;
use crate::yaml::{Fields, Node, flag, json, list, map, name, spot, text, whole};
use indexmap::IndexMap;
use serde_json::Value;

#[derive(Debug, Clone, Default)]
pub struct Expect {
    pub calls: Option<ExpectedCalls>,
    pub forbid: Vec<Spot<String>>,
    pub rules: Vec<Spot<Rule>>,
    /// State predicates: what must be true of the chains afterwards.
    pub post: Vec<Spot<Post>>,
    pub output_schema: Option<Spot<String>>,
    pub skill: Option<Spot<String>>,
    pub params: IndexMap<String, Value>,
    /// What the subject must ask the user for.
    pub ask: Vec<String>,
    pub carry: Vec<Carry>,
    /// What a judge is asked about the run, in words: only for what no state can show.
    pub rubric: Option<Spot<String>>,
}

#[derive(Debug, Clone)]
pub enum ExpectedCalls {
    /// One of these alternatives, each a set of calls.
    AnyOf(Vec<Vec<ExpectedCall>>),
    /// No tool fits the request; calling one is the mistake.
    NoTool(Place),
}

impl ExpectedCalls {
    pub fn all(&self) -> impl Iterator<Item = &ExpectedCall> {
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
    pub tool: Spot<String>,
    pub args: IndexMap<String, Spot<Wanted>>,
}

/// A value that must survive from one turn or agent to another.
#[derive(Debug, Clone)]
pub struct Carry {
    pub slot: String,
    pub value: Value,
    pub from: Since,
    pub until: Option<String>,
}

/// When the user says a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// In its turn of this number, counted from 1.
    Turn(u64),
    /// When the persona tells this fact.
    Fact(String),
    /// When the persona corrects it.
    Correction(String),
}

pub(super) fn read_expect(node: &Node, report: &Report) -> Option<Expect> {
    let fields = Fields::open(node, "an expectation", report)?;
    let expect = Expect {
        calls: fields.maybe("calls", read_calls),
        forbid: fields.or_default("forbid", list(spot(name))),
        rules: fields.or_default("rules", list(spot(read_rule))),
        post: fields.or_default("post", list(spot(read_post))),
        output_schema: fields.maybe("output_schema", spot(name)),
        skill: fields.maybe("skill", spot(name)),
        params: fields.or_default("params", map(json)),
        ask: fields.or_default("ask", list(name)),
        carry: fields.or_default("carry", list(read_carry)),
        rubric: fields.maybe("rubric", spot(text)),
    };
    let empty = node_is_empty(&expect);
    fields.close();
    if empty {
        report.add(node.line, "the case expects nothing, so it could not fail", "add calls, rules, skill, forbid, post or rubric");
    }
    Some(expect)
}

fn node_is_empty(expect: &Expect) -> bool {
    expect.calls.is_none()
        && expect.forbid.is_empty()
        && expect.rules.is_empty()
        && expect.post.is_empty()
        && expect.output_schema.is_none()
        && expect.skill.is_none()
        && expect.ask.is_empty()
        && expect.carry.is_empty()
        && expect.rubric.is_none()
}

fn read_calls(node: &Node, report: &Report) -> Option<ExpectedCalls> {
    let fields = Fields::open(node, "calls", report)?;
    let any_of = fields.maybe("any_of", list(list(read_call)));
    let none = fields.maybe("none", flag);
    fields.close();
    match (any_of, none) {
        (Some(alternatives), None) if !alternatives.is_empty() && alternatives.iter().all(|calls| !calls.is_empty()) => {
            Some(ExpectedCalls::AnyOf(alternatives))
        }
        (None, Some(true)) => Some(ExpectedCalls::NoTool(report.place(node.line))),
        (Some(_) | None, Some(_) | None) => {
            report.add(node.line, "calls says neither which calls nor that none fits", "write any_of: [[{tool: …}]] or none: true");
            None
        }
    }
}

fn read_call(node: &Node, report: &Report) -> Option<ExpectedCall> {
    let fields = Fields::open(node, "an expected call", report)?;
    let tool = fields.need("tool", spot(name));
    let args = fields.or_default("args", map(spot(read_wanted)));
    fields.close();
    Some(ExpectedCall { tool: tool?, args })
}

fn read_carry(node: &Node, report: &Report) -> Option<Carry> {
    let fields = Fields::open(node, "a carried value", report)?;
    let slot = fields.need("slot", name);
    let value = fields.need("value", json);
    let turn = fields.maybe("from_turn", whole).map(Since::Turn);
    let fact = fields.maybe("from_fact", name).map(Since::Fact);
    let correction = fields.maybe("from_correction", name).map(Since::Correction);
    let until = fields.maybe("until", name);
    fields.close();
    let mut given: Vec<Since> = [turn, fact, correction].into_iter().flatten().collect();
    if given.len() != 1 {
        report.add(node.line, "a carried value says when the user names it", "one of from_turn, from_fact, from_correction");
        return None;
    }
    Some(Carry { slot: slot?, value: value?, from: given.remove(0), until })
}
