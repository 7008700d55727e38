//! Reference solution of a case, played by the scripted `reference` subject. It must pass.

use super::named_args::{NamedArgs, named_args};
use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, YamlShape, json, name, spanned, text};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone)]
pub struct ReferenceStep {
    /// Acting agent; the agent of the surface if absent.
    pub agent: Option<Spanned<String>>,
    pub action: ReferenceAction,
    /// Name of the answer, for references in later steps.
    pub name: Option<String>,
    pub at: Location,
}

#[derive(Debug, Clone)]
pub enum ReferenceAction {
    Call { tool: Spanned<String>, args: NamedArgs<ArgValue> },
    Delegate { to: Spanned<String>, params: NamedArgs<ArgValue> },
    Activate { skill: Spanned<String>, params: NamedArgs<ArgValue> },
    Ask(String),
    Say(String),
    Report(String),
}

impl ReferenceAction {
    /// Returns the tool that the action calls.
    pub fn called_tool(&self) -> Option<&str> {
        self.called_name().map(|name| name.value.as_str())
    }

    /// Returns the tool that the action calls, with its place.
    pub fn called_name(&self) -> Option<&Spanned<String>> {
        match self {
            ReferenceAction::Call { tool, .. } => Some(tool),
            ReferenceAction::Delegate { .. }
            | ReferenceAction::Activate { .. }
            | ReferenceAction::Ask(_)
            | ReferenceAction::Say(_)
            | ReferenceAction::Report(_) => None,
        }
    }
}

/// Literal value, or a value from an earlier answer. There are no templates.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgValue {
    Given(Value),
    From { step: String, path: String },
}

impl ReferenceStep {
    /// Returns the step as a file states it.
    pub fn to_json(&self) -> Value {
        let mut step = Map::new();
        if let Some(agent) = &self.agent {
            step.insert("agent".to_owned(), json!(agent.value));
        }
        if let Some(name) = &self.name {
            step.insert("as".to_owned(), json!(name));
        }
        let mut add = |key: &str, value: Value| drop(step.insert(key.to_owned(), value));
        match &self.action {
            ReferenceAction::Call { tool, args } => {
                add("call", json!(tool.value));
                add("args", args_to_json(args));
            }
            ReferenceAction::Delegate { to, params } => {
                add("delegate", json!(to.value));
                add("params", args_to_json(params));
            }
            ReferenceAction::Activate { skill, params } => {
                add("activate", json!(skill.value));
                add("params", args_to_json(params));
            }
            ReferenceAction::Ask(text) => add("ask", json!(text)),
            ReferenceAction::Say(text) => add("say", json!(text)),
            ReferenceAction::Report(text) => add("report", json!(text)),
        }
        Value::Object(step)
    }
}

fn args_to_json(args: &NamedArgs<ArgValue>) -> Value {
    let value = |value: &ArgValue| match value {
        ArgValue::Given(value) => value.clone(),
        ArgValue::From { step, path } => json!({ "from": step, "path": path }),
    };
    Value::Object(args.iter().map(|(name, arg)| (name.to_owned(), value(arg))).collect())
}

pub(crate) fn read_reference(node: &YamlNode, report: &ProblemReport) -> Option<ReferenceStep> {
    let fields = YamlFields::open(node, "a reference step", report)?;
    let agent = fields.optional("agent", spanned(name));
    let named = fields.optional("as", name);
    let call = fields.optional("call", spanned(name));
    let delegate = fields.optional("delegate", spanned(name));
    let activate = fields.optional("activate", spanned(name));
    let ask = fields.optional("ask", text).map(ReferenceAction::Ask);
    let say = fields.optional("say", text).map(ReferenceAction::Say);
    let reported = fields.optional("report", text).map(ReferenceAction::Report);
    let args = fields.or_default("args", named_args(read_arg));
    let params = fields.or_default("params", named_args(read_arg));
    fields.close();
    let call = call.map(|tool| ReferenceAction::Call { tool, args });
    let delegate = delegate.map(|to| ReferenceAction::Delegate { to, params: params.clone() });
    let activate = activate.map(|skill| ReferenceAction::Activate { skill, params });
    let mut given: Vec<ReferenceAction> = [call, delegate, activate, ask, say, reported].into_iter().flatten().collect();
    if given.len() != 1 {
        report.add(node.line, "a reference step does exactly one thing", "one of call, delegate, activate, ask, say, report");
        return None;
    }
    Some(ReferenceStep { agent, action: given.remove(0), name: named, at: report.location(node.line) })
}

fn read_arg(node: &YamlNode, report: &ProblemReport) -> Option<ArgValue> {
    let is_reference = matches!(&node.shape, YamlShape::Map(entries) if entries.iter().any(|(key, _)| key.text == "from"));
    if !is_reference {
        return json(node, report).map(ArgValue::Given);
    }
    let fields = YamlFields::open(node, "a back-reference", report)?;
    let step = fields.required("from", name);
    let path = fields.required("path", name);
    fields.close();
    Some(ArgValue::From { step: step?, path: path? })
}
