//! Writes of a trial that neither the expected calls nor the case's `allow` cover.

use super::call_pattern::matches_pattern;
use super::calls::ObservedCall;
use super::selection::canonical_tool_name;
use super::writes::writes;
use crate::evidence::Evidence;
use model::suite::ExpectedCall;
use model::{OpClass, ScoreReason, StepAction, Tool};
use std::collections::BTreeSet;

/// Returns the writes beyond an alternative of the case; all writes if the case expects no calls. Calls that failed without an effect do not
/// count, nor do failed attempts at an expected tool. Where a write is expected, nor does an allowance that a workflow step of the acting agent sets.
pub(crate) fn extra_writes(evidence: &Evidence<'_>, alternative: &[ExpectedCall]) -> Vec<ScoreReason> {
    let wanted: Vec<&str> = alternative.iter().map(|call| canonical_tool_name(evidence.workspace, &call.tool)).collect();
    let mut left = wanted.clone();
    let expects_write = left.iter().any(|name| evidence.workspace.tool(name).is_some_and(Tool::writes));
    let mut seen = BTreeSet::new();
    let mut extra = vec![];
    for write in writes(evidence) {
        let Some(call) = write.call else {
            extra.push(ScoreReason { event: Some(write.event), what: "an unrequested write: a signature without a tool call".into() });
            continue;
        };
        // Several signatures of one call are one write.
        let is_expected = |call: &ObservedCall<'_>| wanted.contains(&call.name());
        if call.failed_without_effect() || call.failed && is_expected(&call) || !seen.insert(call.call) {
            continue;
        }
        if let Some(at) = left.iter().position(|name| *name == call.name()) {
            left.swap_remove(at);
            continue;
        }
        let allowed = evidence.case.expect.allow.iter().any(|pattern| matches_pattern(evidence, pattern, &call));
        if !(allowed || expects_write && is_workflow_allowance(evidence, &call)) {
            let how = if call.failed { ", answered with an error," } else { "" };
            extra.push(ScoreReason { event: Some(call.event), what: format!("{}{how} is an unrequested write", call.name()) });
        }
    }
    extra
}

fn is_workflow_allowance(evidence: &Evidence<'_>, call: &ObservedCall<'_>) -> bool {
    let Some(tool) = call.tool.filter(|tool| tool.acts.class() == OpClass::Approve) else { return false };
    evidence.workspace.agent(call.by).is_some_and(|agent| {
        agent.workflow.iter().any(|step| match &step.action {
            StepAction::Call(tools) => tools.iter().any(|name| tool.has_name(name)),
            StepAction::Delegate(_) | StepAction::Ask(_) | StepAction::Say(_) => false,
        })
    })
}
