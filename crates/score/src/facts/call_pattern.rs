//! Matches calls against the patterns that a case forbids or allows.

use super::calls::{ObservedCall, preparing_call};
use super::prepared_writes::prepared_write;
use crate::compare::TypedArgs;
use crate::evidence::Evidence;
use model::suite::CallPattern;
use serde_json::{Map, Value};

/// Returns whether a call matches the tool and every test of a pattern. Arguments that the call leaves to a prepared action are those
/// of the call that prepared it.
pub(crate) fn matches_pattern(evidence: &Evidence<'_>, pattern: &CallPattern, call: &ObservedCall<'_>) -> bool {
    let is_tool =
        |wanted: &str| evidence.workspace.tool(wanted).map_or(wanted == call.requested_name, |tool| tool.has_name(call.requested_name));
    if pattern.tool.as_ref().is_some_and(|wanted| !is_tool(wanted)) {
        return false;
    }
    if pattern.is_bare() {
        return true;
    }
    let args = effective_args(evidence, call);
    let given = match call.tool {
        Some(tool) => TypedArgs::for_call(evidence.workspace, tool, &args),
        None => TypedArgs::untyped(evidence.workspace, &args),
    };
    pattern.args.iter().all(|(name, wanted)| given.satisfies(name, wanted))
        && pattern.any_arg.as_ref().is_none_or(|wanted| given.any_satisfies(wanted))
}

/// Returns the arguments of a call, or of the write it stands for, with those that it leaves to the prepared action it names.
pub(crate) fn effective_args(evidence: &Evidence<'_>, call: &ObservedCall<'_>) -> Value {
    let prepared = call.args.get("action_id").and_then(Value::as_str).and_then(|id| preparing_call(evidence, id));
    let mut args = prepared.and_then(|made| fixed_args(evidence, call, &made)).unwrap_or_default();
    let own = call.tool_args(evidence.workspace);
    let given = own.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    args.extend(given.map(|(name, value)| (name.clone(), value.clone())));
    Value::Object(args)
}

/// Returns the arguments that a preparing call fixed for this call; `None` if it prepared a call of another tool.
fn fixed_args(evidence: &Evidence<'_>, call: &ObservedCall<'_>, made: &ObservedCall<'_>) -> Option<Map<String, Value>> {
    let (tool, preparer) = (call.tool?, made.tool?);
    let (executed, mut args) = match prepared_write(evidence.workspace, preparer, made.args) {
        Some(write) => (write.tool, write.args),
        None if preparer.prepares.is_some() => return None,
        None => (preparer, made.args.as_object()?.clone()),
    };
    args.remove("dry_run");
    (executed.name.value == tool.name.value).then_some(args)
}
