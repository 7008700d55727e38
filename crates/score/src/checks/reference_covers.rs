//! The reference of a case satisfies its expectations, as far as this can be checked without running it.

use super::{Check, ExampleWorkspace, FindingCollector};
use crate::compare::TypedArgs;
use crate::quality::transcript_from_reference;
use crate::scorers::{Evidence, missed_assertion};
use model::suite::{
    ArgMatcher, ArgValue, AssertedText, AssertionSubject, CallPattern, Case, ExpectedCall, ExpectedCalls, NamedArgs, ReferenceAction,
};
use model::transcript::ReviewDecision;
use model::{Location, Spanned, Workspace};
use serde_json::Value;

pub(super) struct ReferenceCovers;

impl Check for ReferenceCovers {
    fn id(&self) -> &'static str {
        "reference_covers"
    }

    fn manual(&self) -> &'static str {
        "The reference contains the calls of one accepted alternative with the expected arguments, activates the expected skill with its \
         parameters, asks where the case expects a question, and calls nothing forbidden. Its last answer and its calls meet the assertions \
         of the case, and it calls the tools whose results are asserted. State expectations and results are checked when the reference is run."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for case in workspace.cases() {
            let Some(start) = case.reference.first() else { continue };
            found.record_examined();
            let calls = calls_of(workspace, case);
            check_expected(workspace, case, &calls, &start.at, found);
            for forbidden in &case.expect.forbid {
                for call in calls.iter().filter(|call| is_forbidden(workspace, call, forbidden)) {
                    let what = format!("the reference of case {} calls {}, which the case forbids", *case.id, call.tool);
                    found.error(call.at, what, "remove the step or the tool from forbid");
                }
            }
            check_assertions(workspace, case, &calls, found);
            if let Some(skill) = case.expect.skill.as_ref().filter(|skill| !activates(case, skill)) {
                let what = format!("the reference of case {} does not activate {} with the expected parameters", *case.id, **skill);
                found.error(&start.at, what, "add or correct the step { activate: …, params: {…} }");
            }
            if !case.expect.ask.is_empty() && !case.reference.iter().any(|step| matches!(step.action, ReferenceAction::Ask(_))) {
                let what = format!("the reference of case {} does not ask for {}", *case.id, case.expect.ask.join(", "));
                found.error(&start.at, what, "add a step { ask: … }");
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        let from = "- { call: wallet_get_balance, args: { token: USDC, chain: base } }";
        let to = "- { call: wallet_get_balance, args: { token: WETH, chain: base } }";
        ExampleWorkspace::minimal().edit("suites/tool_selection/trader.yaml", from, to)
    }
}

struct ReferenceCall<'w> {
    tool: &'w str,
    args: &'w NamedArgs<ArgValue>,
    at: &'w Location,
}

fn canonical_tool_name<'w>(workspace: &'w Workspace, name: &'w Spanned<String>) -> &'w str {
    workspace.tool(name).map_or(name.as_str(), |tool| tool.name.as_str())
}

fn calls_of<'w>(workspace: &'w Workspace, case: &'w Case) -> Vec<ReferenceCall<'w>> {
    let calls = case.reference.iter().filter_map(|step| match &step.action {
        // A dry run is preparation, not the expected call.
        ReferenceAction::Call { args, .. } if args.get("dry_run") == Some(&ArgValue::Given(Value::Bool(true))) => None,
        ReferenceAction::Call { tool, args } => Some(ReferenceCall { tool: canonical_tool_name(workspace, tool), args, at: &step.at }),
        ReferenceAction::Delegate { .. }
        | ReferenceAction::Activate { .. }
        | ReferenceAction::Ask(_)
        | ReferenceAction::Say(_)
        | ReferenceAction::Report(_) => None,
    });
    calls.collect()
}

