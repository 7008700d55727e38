//! Runs that are nearly right: the reference of a case with one thing wrong.

use super::alter::altered;
use crate::confusability::Pair;
use indexmap::IndexMap;
use model::suite::{ArgValue, Case, ExpectedCall, ExpectedCalls, RefDoes, RefStep, SuiteKind, Wanted};
use model::{Kind, Param, Place, Spot, Workspace};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A reference with one thing wrong.
#[derive(Debug)]
pub(crate) struct Mutant {
    /// For people: `swap_execute with another amount`.
    pub(crate) what: String,
    /// Whether money would have moved.
    pub(crate) writes: bool,
    /// Whether the case states what was changed; otherwise only the reference does.
    pub(crate) stated: bool,
    pub(crate) steps: Vec<RefStep>,
    pub(crate) at: Place,
}

/// The tools each tool is most easily taken for, nearest first.
#[derive(Debug, Default)]
pub(crate) struct Neighbours(BTreeMap<String, Vec<String>>);

/// So many look-alikes of a tool are tried.
const NEAREST: usize = 2;

impl Neighbours {
    /// Pairs come most similar first.
    pub(crate) fn of(pairs: &[Pair]) -> Self {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in pairs {
            found.entry(pair.a.clone()).or_default().push(pair.b.clone());
            found.entry(pair.b.clone()).or_default().push(pair.a.clone());
        }
        Self(found)
    }

    /// Those on offer where the case plays, but for tools that are right as well.
    fn near(&self, workspace: &Workspace, case: &Case, tool: &str) -> Vec<&str> {
        let offered = workspace.surface_tools(&case.brief.surface);
        let right = |name: &str| expected(case).any(|call| workspace.tool(&call.tool).is_some_and(|tool| *tool.name == name));
        let near = self.0.get(tool).into_iter().flatten().map(String::as_str);
        near.filter(|name| offered.iter().any(|tool| *tool.name == *name) && !right(name)).take(NEAREST).collect()
    }
}

fn expected(case: &Case) -> impl Iterator<Item = &ExpectedCall> {
    case.expect.calls.iter().flat_map(ExpectedCalls::all)
}

/// Every run that differs from the case's reference in one expected thing.
pub(crate) fn mutants(workspace: &Workspace, case: &Case, neighbours: &Neighbours) -> Vec<Mutant> {
    let mut found = vec![];
    for (n, step) in case.reference.iter().enumerate() {
        let site = Site { workspace, case, n, step };
        match &step.does {
            RefDoes::Call { tool, args } if !prepares(case, args) => site.call(tool, args, neighbours, &mut found),
            RefDoes::Activate { skill, params } if case.expect.skill.as_ref().is_some_and(|wanted| **wanted == **skill) => {
                site.activation(skill, params, &mut found);
            }
            RefDoes::Ask(_) if !case.expect.ask.is_empty() => found.push(site.without("the question", false)),
            RefDoes::Call { .. }
            | RefDoes::Delegate { .. }
            | RefDoes::Activate { .. }
            | RefDoes::Ask(_)
            | RefDoes::Say(_)
            | RefDoes::Report(_) => {}
        }
    }
    found
}

/// Outside of tool selection a dry run is preparation; a case expects the act.
fn prepares(case: &Case, args: &IndexMap<String, ArgValue>) -> bool {
    case.kind != SuiteKind::ToolSelection && args.get("dry_run") == Some(&ArgValue::Given(Value::Bool(true)))
}

/// One step of a reference.
struct Site<'w> {
    workspace: &'w Workspace,
    case: &'w Case,
    n: usize,
    step: &'w RefStep,
}

