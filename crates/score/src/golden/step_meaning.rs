//! Meaning of one step, equal for different ways of writing it.

use super::GoldenStep;
use crate::compare::{TypedArgs, ValueMeaning};
use indexmap::IndexMap;
use model::{Decimal, ParamSpec, Workspace};
use serde_json::{Map, Value};
use std::sync::LazyLock;

#[derive(Debug, Clone)]
pub(super) struct StepMeaning<'a> {
    pub(super) by: &'a str,
    /// `calls swap_execute`, `delegates to safety-guardian`, `activates swap`.
    pub(super) does: String,
    pub(super) writes: bool,
    pub(super) means: Vec<(String, ValueMeaning)>,
    args: Option<&'a Map<String, Value>>,
}

static NO_PARAMS: LazyLock<IndexMap<String, ParamSpec>> = LazyLock::new(IndexMap::new);

impl<'a> StepMeaning<'a> {
    /// Returns `None` for texts.
    pub(super) fn of(workspace: &'a Workspace, step: &'a GoldenStep) -> Option<Self> {
        let typed = |params: &'a IndexMap<String, ParamSpec>, args: &'a Map<String, Value>| {
            TypedArgs::new(workspace, params, args).meanings().into_iter().map(|(name, meaning)| (name.to_owned(), meaning)).collect()
        };
        match step {
            GoldenStep::Call { by, tool, args } => {
                let known = workspace.tool(tool);
                let args = args.as_object();
                let means = args.map(|args| typed(known.map_or(&*NO_PARAMS, |tool| &tool.params), args)).unwrap_or_default();
                Some(Self {
                    by,
                    does: format!("calls {tool}"),
                    writes: known.is_some_and(model::Tool::writes) && !is_dry_run(args),
                    means,
                    args,
                })
            }
            GoldenStep::Delegate { by, to, params } => Some(Self {
                by,
                does: format!("delegates to {to}"),
                writes: false,
                means: typed(delegation_params(workspace, params), params),
                args: Some(params),
            }),
            GoldenStep::Activate { skill, params } => {
                let known = workspace.skill(skill).map_or(&*NO_PARAMS, |skill| &skill.params);
                Some(Self { by: "", does: format!("activates {skill}"), writes: false, means: typed(known, params), args: Some(params) })
            }
            GoldenStep::Ask(_) | GoldenStep::Say(_) | GoldenStep::Refuse(_) | GoldenStep::Report(_) => None,
        }
    }

    pub(super) fn is_same_operation(&self, other: &Self) -> bool {
        self.by == other.by && self.does == other.does
    }

    pub(super) fn matches(&self, other: &Self, tolerance: f64) -> bool {
        self.is_same_operation(other) && self.differing_args(other, tolerance).is_empty()
    }

    /// Returns the names of arguments with different meanings.
    pub(super) fn differing_args(&self, other: &Self, tolerance: f64) -> Vec<String> {
        let lacks = |one: &Self, of: &Self| -> Vec<String> {
            let found = |name: &str, meaning: &ValueMeaning| {
                of.means.iter().any(|(own, means)| own == name && meanings_match(means, meaning, tolerance))
            };
            one.means.iter().filter(|(name, meaning)| !found(name, meaning)).map(|(name, _)| name.clone()).collect()
        };
        let mut names = [lacks(self, other), lacks(other, self)].concat();
        names.sort();
        names.dedup();
        names
    }

    /// Returns an argument as written.
    pub(super) fn arg_text(&self, name: &str) -> String {
        match self.args.and_then(|args| args.get(name)) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "not given".to_owned(),
        }
    }

    /// Describes the step with its arguments.
    pub(super) fn describe(&self) -> String {
        let args: Vec<String> = self.args.into_iter().flatten().map(|(name, _)| format!("{name} {}", self.arg_text(name))).collect();
        let by = if self.by.is_empty() { String::new() } else { format!("{} ", self.by) };
        let with = if args.is_empty() { String::new() } else { format!(" ({})", args.join(", ")) };
        format!("{by}{}{with}", self.does)
    }
}

fn is_dry_run(args: Option<&Map<String, Value>>) -> bool {
    args.and_then(|args| args.get("dry_run")) == Some(&Value::Bool(true))
}

/// Returns the parameters of the tool that shares most names with a delegation, because delegations declare no kinds.
fn delegation_params<'a>(workspace: &'a Workspace, params: &Map<String, Value>) -> &'a IndexMap<String, ParamSpec> {
    let fitting = workspace
        .tools
        .iter()
        .max_by_key(|tool| (params.keys().filter(|name| tool.params.contains_key(*name)).count(), std::cmp::Reverse(&tool.name.value)));
    fitting.map_or(&*NO_PARAMS, |tool| &tool.params)
}

/// Compares meanings; only numbers may differ, within the tolerance.
pub(super) fn meanings_match(one: &ValueMeaning, other: &ValueMeaning, tolerance: f64) -> bool {
    let near = |one: &Decimal, other: &Decimal| one == other || is_near(one.as_f64(), other.as_f64(), tolerance);
    match (one, other) {
        (ValueMeaning::Amount(one), ValueMeaning::Amount(other))
        | (ValueMeaning::Units(one), ValueMeaning::Units(other))
        | (ValueMeaning::Share(one), ValueMeaning::Share(other))
        | (ValueMeaning::Number(one), ValueMeaning::Number(other)) => near(one, other),
        (ValueMeaning::List(one), ValueMeaning::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| meanings_match(one, other, tolerance))
        }
        (one, other) => one == other,
    }
}

pub(super) fn is_near(one: f64, other: f64, tolerance: f64) -> bool {
    (one - other).abs() <= tolerance * one.abs().max(other.abs())
}
