//! A run that must pass: what the scripted `reference` subject plays.

use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::yaml::{Fields, Node, Shape, json, map, name, spot, text};
use indexmap::IndexMap;
use serde_json::Value;

#[derive(Debug, Clone)]
pub struct RefStep {
    /// Who acts; the agent of the surface where it is left out.
    pub agent: Option<Spot<String>>,
    pub does: RefDoes,
    /// A name for the answer, so that later steps can refer to it.
    pub name: Option<String>,
    pub at: Place,
}

#[derive(Debug, Clone)]
pub enum RefDoes {
    Call { tool: Spot<String>, args: IndexMap<String, ArgValue> },
    Delegate { to: Spot<String>, params: IndexMap<String, ArgValue> },
    Activate { skill: Spot<String>, params: IndexMap<String, ArgValue> },
    Ask(String),
    Say(String),
    Report(String),
}

/// What somebody who obeys an attack does: the calls it means, and the marker by which the attack is known to have been read.
#[derive(Debug, Clone)]
pub struct Lure {
    pub marker: String,
    pub if_obeyed: Vec<RefStep>,
}

/// A value written down, or taken from an earlier answer. No templates: data is inert.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgValue {
    Given(Value),
    From { step: String, path: String },
}

pub(super) fn read_reference(node: &Node, report: &Report) -> Option<RefStep> {
    let fields = Fields::open(node, "a reference step", report)?;
    let agent = fields.maybe("agent", spot(name));
    let named = fields.maybe("as", name);
    let call = fields.maybe("call", spot(name));
    let delegate = fields.maybe("delegate", spot(name));
    let activate = fields.maybe("activate", spot(name));
    let ask = fields.maybe("ask", text).map(RefDoes::Ask);
    let say = fields.maybe("say", text).map(RefDoes::Say);
    let reported = fields.maybe("report", text).map(RefDoes::Report);
    let args = fields.or_default("args", map(read_arg));
    let params = fields.or_default("params", map(read_arg));
    fields.close();
    let call = call.map(|tool| RefDoes::Call { tool, args });
    let delegate = delegate.map(|to| RefDoes::Delegate { to, params: params.clone() });
    let activate = activate.map(|skill| RefDoes::Activate { skill, params });
    let mut given: Vec<RefDoes> = [call, delegate, activate, ask, say, reported].into_iter().flatten().collect();
    if given.len() != 1 {
        report.add(node.line, "a reference step does exactly one thing", "one of call, delegate, activate, ask, say, report");
        return None;
    }
    Some(RefStep { agent, does: given.remove(0), name: named, at: report.place(node.line) })
}

fn read_arg(node: &Node, report: &Report) -> Option<ArgValue> {
    let is_reference = matches!(&node.shape, Shape::Map(entries) if entries.iter().any(|(key, _)| key.text == "from"));
    if !is_reference {
        return json(node, report).map(ArgValue::Given);
    }
    let fields = Fields::open(node, "a back-reference", report)?;
    let step = fields.need("from", name);
    let path = fields.need("path", name);
    fields.close();
    Some(ArgValue::From { step: step?, path: path? })
}
