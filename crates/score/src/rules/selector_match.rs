//! Matches acts against selectors and their argument tests.

use super::acts::{ActKind, AgentAct, AgentActs, signs};
use crate::compare::{TypedArgs, has_part, same_argument};
use model::rule::{
    ActionClass, ActionSelector, ArgCheck, ArgComparison, ArgTest, RequiredDecision, SelectorTarget, TestedArg, contains_text,
};
use model::suite::ArgMatcher;
use model::{Decimal, OpClass, ReviewRole, Tool};
use serde_json::Value;
use std::cmp::Ordering;

impl<'a> AgentActs<'a> {
    pub(crate) fn matches(&self, selector: &ActionSelector, act: &AgentAct<'a>) -> bool {
        // A dry run is not the real act, unless the rule tests for dry runs.
        let about_dry = selector.tests.iter().any(|test| test.param() == Some("dry_run"));
        let real = about_dry || !act.is_dry_run();
        let fits = match (&selector.what, &act.kind) {
            (SelectorTarget::Tool(name), ActKind::Call { tool, said, .. }) => {
                real && tool.map_or(*said == name, |tool| tool.has_name(name))
            }
            (SelectorTarget::Acts(pattern), ActKind::Call { tool: Some(tool), .. }) => real && pattern.matches(*tool.acts),
            (SelectorTarget::Class(class), kind) => self.in_class(*class, act, kind),
            (SelectorTarget::DelegateTo(name), ActKind::Delegate { to, .. }) => to == name,
            (SelectorTarget::Guard(wanted), kind) => self.is_review(ReviewRole::Guardian, *wanted, act.by, kind),
            (SelectorTarget::Assess(wanted), kind) => self.is_review(ReviewRole::Assessor, *wanted, act.by, kind),
            (SelectorTarget::AnyOf(several), _) => several.iter().any(|one| self.matches(one, act)),
            (SelectorTarget::Tool(_) | SelectorTarget::Acts(_) | SelectorTarget::DelegateTo(_), _) => false,
        };
        fits && selector.tests.iter().all(|test| self.passes_test(test, act))
    }

    /// Returns whether an act requests or makes a review decision. Without a required decision only requests match.
    fn is_review(&self, role: ReviewRole, wanted: Option<RequiredDecision>, by: &str, kind: &ActKind<'a>) -> bool {
        let serves = |agent: &str| self.workspace.review_role(agent) == Some(role);
        match kind {
            ActKind::Delegate { to, answer, .. } => serves(to) && (wanted.is_none() || *answer == wanted),
            ActKind::Decide(answer) => serves(by) && Some(*answer) == wanted,
            ActKind::Call { .. } | ActKind::Sign { .. } | ActKind::Ask | ActKind::Say { .. } | ActKind::Report => false,
        }
    }

    fn in_class(&self, class: ActionClass, act: &AgentAct<'a>, kind: &ActKind<'a>) -> bool {
        match (class, kind) {
            (ActionClass::Read, ActKind::Call { tool: Some(tool), .. }) => tool.acts.class() == OpClass::Read,
            // A dry run fixes price and calldata like a quote.
            (ActionClass::Quote, ActKind::Call { tool: Some(tool), .. }) => tool.acts.class() == OpClass::Quote || act.is_dry_run(),
            (ActionClass::Simulate, ActKind::Call { tool: Some(tool), .. }) => tool.acts.class() == OpClass::Simulate,
            (ActionClass::Write, ActKind::Call { tool: Some(tool), .. }) => tool.writes() && !act.is_dry_run(),
            (ActionClass::Sign, ActKind::Sign { .. }) => true,
            // A signature without a call went around the tools: it is a write of its own.
            (ActionClass::Write, ActKind::Sign { call: None }) => true,
            // If the transcript shows the signature itself, the call is not counted again.
            (ActionClass::Sign, ActKind::Call { tool: Some(tool), call, .. }) => {
                let shown = |one: &AgentAct<'_>| matches!(one.kind, ActKind::Sign { call: Some(signed) } if signed == *call);
                signs(tool) && !act.is_dry_run() && !self.iter().any(shown)
            }
            (ActionClass::Ask, ActKind::Ask | ActKind::Say { asks: true })
            | (ActionClass::Say, ActKind::Say { .. })
            | (ActionClass::Report, ActKind::Report)
            | (ActionClass::Delegate, ActKind::Delegate { .. })
            | (ActionClass::Call, ActKind::Call { .. }) => true,
            (
                ActionClass::Read
                | ActionClass::Quote
                | ActionClass::Simulate
                | ActionClass::Write
                | ActionClass::Sign
                | ActionClass::Ask
                | ActionClass::Say
                | ActionClass::Report
                | ActionClass::Delegate
                | ActionClass::Call,
                _,
            ) => false,
        }
    }

