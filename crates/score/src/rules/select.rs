//! Which acts a selector means, and whether their arguments pass its tests.

use super::acts::{Act, ActKind, Acts, signs};
use crate::compare::same_argument;
use model::rule::{Answer, ArgTest, Class, Op, Selector, What};
use model::{Decimal, OpClass, ReviewRole, Tool};
use serde_json::Value;
use std::cmp::Ordering;

impl<'a> Acts<'a> {
    pub(crate) fn matches(&self, selector: &Selector, act: &Act<'a>) -> bool {
        // A dry run is not the act it prepares, unless the rule speaks of dry runs.
        let about_dry = selector.tests.iter().any(|test| test.param == "dry_run");
        let real = about_dry || !act.is_dry_run();
        let fits = match (&selector.what, &act.kind) {
            (What::Tool(name), ActKind::Call { tool, said, .. }) => real && tool.map_or(*said == name, |tool| tool.answers_to(name)),
            (What::Acts(pattern), ActKind::Call { tool: Some(tool), .. }) => real && pattern.matches(*tool.acts),
            (What::Class(class), kind) => self.in_class(*class, act, kind),
            (What::DelegateTo(name), ActKind::Delegate { to, .. }) => to == name,
            (What::Guard(wanted), kind) => self.reviews(ReviewRole::Guardian, *wanted, act.by, kind),
            (What::Assess(wanted), kind) => self.reviews(ReviewRole::Assessor, *wanted, act.by, kind),
            (What::Tool(_) | What::Acts(_) | What::DelegateTo(_), _) => false,
        };
        fits && selector.tests.iter().all(|test| self.passes(test, act))
    }

    /// Returns whether an act asks for a review, or is one. Without a wanted answer only asking counts.
    fn reviews(&self, role: ReviewRole, wanted: Option<Answer>, by: &str, kind: &ActKind<'a>) -> bool {
        let serves = |agent: &str| self.workspace.review_role(agent) == Some(role);
        match kind {
            ActKind::Delegate { to, answer, .. } => serves(to) && (wanted.is_none() || *answer == wanted),
            ActKind::Decide(answer) => serves(by) && Some(*answer) == wanted,
            ActKind::Call { .. } | ActKind::Sign { .. } | ActKind::Ask | ActKind::Say | ActKind::Report => false,
        }
    }

    fn in_class(&self, class: Class, act: &Act<'a>, kind: &ActKind<'a>) -> bool {
        match (class, kind) {
            (Class::Read, ActKind::Call { tool: Some(tool), .. }) => tool.acts.class() == OpClass::Read,
            // A dry run freezes price and calldata like a quote.
            (Class::Quote, ActKind::Call { tool: Some(tool), .. }) => tool.acts.class() == OpClass::Quote || act.is_dry_run(),
            (Class::Simulate, ActKind::Call { tool: Some(tool), .. }) => tool.acts.class() == OpClass::Simulate,
            (Class::Write, ActKind::Call { tool: Some(tool), .. }) => tool.writes() && !act.is_dry_run(),
            (Class::Sign, ActKind::Sign { .. }) => true,
            // Where the transcript shows the signature itself, the call does not count again.
            (Class::Sign, ActKind::Call { tool: Some(tool), call, .. }) => {
                let shown = |one: &Act<'_>| matches!(one.kind, ActKind::Sign { call: Some(signed) } if signed == *call);
                signs(tool) && !act.is_dry_run() && !self.iter().any(shown)
            }
            (Class::Ask, ActKind::Ask)
            | (Class::Say, ActKind::Say)
            | (Class::Report, ActKind::Report)
            | (Class::Delegate, ActKind::Delegate { .. }) => true,
            (
                Class::Read
                | Class::Quote
                | Class::Simulate
                | Class::Write
                | Class::Sign
                | Class::Ask
                | Class::Say
                | Class::Report
                | Class::Delegate,
                _,
            ) => false,
        }
    }

    fn passes(&self, test: &ArgTest, act: &Act<'a>) -> bool {
        match &act.kind {
            ActKind::Call { tool: Some(tool), args, prepared, .. } => {
                let said = args.get(&test.param).filter(|value| !value.is_null());
                // What the call leaves out is what was prepared under the id it names.
                let source = if said.is_none() && prepared.is_some_and(|prepared| prepared.get(&test.param).is_some()) {
                    prepared.unwrap_or(args)
                } else {
                    args
                };
                self.compares(test, tool, source)
            }
            ActKind::Delegate { params, .. } => params.get(&test.param).map_or(test.op == Op::IsNot, |value| plain_test(test, value)),
            ActKind::Call { tool: None, args, .. } => args.get(&test.param).is_some_and(|value| plain_test(test, value)),
            ActKind::Sign { .. } | ActKind::Decide(_) | ActKind::Ask | ActKind::Say | ActKind::Report => false,
        }
    }

    fn compares(&self, test: &ArgTest, tool: &Tool, args: &Value) -> bool {
        let default = tool.params.get(&test.param).and_then(|param| param.default.as_ref());
        match test.op {
            Op::Is => same_argument(self.workspace, tool, &test.param, &test.value, args),
            Op::IsNot => !same_argument(self.workspace, tool, &test.param, &test.value, args),
            Op::AtMost | Op::AtLeast | Op::Below | Op::Above => {
                args.get(&test.param).filter(|value| !value.is_null()).or(default).is_some_and(|value| plain_test(test, value))
            }
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        // JSON writes a small number with an exponent, which no amount has.
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn plain_test(test: &ArgTest, value: &Value) -> bool {
    let (left, right) = (plain(value), plain(&test.value));
    let order = ordering(&left, &right);
    match test.op {
        Op::Is => order.map_or(left.eq_ignore_ascii_case(&right), |order| order == Ordering::Equal),
        Op::IsNot => order.map_or(!left.eq_ignore_ascii_case(&right), |order| order != Ordering::Equal),
        Op::AtMost => order.is_some_and(|order| order != Ordering::Greater),
        Op::AtLeast => order.is_some_and(|order| order != Ordering::Less),
        Op::Below => order == Some(Ordering::Less),
        Op::Above => order == Some(Ordering::Greater),
    }
}

/// Orders two decimal numbers of any length; `max` is above all.
fn ordering(left: &str, right: &str) -> Option<Ordering> {
    match (left == "max", right == "max") {
        (true, true) => Some(Ordering::Equal),
        (true, false) => Decimal::parse_strict(right).map(|_| Ordering::Greater),
        (false, true) => Decimal::parse_strict(left).map(|_| Ordering::Less),
        (false, false) => Some(Decimal::parse_strict(left)?.cmp(&Decimal::parse_strict(right)?)),
    }
}
