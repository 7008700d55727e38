//! Mutants: the reference of a case with one mistake.

use super::altered_args::altered_argument;
use crate::confusability::ConfusablePair;
use indexmap::IndexMap;
use model::suite::{
    ArgMatcher, ArgValue, AssertedText, AssertionSubject, Case, CaseAssertion, ExpectedCall, ExpectedCalls, NamedArgs, ReferenceAction,
    ReferenceStep, SuiteKind,
};
use model::{Location, ParamKind, ParamSpec, Spanned, Tool, Workspace};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Reference with one mistake.
#[derive(Debug)]
pub(crate) struct ReferenceMutant {
    /// Description, such as `swap_execute with another amount`.
    pub(crate) what: String,
    /// The mutated step is a write.
    pub(crate) writes: bool,
    /// The case states the changed value; otherwise only the reference does.
    pub(crate) stated: bool,
    pub(crate) steps: Vec<ReferenceStep>,
    /// Number of the mutated step in the reference.
    pub(crate) step: usize,
    /// The step is left out.
    pub(crate) is_omission: bool,
    pub(crate) at: Location,
}

/// Most similar tools of each tool, most similar first.
#[derive(Debug, Default)]
pub(crate) struct ToolNeighbours(BTreeMap<String, Vec<String>>);

/// Answer that no case should be content with.
const OTHER_ANSWER: &str = "Done.";
/// Maximum similar tools tried per call.
const MAX_NEIGHBOURS: usize = 2;

impl ToolNeighbours {
    /// Builds the map from pairs sorted by similarity.
    pub(crate) fn of(pairs: &[ConfusablePair]) -> Self {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in pairs {
            found.entry(pair.a.clone()).or_default().push(pair.b.clone());
            found.entry(pair.b.clone()).or_default().push(pair.a.clone());
        }
        Self(found)
    }

    /// Returns similar tools of the case's surface that the case does not expect. In tool selection a quote of the call is no mistake.
    fn nearest_offered(&self, workspace: &Workspace, case: &Case, tool: &str) -> Vec<&str> {
        let offered = workspace.surface_tools(&case.brief.surface);
        let is_expected = |name: &str| expected_calls(case).any(|call| workspace.tool(&call.tool).is_some_and(|tool| *tool.name == name));
        let near = self.0.get(tool).into_iter().flatten().map(String::as_str);
        let is_quote = |other: &Tool| case.kind == SuiteKind::ToolSelection && prepares(other, tool);
        let is_wrong = |other: &Tool| !is_expected(&other.name) && !is_quote(other);
        near.filter(|name| offered.iter().any(|other| *other.name == **name && is_wrong(other))).take(MAX_NEIGHBOURS).collect()
    }
}

fn prepares(tool: &Tool, write: &str) -> bool {
    tool.prepares.as_ref().is_some_and(|target| target.tools().iter().any(|name| name.as_str() == write))
}

pub(super) fn expected_calls(case: &Case) -> impl Iterator<Item = &ExpectedCall> {
    case.expect.calls.iter().flat_map(ExpectedCalls::expected_calls)
}

/// Returns the mutants of the case's reference: one expected step removed, replaced by a similar tool or skill, or with one argument
/// changed.
pub(crate) fn mutants(workspace: &Workspace, case: &Case, neighbours: &ToolNeighbours) -> Vec<ReferenceMutant> {
    let mut found = vec![];
    for (n, step) in case.reference.iter().enumerate() {
        let site = MutatedStep { workspace, case, n, step };
        match &step.action {
            ReferenceAction::Call { tool, args } if !is_preparation(case, args) => site.mutate_call(tool, args, neighbours, &mut found),
            ReferenceAction::Activate { skill, params } if case.expect.skill.as_ref().is_some_and(|wanted| **wanted == **skill) => {
                site.mutate_activation(skill, params, &mut found);
            }
            ReferenceAction::Ask(_) if !case.expect.ask.is_empty() => found.push(site.without_step("question", false)),
            ReferenceAction::Say(_) if site.is_asserted_answer() => {
                found.push(site.without_step("answer", false));
                let action = ReferenceAction::Say(OTHER_ANSWER.to_owned());
                found.push(site.with_step_replaced("another answer".to_owned(), false, true, action));
            }
            ReferenceAction::Call { .. }
            | ReferenceAction::Delegate { .. }
            | ReferenceAction::Activate { .. }
            | ReferenceAction::Ask(_)
            | ReferenceAction::Say(_)
            | ReferenceAction::Report(_) => {}
        }
    }
    found
}

