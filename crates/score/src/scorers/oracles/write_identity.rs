//! Identity of a write: the same tool with the same arguments by meaning.

use crate::compare::{TypedArgs, ValueMeaning};
use crate::evidence::Evidence;
use crate::facts::calls::{ObservedCall, observed_calls};
use model::Tool;

/// Tool and arguments. The action id counts only where it is the only argument.
pub(super) type WriteIdentity<'a> = (&'a str, Vec<(&'a str, ValueMeaning)>);

/// Returns the calls of write tools except dry runs, in order.
pub(super) fn write_calls<'a>(evidence: &Evidence<'a>) -> Vec<ObservedCall<'a>> {
    let is_write = |call: &ObservedCall<'a>| call.tool.is_some_and(Tool::writes) && !call.is_dry_run();
    observed_calls(evidence).into_iter().filter(is_write).collect()
}

pub(super) fn write_identity<'a>(evidence: &Evidence<'a>, call: &ObservedCall<'a>) -> Option<WriteIdentity<'a>> {
    let tool = call.tool?;
    let all = TypedArgs::for_call(evidence.workspace, tool, call.args).meanings();
    let is_handle = |name: &str| matches!(name, "action_id" | "dry_run");
    let is_named = all.iter().any(|(name, _)| !is_handle(name) && call.args.get(*name).is_some());
    let kept = all.into_iter().filter(|(name, _)| !(is_named && is_handle(name)));
    Some((tool.name.as_str(), kept.collect()))
}
