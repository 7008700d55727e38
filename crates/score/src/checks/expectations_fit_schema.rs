//! Expected and reference arguments fit the tools' schemas. Tier 1, suites.

use super::words::{schema_violation, suggest_name};
use super::{Check, ExampleWorkspace, FindingCollector};
use model::suite::{ArgMatcher, ArgValue, Case, ExpectedCall, NamedArgs, ReferenceAction, ReferenceStep};
use model::{Location, Skill, Tool, Workspace};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

pub(super) struct ExpectationsFitSchema;

impl Check for ExpectationsFitSchema {
    fn id(&self) -> &'static str {
        "expectations_fit_schema"
    }

    fn manual(&self) -> &'static str {
        "Every expected argument is a parameter of its tool, with a value that fits the parameter's schema; otherwise no correct call \
         could match it. This includes each value of any_of, subset, superset and optional. A required parameter is neither optional nor \
         absent. Arguments of forbid and allow are parameters of the tool. The reference's calls also give every required \
         parameter, and a back-reference names the as of an earlier step."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for case in workspace.cases() {
            for call in case.expect.calls.iter().flat_map(|calls| calls.expected_calls()) {
                found.record_examined();
                if let Some(tool) = workspace.tool(&call.tool) {
                    let who = format!("case {} expects", *case.id);
                    let places: Vec<Location> = call.args.keys().map(|name| call.arg_location(name)).collect();
                    let args = call.args.iter().zip(&places).map(|((name, wanted), at)| CaseArg { name, value: exact_value(wanted), at });
                    check_call(&who, tool, &args.collect::<Vec<_>>(), found);
                    check_options(&who, tool, call, found);
                    check_absence(&who, tool, call, found);
                }
            }
            check_patterns(workspace, case, found);
            check_reference(workspace, case, found);
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        let from = "{ tool: wallet_get_balance, args: { token: USDC, chain: base } }";
        ExampleWorkspace::minimal().edit(
            "suites/tool_selection/trader.yaml",
            from,
            "{ tool: wallet_get_balance, args: { token: USDC, chain: \"Base!\" } }",
        )
    }
}

/// Argument of a case. Has no value if it is not a single literal.
struct CaseArg<'a> {
    name: &'a str,
    value: Option<&'a Value>,
    at: &'a Location,
}