    fn passes_test(&self, test: &ArgTest, act: &AgentAct<'a>) -> bool {
        let param = match &test.arg {
            TestedArg::Param(param) => param.as_str(),
            TestedArg::Any => return self.any_argument_passes(&test.check, &act.kind),
        };
        match &act.kind {
            ActKind::Call { tool: Some(tool), args, prepared, .. } => {
                let said = args.get(param).filter(|value| !value.is_null());
                // Omitted arguments come from the call that prepared the named action.
                let source = if said.is_none() && prepared.is_some_and(|prepared| prepared.get(param).is_some()) {
                    prepared.unwrap_or(args)
                } else {
                    args
                };
                self.argument_passes(param, &test.check, tool, source)
            }
            ActKind::Delegate { params, .. } => {
                let differs = matches!(test.check, ArgCheck::Compare(ArgComparison::IsNot, _));
                params.get(param).map_or(differs, |value| plain_value_passes(&test.check, value))
            }
            ActKind::Call { tool: None, args, .. } => args.get(param).is_some_and(|value| plain_value_passes(&test.check, value)),
            ActKind::Sign { .. } | ActKind::Decide(_) | ActKind::Ask | ActKind::Say { .. } | ActKind::Report => false,
        }
    }

    fn argument_passes(&self, param: &str, check: &ArgCheck, tool: &Tool, args: &Value) -> bool {
        match check {
            ArgCheck::Compare(ArgComparison::Is, value) => same_argument(self.workspace, tool, param, value, args),
            ArgCheck::Compare(ArgComparison::IsNot, value) => !same_argument(self.workspace, tool, param, value, args),
            ArgCheck::Compare(ArgComparison::AtMost | ArgComparison::AtLeast | ArgComparison::Below | ArgComparison::Above, _)
            | ArgCheck::Contains(_)
            | ArgCheck::Regex(_) => {
                let default = tool.params.get(param).and_then(|param| param.default.as_ref());
                let given = args.get(param).filter(|value| !value.is_null()).or(default);
                given.is_some_and(|value| plain_value_passes(check, value))
            }
        }
    }

    /// Returns whether some argument passes, at any depth. Arguments of the call that prepared the named action count too.
    fn any_argument_passes(&self, check: &ArgCheck, kind: &ActKind<'a>) -> bool {
        let any = |value: &Value| match check {
            ArgCheck::Compare(_, expected) => has_part(value, expected),
            ArgCheck::Contains(text) => contains_text(value, text),
            ArgCheck::Regex(pattern) => pattern.finds(value),
        };
        match kind {
            ActKind::Call { tool, args, prepared, .. } => [Some(*args), *prepared].into_iter().flatten().any(|args| {
                let by_kind = |tool: &Tool| match check {
                    ArgCheck::Compare(_, expected) => {
                        TypedArgs::for_call(self.workspace, tool, args).any_satisfies(&ArgMatcher::Exactly(expected.clone()))
                    }
                    ArgCheck::Contains(_) | ArgCheck::Regex(_) => false,
                };
                args.as_object().map_or_else(|| any(args), |args| args.values().any(any)) || tool.is_some_and(by_kind)
            }),
            ActKind::Delegate { params, .. } => params.values().any(any),
            ActKind::Sign { .. } | ActKind::Decide(_) | ActKind::Ask | ActKind::Say { .. } | ActKind::Report => false,
        }
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        // JSON writes small numbers with an exponent, which `Decimal` does not accept.
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn plain_value_passes(check: &ArgCheck, value: &Value) -> bool {
    let (op, wanted) = match check {
        ArgCheck::Compare(op, wanted) => (op, wanted),
        ArgCheck::Contains(text) => return contains_text(value, text),
        ArgCheck::Regex(pattern) => return pattern.finds(value),
    };
    let (left, right) = (value_text(value), value_text(wanted));
    let order = decimal_ordering(&left, &right);
    match op {
        ArgComparison::Is => order.map_or(left.eq_ignore_ascii_case(&right), |order| order == Ordering::Equal),
        ArgComparison::IsNot => order.map_or(!left.eq_ignore_ascii_case(&right), |order| order != Ordering::Equal),
        ArgComparison::AtMost => order.is_some_and(|order| order != Ordering::Greater),
        ArgComparison::AtLeast => order.is_some_and(|order| order != Ordering::Less),
        ArgComparison::Below => order == Some(Ordering::Less),
        ArgComparison::Above => order == Some(Ordering::Greater),
    }
}

/// Compares two decimal numbers of any length; `max` is the largest.
fn decimal_ordering(left: &str, right: &str) -> Option<Ordering> {
    match (left == "max", right == "max") {
        (true, true) => Some(Ordering::Equal),
        (true, false) => Decimal::parse_strict(right).map(|_| Ordering::Greater),
        (false, true) => Decimal::parse_strict(left).map(|_| Ordering::Less),
        (false, false) => Some(Decimal::parse_strict(left)?.cmp(&Decimal::parse_strict(right)?)),
    }
}