/// Returns the reference without several steps, which are left out at once.
pub(crate) fn without_steps(case: &Case, left_out: &BTreeSet<usize>) -> Vec<ReferenceStep> {
    let kept = case.reference.iter().enumerate().filter(|(n, _)| !left_out.contains(n));
    kept.map(|(_, step)| step.clone()).collect()
}

/// Reports whether a call is a dry run that only prepares the expected call. In tool selection a dry run counts as the call.
pub(super) fn is_preparation(case: &Case, args: &NamedArgs<ArgValue>) -> bool {
    case.kind != SuiteKind::ToolSelection && args.get("dry_run") == Some(&ArgValue::Given(Value::Bool(true)))
}

/// Step of a reference to mutate.
struct MutatedStep<'w> {
    workspace: &'w Workspace,
    case: &'w Case,
    n: usize,
    step: &'w ReferenceStep,
}

impl MutatedStep<'_> {
    fn mutate_call(
        &self,
        name: &Spanned<String>,
        args: &NamedArgs<ArgValue>,
        neighbours: &ToolNeighbours,
        found: &mut Vec<ReferenceMutant>,
    ) {
        let Some(tool) = self.workspace.tool(name) else { return };
        let expected: Vec<&ExpectedCall> = expected_calls(self.case).filter(|call| tool.has_name(&call.tool)).collect();
        if expected.is_empty() {
            if self.is_asserted_call(tool) {
                found.push(self.without_step(&tool.name, tool.writes()));
            }
            return;
        }
        let writes = tool.writes();
        if !self.is_optional() {
            found.push(self.without_step(&tool.name, writes));
        }
        for other in neighbours.nearest_offered(self.workspace, self.case, &tool.name) {
            let action = ReferenceAction::Call { tool: Spanned::new(other.to_owned(), name.at.clone()), args: args.clone() };
            found.push(self.with_step_replaced(format!("{other} instead of {}", *tool.name), writes, true, action));
        }
        let given = literal_args(args);
        for (arg, value) in args {
            let wanted: Vec<&ArgMatcher> = expected.iter().filter_map(|call| call.args.get(arg)).collect();
            let stated = wanted.len() == expected.len();
            let moves_money = writes && is_money_param(&tool.params, arg) && matches!(value, ArgValue::Given(_));
            if !stated && !moves_money {
                continue;
            }
            let mut other = args.clone();
            let what = match altered_argument(self.workspace, &tool.params, &given, arg, &wanted) {
                Some(value) => {
                    other.insert(arg, ArgValue::Given(value));
                    format!("{} with another {arg}", *tool.name)
                }
                None if wanted.iter().any(|wanted| wanted.may_be_absent()) => continue,
                None => {
                    other.remove(arg);
                    format!("{} without {arg}", *tool.name)
                }
            };
            found.push(self.with_step_replaced(what, writes, stated, ReferenceAction::Call { tool: name.clone(), args: other }));
        }
    }

    fn mutate_activation(&self, skill: &Spanned<String>, params: &NamedArgs<ArgValue>, found: &mut Vec<ReferenceMutant>) {
        found.push(self.without_step(skill, false));
        let Some(known) = self.workspace.skill(skill) else { return };
        let sibling = known.redirects.first().map(|redirect| redirect.to.value.as_str());
        let any = || self.workspace.skills.iter().map(|other| other.name.as_str()).find(|name| *name != skill.as_str());
        if let Some(other) = sibling.or_else(any) {
            let action = ReferenceAction::Activate { skill: Spanned::new(other.to_owned(), skill.at.clone()), params: params.clone() };
            found.push(self.with_step_replaced(format!("the skill {other} instead of {}", **skill), false, true, action));
        }
        let given = literal_args(params);
        for name in self.case.expect.params.keys().filter(|name| params.contains_key(name)) {
            let Some(value) = altered_argument(self.workspace, &known.params, &given, name, &[]) else { continue };
            let mut other = params.clone();
            other.insert(name, ArgValue::Given(value));
            let action = ReferenceAction::Activate { skill: skill.clone(), params: other };
            found.push(self.with_step_replaced(format!("the skill {} with another {name}", **skill), false, true, action));
        }
    }

    /// Reports whether the step is the last answer, and the case asserts words of it.
    fn is_asserted_answer(&self) -> bool {
        let says = |step: &ReferenceStep| matches!(step.action, ReferenceAction::Say(_) | ReferenceAction::Ask(_));
        let is_last = !self.case.reference[self.n + 1..].iter().any(says) && !self.case.reference[..self.n].iter().any(says);
        is_last && self.positive_assertions().any(|assertion| matches!(assertion.on, AssertedText::Said))
    }

    /// Reports whether the step is the only call of a tool whose arguments the case asserts.
    fn is_asserted_call(&self, tool: &Tool) -> bool {
        let calls = |step: &&ReferenceStep| matches!(&step.action, ReferenceAction::Call { tool: name, .. } if tool.has_name(name));
        self.case.reference.iter().filter(calls).count() == 1
            && self.positive_assertions().any(|one| matches!(&one.on, AssertedText::Called(name) if tool.has_name(name)))
    }

    fn positive_assertions(&self) -> impl Iterator<Item = &CaseAssertion> {
        self.case.expect.assertions.iter().filter(|one| !one.negated && one.kind.subject() == AssertionSubject::Text)
    }

    fn without_step(&self, what: &str, writes: bool) -> ReferenceMutant {
        let mut steps = self.case.reference.clone();
        steps.remove(self.n);
        ReferenceMutant {
            what: format!("no {what}"),
            writes,
            stated: true,
            steps,
            step: self.n,
            is_omission: true,
            at: self.step.at.clone(),
        }
    }

    fn with_step_replaced(&self, what: String, writes: bool, stated: bool, action: ReferenceAction) -> ReferenceMutant {
        let mut steps = self.case.reference.clone();
        steps[self.n].action = action;
        ReferenceMutant { what, writes, stated, steps, step: self.n, is_omission: false, at: self.step.at.clone() }
    }

    /// Reports whether the case also accepts its reference without this call.
    fn is_optional(&self) -> bool {
        let Some(ExpectedCalls::AnyOf(alternatives)) = &self.case.expect.calls else { return false };
        let tools = |without: Option<usize>| {
            let kept = self.case.reference.iter().enumerate().filter(|(n, _)| Some(*n) != without);
            let mut names: Vec<&str> = kept
                .filter_map(|(_, step)| {
                    let ReferenceAction::Call { tool, args } = &step.action else { return None };
                    (!is_preparation(self.case, args)).then(|| self.canonical_tool_name(tool))
                })
                .filter(|name| expected_calls(self.case).any(|call| self.canonical_tool_name(&call.tool) == *name))
                .collect();
            names.sort_unstable();
            names
        };
        let accepted = |names: &[&str]| {
            alternatives.iter().any(|alternative| {
                let mut wanted: Vec<&str> = alternative.iter().map(|call| self.canonical_tool_name(&call.tool)).collect();
                wanted.sort_unstable();
                wanted == names
            })
        };
        accepted(&tools(None)) && accepted(&tools(Some(self.n)))
    }

    fn canonical_tool_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.workspace.tool(name).map_or(name, |tool| tool.name.as_str())
    }
}

/// Returns the literal values; a back-reference becomes the name of its step.
pub(super) fn literal_args(args: &NamedArgs<ArgValue>) -> Map<String, Value> {
    let value = |arg: &ArgValue| match arg {
        ArgValue::Given(value) => value.clone(),
        ArgValue::From { step, .. } => Value::String(step.clone()),
    };
    args.iter().map(|(name, arg)| (name.to_owned(), value(arg))).collect()
}

/// Reports whether the parameter is an amount, token, address or chain.
fn is_money_param(params: &IndexMap<String, ParamSpec>, name: &str) -> bool {
    let kind = params.get(name).and_then(|param| param.kind.as_ref());
    matches!(kind, Some(ParamKind::Amount { .. } | ParamKind::Token(_) | ParamKind::Address(_) | ParamKind::Chain(_)))
}