fn check_expected(workspace: &Workspace, case: &Case, calls: &[ReferenceCall<'_>], start: &Location, found: &mut FindingCollector) {
    match &case.expect.calls {
        Some(ExpectedCalls::NoTool(_)) => {
            for call in calls {
                let what = format!("the reference of case {} calls {}, but the case expects no call", *case.id, call.tool);
                found.error(call.at, what, "remove the step or list the expected calls");
            }
        }
        Some(ExpectedCalls::AnyOf(alternatives)) if !alternatives.iter().any(|wanted| covers_expected(workspace, calls, wanted)) => {
            let wanted: Vec<_> = alternatives.iter().flatten().map(|call| call.tool.as_str()).collect();
            let what = format!("the reference of case {} has no accepted set of calls ({})", *case.id, wanted.join(", "));
            found.error(start, what, "call the expected tools with the expected arguments, or correct the expectation");
        }
        Some(ExpectedCalls::AnyOf(_)) | None => {}
    }
}

fn check_assertions(workspace: &Workspace, case: &Case, calls: &[ReferenceCall<'_>], found: &mut FindingCollector) {
    if case.expect.assertions.is_empty() {
        return;
    }
    let transcript = transcript_from_reference(workspace, case, &case.reference, ReviewDecision::Approve);
    let evidence = Evidence::new(workspace, case, &transcript);
    for assertion in &case.expect.assertions {
        let missed = match &assertion.on {
            AssertedText::Returned(tool) => {
                let is_called = calls.iter().any(|call| call.tool == canonical_tool_name(workspace, tool));
                (!is_called).then(|| format!("{} is not called", tool.value))
            }
            AssertedText::Said | AssertedText::Called(_) => missed_assertion(&evidence, assertion),
        };
        if let Some(why) = missed {
            let what = format!("the reference of case {} misses its assertion {assertion}: {why}", *case.id);
            let reads_words = matches!(assertion.on, AssertedText::Said) && assertion.kind.subject() == AssertionSubject::Text;
            let remedy = if reads_words && case.ends_at_first_call() {
                "let an agent answer (surface: { agent: … }), or test the call (on: { called: … })"
            } else {
                "correct the answer or the call of the reference, or the assertion"
            };
            found.error(&assertion.at, what, remedy);
        }
    }
}

/// Reports whether every expected call can be matched to a different call of the reference (bipartite matching by Kuhn's algorithm).
fn covers_expected(workspace: &Workspace, calls: &[ReferenceCall<'_>], wanted: &[ExpectedCall]) -> bool {
    let fits: Vec<Vec<bool>> = wanted.iter().map(|want| calls.iter().map(|call| call_satisfies(workspace, call, want)).collect()).collect();
    let mut taken_by = vec![None; calls.len()];
    (0..wanted.len()).all(|want| try_assign(want, &fits, &mut vec![false; calls.len()], &mut taken_by))
}

fn try_assign(want: usize, fits: &[Vec<bool>], tried: &mut [bool], taken_by: &mut [Option<usize>]) -> bool {
    for call in 0..taken_by.len() {
        let open = fits[want][call] && !std::mem::replace(&mut tried[call], true);
        if open && taken_by[call].is_none_or(|holder| try_assign(holder, fits, tried, taken_by)) {
            taken_by[call] = Some(want);
            return true;
        }
    }
    false
}

fn call_satisfies(workspace: &Workspace, call: &ReferenceCall<'_>, want: &ExpectedCall) -> bool {
    call.tool == canonical_tool_name(workspace, &want.tool)
        && want.args.iter().all(|(name, wanted)| gives_wanted(workspace, call, name, wanted))
}

/// Reports whether a call satisfies an argument matcher. Other matchers than exact ones compare by kind, like scoring.
fn gives_wanted(workspace: &Workspace, call: &ReferenceCall<'_>, name: &str, wanted: &ArgMatcher) -> bool {
    if let ArgMatcher::Exactly(value) = wanted {
        return gives_value(call.args, name, value);
    }
    let Some(tool) = workspace.tool(call.tool) else { return false };
    if let Some(ArgValue::From { .. }) = call.args.get(name) {
        return *wanted != ArgMatcher::Absent;
    }
    TypedArgs::for_call(workspace, tool, &literal_args(call)).satisfies(name, wanted)
}

/// Returns the arguments that are not back-references.
fn literal_args(call: &ReferenceCall<'_>) -> Value {
    let given = call.args.iter().filter_map(|(name, arg)| match arg {
        ArgValue::Given(value) => Some((name.to_owned(), value.clone())),
        ArgValue::From { .. } => None,
    });
    Value::Object(given.collect())
}

/// Reports whether a call surely matches a forbidden pattern. Back-references are not known yet, so they match nothing.
fn is_forbidden(workspace: &Workspace, call: &ReferenceCall<'_>, forbidden: &CallPattern) -> bool {
    if forbidden.tool.as_ref().is_some_and(|name| canonical_tool_name(workspace, name) != call.tool) {
        return false;
    }
    let Some(tool) = workspace.tool(call.tool) else { return forbidden.is_bare() };
    let args = literal_args(call);
    let given = TypedArgs::for_call(workspace, tool, &args);
    forbidden.args.iter().all(|(name, wanted)| given.satisfies(name, wanted))
        && forbidden.any_arg.as_ref().is_none_or(|wanted| given.any_satisfies(wanted))
}

/// Reports whether an argument has the value. A back-reference counts as a match, because its value is not known yet.
fn gives_value(args: &NamedArgs<ArgValue>, name: &str, wanted: &Value) -> bool {
    match args.get(name) {
        Some(ArgValue::Given(value)) => value == wanted,
        Some(ArgValue::From { .. }) => true,
        None => false,
    }
}

fn activates(case: &Case, wanted: &str) -> bool {
    case.reference.iter().any(|step| {
        matches!(&step.action, ReferenceAction::Activate { skill, params }
            if **skill == wanted && case.expect.params.iter().all(|(name, value)| gives_value(params, name, value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_meets_its_own_assertions() {
        let errors = |assertion: &str| {
            let to = format!("forbid: [token_transfer]\n      assert: [{assertion}]");
            let example = ExampleWorkspace::minimal().edit("suites/behavior/trader.yaml", "forbid: [token_transfer]", &to);
            let workspace = example.load().expect("a workspace");
            let mut found = FindingCollector::of("reference_covers", 1);
            ReferenceCovers.check(&workspace, &mut found);
            found.finish().errors()
        };
        for (assertion, expected) in [
            ("{ type: contains, value: status }", 0),
            ("{ type: contains, value: zebra }", 1),
            ("{ type: not-contains, value: status }", 1),
            ("{ type: json_path, path: $.amount, equals: \"250\", on: { called: swap_execute } }", 0),
            ("{ type: json_path, path: $.amount, equals: \"999\", on: { called: swap_execute } }", 1),
            ("{ type: contains, value: only the world knows, on: { returned: swap_execute } }", 0),
            ("{ type: contains, value: x, on: { returned: token_transfer } }", 1),
            ("{ type: latency, threshold: 5 }", 0),
        ] {
            assert_eq!(errors(assertion), expected, "{assertion}");
        }
    }

    #[test]
    fn reference_may_give_any_of_several_values() {
        let errors = |token: &str| {
            let from = "{ tool: wallet_get_balance, args: { token: USDC, chain: base } }]]";
            let to = format!("{{ tool: wallet_get_balance, args: {{ token: {{ any_of: [{token}] }}, chain: base }} }}]]");
            let workspace = ExampleWorkspace::minimal().edit("suites/tool_selection/trader.yaml", from, &to).load().expect("a workspace");
            let mut found = FindingCollector::of("reference_covers", 1);
            ReferenceCovers.check(&workspace, &mut found);
            found.finish().errors()
        };
        assert_eq!(errors("WETH, usdc"), 0);
        assert_eq!(errors("WETH, ETH"), 1);
    }
}
