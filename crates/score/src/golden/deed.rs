//! One step by what it means, so that two ways of writing it are the same deed.

use super::Step;
use crate::compare::{Given, Meaning};
use indexmap::IndexMap;
use model::{Decimal, Param, Workspace};
use serde_json::{Map, Value};
use std::sync::LazyLock;

#[derive(Debug, Clone)]
pub(super) struct Deed<'a> {
    pub(super) by: &'a str,
    /// `calls swap_execute`, `delegates to safety-guardian`, `activates swap`.
    pub(super) does: String,
    pub(super) writes: bool,
    pub(super) means: Vec<(String, Meaning)>,
    args: Option<&'a Map<String, Value>>,
}

static UNTYPED: LazyLock<IndexMap<String, Param>> = LazyLock::new(IndexMap::new);

impl<'a> Deed<'a> {
    /// Nothing for what is only said.
    pub(super) fn of(workspace: &'a Workspace, step: &'a Step) -> Option<Self> {
        let typed = |params: &'a IndexMap<String, Param>, args: &'a Map<String, Value>| {
            Given::new(workspace, params, args).meanings().into_iter().map(|(name, meaning)| (name.to_owned(), meaning)).collect()
        };
        match step {
            Step::Call { by, tool, args } => {
                let known = workspace.tool(tool);
                let args = args.as_object();
                let means = args.map(|args| typed(known.map_or(&*UNTYPED, |tool| &tool.params), args)).unwrap_or_default();
                Some(Self {
                    by,
                    does: format!("calls {tool}"),
                    writes: known.is_some_and(model::Tool::writes) && !is_dry(args),
                    means,
                    args,
                })
            }
            Step::Delegate { by, to, params } => Some(Self {
                by,
                does: format!("delegates to {to}"),
                writes: false,
                means: typed(handed(workspace, params), params),
                args: Some(params),
            }),
            Step::Activate { skill, params } => {
                let known = workspace.skill(skill).map_or(&*UNTYPED, |skill| &skill.params);
                Some(Self { by: "", does: format!("activates {skill}"), writes: false, means: typed(known, params), args: Some(params) })
            }
            Step::Ask(_) | Step::Say(_) | Step::Refuse(_) | Step::Report(_) => None,
        }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.by == other.by && self.does == other.does
    }

    pub(super) fn is(&self, other: &Self, tolerance: f64) -> bool {
        self.is_like(other) && self.differing(other, tolerance).is_empty()
    }

    /// The arguments that mean something else on the other side, by name.
    pub(super) fn differing(&self, other: &Self, tolerance: f64) -> Vec<String> {
        let lacks = |one: &Self, of: &Self| -> Vec<String> {
            let found = |name: &str, meaning: &Meaning| of.means.iter().any(|(own, means)| own == name && alike(means, meaning, tolerance));
            one.means.iter().filter(|(name, meaning)| !found(name, meaning)).map(|(name, _)| name.clone()).collect()
        };
        let mut names = [lacks(self, other), lacks(other, self)].concat();
        names.sort();
        names.dedup();
        names
    }

    /// An argument as it was written.
    pub(super) fn written(&self, name: &str) -> String {
        match self.args.and_then(|args| args.get(name)) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "not given".to_owned(),
        }
    }

    /// For people.
    pub(super) fn told(&self) -> String {
        let args: Vec<String> = self.args.into_iter().flatten().map(|(name, _)| format!("{name} {}", self.written(name))).collect();
        let by = if self.by.is_empty() { String::new() } else { format!("{} ", self.by) };
        let with = if args.is_empty() { String::new() } else { format!(" ({})", args.join(", ")) };
        format!("{by}{}{with}", self.does)
    }
}

fn is_dry(args: Option<&Map<String, Value>>) -> bool {
    args.and_then(|args| args.get("dry_run")) == Some(&Value::Bool(true))
}

/// What a hand-over's values are: nobody says, so the first tool that has parameters of these names does.
fn handed<'a>(workspace: &'a Workspace, params: &Map<String, Value>) -> &'a IndexMap<String, Param> {
    let fitting = workspace
        .tools
        .iter()
        .max_by_key(|tool| (params.keys().filter(|name| tool.params.contains_key(*name)).count(), std::cmp::Reverse(&tool.name.value)));
    fitting.map_or(&*UNTYPED, |tool| &tool.params)
}

/// Numbers may differ by rounding, everything else not at all.
pub(super) fn alike(one: &Meaning, other: &Meaning, tolerance: f64) -> bool {
    let near = |one: &Decimal, other: &Decimal| one == other || is_near(one.as_f64(), other.as_f64(), tolerance);
    match (one, other) {
        (Meaning::Amount(one), Meaning::Amount(other))
        | (Meaning::Units(one), Meaning::Units(other))
        | (Meaning::Share(one), Meaning::Share(other))
        | (Meaning::Number(one), Meaning::Number(other)) => near(one, other),
        (Meaning::List(one), Meaning::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other, tolerance))
        }
        (one, other) => one == other,
    }
}

pub(super) fn is_near(one: f64, other: f64, tolerance: f64) -> bool {
    (one - other).abs() <= tolerance * one.abs().max(other.abs())
}
