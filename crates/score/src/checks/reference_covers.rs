//! The reference run does what its own case expects, as far as can be seen without playing it.

use super::{Check, Example, Findings};
use crate::compare::Given;
use indexmap::IndexMap;
use model::suite::{ArgValue, Case, ExpectedCall, ExpectedCalls, RefDoes, Wanted};
use model::{Place, Spot, Workspace};
use serde_json::Value;

pub(super) struct ReferenceCovers;

impl Check for ReferenceCovers {
    fn id(&self) -> &'static str {
        "reference_covers"
    }

    fn manual(&self) -> &'static str {
        "The reference contains the calls of one accepted alternative with the expected arguments, activates the expected skill with its \
         parameters, asks where the case expects a question, and calls nothing forbidden. What the calls lead to is seen when it is played."
    }

    fn check(&self, workspace: &Workspace, found: &mut Findings) {
        for case in workspace.cases() {
            let Some(start) = case.reference.first() else { continue };
            found.look();
            let calls = calls_of(workspace, case);
            check_expected(workspace, case, &calls, &start.at, found);
            for forbidden in &case.expect.forbid {
                let forbidden = canonical(workspace, forbidden);
                for call in calls.iter().filter(|call| call.tool == forbidden) {
                    let what = format!("the reference of case {} calls {forbidden}, which the case forbids", *case.id);
                    found.error(call.at, what, "remove the step or the tool from forbid");
                }
            }
            if let Some(skill) = case.expect.skill.as_ref().filter(|skill| !activates(case, skill)) {
                let what = format!("the reference of case {} does not activate {} with the expected parameters", *case.id, **skill);
                found.error(&start.at, what, "add or correct the step { activate: …, params: {…} }");
            }
            if !case.expect.ask.is_empty() && !case.reference.iter().any(|step| matches!(step.does, RefDoes::Ask(_))) {
                let what = format!("the reference of case {} does not ask for {}", *case.id, case.expect.ask.join(", "));
                found.error(&start.at, what, "add a step { ask: … }");
            }
        }
    }

    fn rejects(&self) -> Example {
        let from = "- { call: wallet_get_balance, args: { token: USDC, chain: base } }";
        let to = "- { call: wallet_get_balance, args: { token: WETH, chain: base } }";
        Example::minimal().edit("suites/tool_selection/trader.yaml", from, to)
    }
}

struct Call<'w> {
    tool: &'w str,
    args: &'w IndexMap<String, ArgValue>,
    at: &'w Place,
}

fn canonical<'w>(workspace: &'w Workspace, name: &'w Spot<String>) -> &'w str {
    workspace.tool(name).map_or(name.as_str(), |tool| tool.name.as_str())
}

fn calls_of<'w>(workspace: &'w Workspace, case: &'w Case) -> Vec<Call<'w>> {
    let calls = case.reference.iter().filter_map(|step| match &step.does {
        // A dry run is preparation, not the act the case expects.
        RefDoes::Call { args, .. } if args.get("dry_run") == Some(&ArgValue::Given(Value::Bool(true))) => None,
        RefDoes::Call { tool, args } => Some(Call { tool: canonical(workspace, tool), args, at: &step.at }),
        RefDoes::Delegate { .. } | RefDoes::Activate { .. } | RefDoes::Ask(_) | RefDoes::Say(_) | RefDoes::Report(_) => None,
    });
    calls.collect()
}

fn check_expected(workspace: &Workspace, case: &Case, calls: &[Call<'_>], start: &Place, found: &mut Findings) {
    match &case.expect.calls {
        Some(ExpectedCalls::NoTool(_)) => {
            for call in calls {
                let what = format!("the reference of case {} calls {}, but the case expects no call", *case.id, call.tool);
                found.error(call.at, what, "remove the step, or say which calls are expected");
            }
        }
        Some(ExpectedCalls::AnyOf(alternatives)) if !alternatives.iter().any(|wanted| contains(workspace, calls, wanted)) => {
            let wanted: Vec<_> = alternatives.iter().flatten().map(|call| call.tool.as_str()).collect();
            let what = format!("the reference of case {} has no accepted set of calls ({})", *case.id, wanted.join(", "));
            found.error(start, what, "call the expected tools with the expected arguments, or correct the expectation");
        }
        Some(ExpectedCalls::AnyOf(_)) | None => {}
    }
}

/// Whether each wanted call finds a call of its own. The first that fits may be needed by another, so calls are handed on (Kuhn's matching).
fn contains(workspace: &Workspace, calls: &[Call<'_>], wanted: &[ExpectedCall]) -> bool {
    let fits: Vec<Vec<bool>> = wanted.iter().map(|want| calls.iter().map(|call| is_as(workspace, call, want)).collect()).collect();
    let mut taken_by = vec![None; calls.len()];
    (0..wanted.len()).all(|want| take(want, &fits, &mut vec![false; calls.len()], &mut taken_by))
}

fn take(want: usize, fits: &[Vec<bool>], tried: &mut [bool], taken_by: &mut [Option<usize>]) -> bool {
    for call in 0..taken_by.len() {
        let open = fits[want][call] && !std::mem::replace(&mut tried[call], true);
        if open && taken_by[call].is_none_or(|holder| take(holder, fits, tried, taken_by)) {
            taken_by[call] = Some(want);
            return true;
        }
    }
    false
}

fn is_as(workspace: &Workspace, call: &Call<'_>, want: &ExpectedCall) -> bool {
    call.tool == canonical(workspace, &want.tool) && want.args.iter().all(|(name, wanted)| gives_wanted(workspace, call, name, wanted))
}

/// Several values may be right; which of them the reference gives is compared by kind, as when it is played.
fn gives_wanted(workspace: &Workspace, call: &Call<'_>, name: &str, wanted: &Wanted) -> bool {
    if let Wanted::Exactly(value) = wanted {
        return gives(call.args, name, value);
    }
    let Some(tool) = workspace.tool(call.tool) else { return false };
    let given = call.args.iter().filter_map(|(name, arg)| match arg {
        ArgValue::Given(value) => Some((name.clone(), value.clone())),
        ArgValue::From { .. } => None,
    });
    let args = Value::Object(given.collect());
    matches!(call.args.get(name), Some(ArgValue::From { .. })) || Given::call(workspace, tool, &args).fits(name, wanted)
}

/// What an earlier answer will bring is not known yet, so it is given the benefit of the doubt.
fn gives(args: &IndexMap<String, ArgValue>, name: &str, wanted: &Value) -> bool {
    match args.get(name) {
        Some(ArgValue::Given(value)) => value == wanted,
        Some(ArgValue::From { .. }) => true,
        None => false,
    }
}

fn activates(case: &Case, wanted: &str) -> bool {
    case.reference.iter().any(|step| {
        matches!(&step.does, RefDoes::Activate { skill, params }
            if **skill == wanted && case.expect.params.iter().all(|(name, value)| gives(params, name, value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_may_give_any_of_several_values() {
        let errors = |token: &str| {
            let from = "{ tool: wallet_get_balance, args: { token: USDC, chain: base } }]]";
            let to = format!("{{ tool: wallet_get_balance, args: {{ token: {{ any_of: [{token}] }}, chain: base }} }}]]");
            let workspace = Example::minimal().edit("suites/tool_selection/trader.yaml", from, &to).load().expect("a workspace");
            let mut found = Findings::of("reference_covers", 1);
            ReferenceCovers.check(&workspace, &mut found);
            found.finish().errors()
        };
        assert_eq!(errors("WETH, usdc"), 0);
        assert_eq!(errors("WETH, ETH"), 1);
    }
}