fn check_call(who: &str, tool: &Tool, args: &[CaseArg<'_>], found: &mut FindingCollector) {
    for arg in args.iter().filter(|arg| !tool.params.contains_key(arg.name)) {
        let remedy =
            suggest_name(arg.name, tool.params.keys().map(String::as_str), format!("{} has no such parameter; remove it", *tool.name));
        found.error(arg.at, format!("{who} {} of {}, which does not take it", arg.name, *tool.name), remedy);
    }
    let given: Map<String, Value> = args.iter().filter_map(|arg| Some((arg.name.to_owned(), arg.value?.clone()))).collect();
    for violation in tool.schema.violations(&Value::Object(given)) {
        // Violations of the whole object (missing or unknown parameters) are reported elsewhere.
        let name = violation.path.trim_start_matches('/').split('/').next().unwrap_or_default();
        if let Some(arg) = args.iter().find(|arg| arg.name == name) {
            let what = format!("{who} the wrong {name} of {}: {}", *tool.name, violation.what);
            found.error(arg.at, what, "write a value that fits the tool's parameter");
        }
    }
}

/// Returns the expected value of an exact matcher.
fn exact_value(wanted: &ArgMatcher) -> Option<&Value> {
    match wanted {
        ArgMatcher::Exactly(value) => Some(value),
        ArgMatcher::AnyOf(_)
        | ArgMatcher::AtMost(_)
        | ArgMatcher::Subset(_)
        | ArgMatcher::Superset(_)
        | ArgMatcher::Keys(_)
        | ArgMatcher::Contains(_)
        | ArgMatcher::Regex(_)
        | ArgMatcher::Optional(_)
        | ArgMatcher::Absent => None,
    }
}

/// Checks the values of matchers other than exact ones. Partial objects may lack required keys, so they are not validated.
fn check_options(who: &str, tool: &Tool, call: &ExpectedCall, found: &mut FindingCollector) {
    for (name, wanted) in &call.args {
        let Some(param) = tool.params.get(name).filter(|_| exact_value(wanted).is_none()) else { continue };
        let declared = param.schema.get("type").and_then(Value::as_str);
        let shape = match wanted.if_given() {
            ArgMatcher::Exactly(_)
            | ArgMatcher::AnyOf(_)
            | ArgMatcher::AtMost(_)
            | ArgMatcher::Contains(_)
            | ArgMatcher::Regex(_)
            | ArgMatcher::Optional(_)
            | ArgMatcher::Absent => None,
            ArgMatcher::Subset(Value::Object(_)) | ArgMatcher::Superset(Value::Object(_)) | ArgMatcher::Keys(_) => Some("object"),
            ArgMatcher::Subset(_) | ArgMatcher::Superset(_) => Some("array"),
        };
        if let Some(shape) = shape.filter(|shape| declared.is_some_and(|declared| declared != *shape)) {
            let what = format!("{who} part of {name} of {}, which is not an {shape}", *tool.name);
            found.error(&call.arg_location(name), what, "write the value itself, or any_of");
            continue;
        }
        for value in wanted.examples().into_iter().filter(|_| shape != Some("object")) {
            if let Some(why) = schema_violation(param, value) {
                let what = format!("{who} the wrong {name} of {}: {why}", *tool.name);
                found.error(&call.arg_location(name), what, "write values that fit the tool's parameter");
            }
        }
    }
}

/// Reports required parameters that the case allows or demands to leave out: every such call is refused.
fn check_absence(who: &str, tool: &Tool, call: &ExpectedCall, found: &mut FindingCollector) {
    let is_required = |name: &str| tool.params.get(name).is_some_and(|param| param.required);
    for (name, wanted) in call.args.iter().filter(|(name, wanted)| wanted.may_be_absent() && is_required(name)) {
        let what = format!("{who} {wanted} for {name} of {}, which is required", *tool.name);
        found.error(&call.arg_location(name), what, "write the value of a given argument");
    }
}

/// Checks the argument names of forbidden and allowed calls. Values are not checked, since a forbidden one may be invalid on purpose.
fn check_patterns(workspace: &Workspace, case: &Case, found: &mut FindingCollector) {
    for (verb, patterns) in [("forbids", &case.expect.forbid), ("allows", &case.expect.allow)] {
        for pattern in patterns.iter().filter(|pattern| !pattern.args.is_empty()) {
            found.record_examined();
            let Some(tool) = pattern.tool.as_ref().and_then(|name| workspace.tool(name)) else { continue };
            let args: Vec<_> = pattern.args.iter().map(|(name, arg)| CaseArg { name, value: None, at: &arg.at }).collect();
            check_call(&format!("case {} {verb}", *case.id), tool, &args, found);
        }
    }
}

fn check_reference(workspace: &Workspace, case: &Case, found: &mut FindingCollector) {
    let who = format!("the reference of case {} gives", *case.id);
    let mut earlier = BTreeSet::new();
    for step in &case.reference {
        let args = args_of(step);
        for (name, from) in args.iter().flat_map(|args| args.iter()).filter_map(|(name, arg)| Some((name, back_reference(arg)?))) {
            if !earlier.contains(from) {
                let what = format!("{who} {name} from {from}, but no earlier step has that name");
                found.error(
                    &step.at,
                    what,
                    suggest_name(from, earlier.iter().copied(), format!("write as: {from} at the step it comes from")),
                );
            }
        }
        let args: Vec<_> =
            args.into_iter().flatten().map(|(name, arg)| CaseArg { name, value: literal_value(arg), at: &step.at }).collect();
        match &step.action {
            ReferenceAction::Call { tool, .. } => {
                found.record_examined();
                if let Some(tool) = workspace.tool(tool) {
                    check_call(&who, tool, &args, found);
                    check_complete(case, tool, &args, &step.at, found);
                }
            }
            ReferenceAction::Activate { skill, .. } => {
                found.record_examined();
                if let Some(skill) = workspace.skill(skill) {
                    check_activation(&who, skill, &args, found);
                }
            }
            ReferenceAction::Delegate { .. } | ReferenceAction::Ask(_) | ReferenceAction::Say(_) | ReferenceAction::Report(_) => {}
        }
        earlier.extend(step.name.as_deref());
    }
}

fn args_of(step: &ReferenceStep) -> Option<&NamedArgs<ArgValue>> {
    match &step.action {
        ReferenceAction::Call { args, .. }
        | ReferenceAction::Delegate { params: args, .. }
        | ReferenceAction::Activate { params: args, .. } => Some(args),
        ReferenceAction::Ask(_) | ReferenceAction::Say(_) | ReferenceAction::Report(_) => None,
    }
}

fn literal_value(arg: &ArgValue) -> Option<&Value> {
    if let ArgValue::Given(value) = arg { Some(value) } else { None }
}

fn back_reference(arg: &ArgValue) -> Option<&str> {
    if let ArgValue::From { step, .. } = arg { Some(step) } else { None }
}

fn check_complete(case: &Case, tool: &Tool, args: &[CaseArg<'_>], at: &Location, found: &mut FindingCollector) {
    for (name, _) in tool.params.iter().filter(|(name, param)| param.required && !args.iter().any(|arg| arg.name == *name)) {
        let what = format!("the reference of case {} calls {} without {name}", *case.id, *tool.name);
        found.error(at, what, format!("{name} is required; add it to args"));
    }
}

fn check_activation(who: &str, skill: &Skill, args: &[CaseArg<'_>], found: &mut FindingCollector) {
    for arg in args {
        let Some(param) = skill.params.get(arg.name) else {
            let remedy = suggest_name(
                arg.name,
                skill.params.keys().map(String::as_str),
                format!("{} has no such parameter; remove it", *skill.name),
            );
            found.error(arg.at, format!("{who} {} of {}, which does not take it", arg.name, *skill.name), remedy);
            continue;
        };
        if let Some(why) = arg.value.and_then(|value| schema_violation(param, value)) {
            let what = format!("{who} the wrong {} of {}: {why}", arg.name, *skill.name);
            found.error(arg.at, what, format!("write a value that fits the parameter at {}", param.at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the findings for the expectation `chain: {wanted}`.
    fn findings_for_chain(wanted: &str) -> Vec<String> {
        let from = "{ tool: wallet_get_balance, args: { token: USDC, chain: base } }]]";
        let to = format!("{{ tool: wallet_get_balance, args: {{ token: USDC, chain: {wanted} }} }}]]");
        let workspace = ExampleWorkspace::minimal().edit("suites/tool_selection/trader.yaml", from, &to).load().expect("a workspace");
        let mut found = FindingCollector::of("expectations_fit_schema", 1);
        ExpectationsFitSchema.check(&workspace, &mut found);
        found.finish().findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn every_accepted_value_must_fit_schema() {
        assert_eq!(findings_for_chain("{ any_of: [base, ethereum] }"), Vec::<String>::new());
        assert!(findings_for_chain("{ any_of: [base, \"Base!\"] }")[0].contains("the wrong chain of wallet_get_balance"));
        assert!(findings_for_chain("{ subset: [base] }")[0].contains("which is not an array"));
        assert!(findings_for_chain("{ keys: [base] }")[0].contains("which is not an object"));
        assert_eq!(findings_for_chain("{ optional: base }"), Vec::<String>::new());
        assert!(findings_for_chain("{ optional: \"Base!\" }")[0].contains("the wrong chain of wallet_get_balance"));
        assert_eq!(findings_for_chain("{ contains: bas }"), Vec::<String>::new());
    }

    #[test]
    fn required_parameters_are_not_absent() {
        let from = "{ tool: wallet_get_balance, args: { token: USDC, chain: base } }]]";
        for (wanted, errors) in [("{ absent: true }", 1), ("null", 1), ("{ optional: USDC }", 1), ("USDC", 0)] {
            let to = format!("{{ tool: wallet_get_balance, args: {{ token: {wanted}, chain: base }} }}]]");
            let workspace = ExampleWorkspace::minimal().edit("suites/tool_selection/trader.yaml", from, &to).load().expect("a workspace");
            let mut found = FindingCollector::of("expectations_fit_schema", 1);
            ExpectationsFitSchema.check(&workspace, &mut found);
            assert_eq!(found.finish().errors(), errors, "{wanted}");
        }
    }
}