impl Site<'_> {
    fn call(&self, name: &Spot<String>, args: &IndexMap<String, ArgValue>, neighbours: &Neighbours, found: &mut Vec<Mutant>) {
        let Some(tool) = self.workspace.tool(name) else { return };
        let same: Vec<&ExpectedCall> = expected(self.case).filter(|call| tool.answers_to(&call.tool)).collect();
        if same.is_empty() {
            return;
        }
        let writes = tool.writes();
        if !self.is_optional() {
            found.push(self.without(&tool.name, writes));
        }
        for other in neighbours.near(self.workspace, self.case, &tool.name) {
            let does = RefDoes::Call { tool: Spot::new(other.to_owned(), name.at.clone()), args: args.clone() };
            found.push(self.instead(format!("{other} instead of {}", *tool.name), writes, true, does));
        }
        let given = plain(args);
        for (arg, value) in args {
            let wanted: Vec<&Wanted> = same.iter().filter_map(|call| call.args.get(arg)).map(|wanted| &wanted.value).collect();
            let stated = wanted.len() == same.len();
            let moves_money = writes && is_money(&tool.params, arg) && matches!(value, ArgValue::Given(_));
            if !stated && !moves_money {
                continue;
            }
            let mut other = args.clone();
            let what = match altered(self.workspace, &tool.params, &given, arg, &wanted) {
                Some(value) => {
                    other.insert(arg.clone(), ArgValue::Given(value));
                    format!("{} with another {arg}", *tool.name)
                }
                None => {
                    other.shift_remove(arg);
                    format!("{} without {arg}", *tool.name)
                }
            };
            found.push(self.instead(what, writes, stated, RefDoes::Call { tool: name.clone(), args: other }));
        }
    }

    fn activation(&self, skill: &Spot<String>, params: &IndexMap<String, ArgValue>, found: &mut Vec<Mutant>) {
        found.push(self.without(skill, false));
        let Some(known) = self.workspace.skill(skill) else { return };
        let sibling = known.redirects.first().map(|redirect| redirect.to.value.as_str());
        let any = || self.workspace.skills.iter().map(|other| other.name.as_str()).find(|name| *name != skill.as_str());
        if let Some(other) = sibling.or_else(any) {
            let does = RefDoes::Activate { skill: Spot::new(other.to_owned(), skill.at.clone()), params: params.clone() };
            found.push(self.instead(format!("the skill {other} instead of {}", **skill), false, true, does));
        }
        let given = plain(params);
        for name in self.case.expect.params.keys().filter(|name| params.contains_key(*name)) {
            let Some(value) = altered(self.workspace, &known.params, &given, name, &[]) else { continue };
            let mut other = params.clone();
            other.insert(name.clone(), ArgValue::Given(value));
            let does = RefDoes::Activate { skill: skill.clone(), params: other };
            found.push(self.instead(format!("the skill {} with another {name}", **skill), false, true, does));
        }
    }

    fn without(&self, what: &str, writes: bool) -> Mutant {
        let mut steps = self.case.reference.clone();
        steps.remove(self.n);
        Mutant { what: format!("no {what}"), writes, stated: true, steps, at: self.step.at.clone() }
    }

    fn instead(&self, what: String, writes: bool, stated: bool, does: RefDoes) -> Mutant {
        let mut steps = self.case.reference.clone();
        steps[self.n].does = does;
        Mutant { what, writes, stated, steps, at: self.step.at.clone() }
    }

    /// Whether the case accepts both the calls of its reference and those without this one: then leaving it out is right too.
    fn is_optional(&self) -> bool {
        let Some(ExpectedCalls::AnyOf(alternatives)) = &self.case.expect.calls else { return false };
        let tools = |without: Option<usize>| {
            let made = self.case.reference.iter().enumerate().filter(|(n, _)| Some(*n) != without);
            let mut names: Vec<&str> = made
                .filter_map(|(_, step)| {
                    let RefDoes::Call { tool, args } = &step.does else { return None };
                    (!prepares(self.case, args)).then(|| self.canonical(tool))
                })
                .filter(|name| expected(self.case).any(|call| self.canonical(&call.tool) == *name))
                .collect();
            names.sort_unstable();
            names
        };
        let accepted = |names: &[&str]| {
            alternatives.iter().any(|alternative| {
                let mut wanted: Vec<&str> = alternative.iter().map(|call| self.canonical(&call.tool)).collect();
                wanted.sort_unstable();
                wanted == names
            })
        };
        accepted(&tools(None)) && accepted(&tools(Some(self.n)))
    }

    fn canonical<'a>(&'a self, name: &'a str) -> &'a str {
        self.workspace.tool(name).map_or(name, |tool| tool.name.as_str())
    }
}

/// What is written down; what comes from an earlier answer stands as the name of the step.
fn plain(args: &IndexMap<String, ArgValue>) -> Map<String, Value> {
    let value = |arg: &ArgValue| match arg {
        ArgValue::Given(value) => value.clone(),
        ArgValue::From { step, .. } => Value::String(step.clone()),
    };
    args.iter().map(|(name, arg)| (name.clone(), value(arg))).collect()
}

/// Whether the parameter says how much of what goes where.
fn is_money(params: &IndexMap<String, Param>, name: &str) -> bool {
    let kind = params.get(name).and_then(|param| param.kind.as_ref());
    matches!(kind, Some(Kind::Amount { .. } | Kind::Token(_) | Kind::Address(_) | Kind::Chain(_)))
}
