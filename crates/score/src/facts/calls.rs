//! Calls of a transcript, by canonical tool name.

use super::prepared_writes::{prepared_write, stands_for};
use crate::evidence::Evidence;
use model::suite::{Case, ExpectedCall, SuiteKind};
use model::transcript::ToolAnswer;
use model::{Event, EventKind, Tool, Workspace};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ObservedCall<'a> {
    pub event: u32,
    pub at_ms: u64,
    pub by: &'a str,
    pub call: u32,
    /// Absent if the called tool does not exist.
    pub tool: Option<&'a Tool>,
    /// Name as called; of another tool than `tool` if the call stands for the write it prepares.
    pub requested_name: &'a str,
    pub args: &'a Value,
    /// The world refused the call as invalid: unknown tool or invalid arguments.
    pub refused: bool,
    /// The tool answered with an error.
    pub failed: bool,
}

impl ObservedCall<'_> {
    pub(crate) fn name(&self) -> &str {
        self.tool.map_or(self.requested_name, |tool| tool.name.as_str())
    }

    /// Returns the name for people: with the requested tool, if the call stands for the write it prepares.
    pub(crate) fn shown_name(&self) -> String {
        if self.stands_for_write() { format!("{} (prepares {})", self.requested_name, self.name()) } else { self.name().to_owned() }
    }

    /// Returns whether the call is a quote or preview that stands for the write it prepares.
    pub(crate) fn stands_for_write(&self) -> bool {
        self.tool.is_some_and(|tool| !tool.has_name(self.requested_name))
    }

    /// Returns the arguments as those of `tool`: of the write, if the call stands for one.
    pub(crate) fn tool_args(&self, workspace: &Workspace) -> Cow<'_, Value> {
        let preparer = workspace.tool(self.requested_name).filter(|_| self.stands_for_write());
        let write = preparer.and_then(|preparer| prepared_write(workspace, preparer, self.args));
        write.map_or(Cow::Borrowed(self.args), |write| Cow::Owned(Value::Object(write.args)))
    }

    /// Returns whether the call only prepares a write.
    fn prepares_only(&self) -> bool {
        self.is_dry_run() || self.stands_for_write()
    }

    /// Returns whether the call only prepares an action and sends nothing.
    pub(crate) fn is_dry_run(&self) -> bool {
        self.tool.is_some_and(|tool| tool.is_dry_run(self.args))
    }

    /// Returns whether the call was answered with an error and changed nothing: it was refused as invalid, or its tool acts in the world,
    /// which undoes what failed. What a server did before its error is not known.
    pub(crate) fn failed_without_effect(&self) -> bool {
        self.refused || self.failed && !self.tool.is_some_and(Tool::is_foreign)
    }
}

pub(crate) fn observed_calls<'a>(evidence: &Evidence<'a>) -> Vec<ObservedCall<'a>> {
    let workspace: &'a Workspace = evidence.workspace;
    let errors = call_errors(evidence);
    evidence
        .transcript
        .events
        .iter()
        .filter_map(|event| {
            let EventKind::Called { call, tool, args } = &event.happened else { return None };
            Some(ObservedCall {
                event: event.n,
                at_ms: event.at_ms,
                by: &event.by,
                call: *call,
                tool: workspace.tool(tool),
                requested_name: tool,
                args,
                refused: errors.get(call).is_some_and(|answer| answer.refuses_call()),
                failed: errors.contains_key(call),
            })
        })
        .collect()
}

/// Returns the error answers by call.
fn call_errors<'a>(evidence: &Evidence<'a>) -> BTreeMap<u32, &'a ToolAnswer> {
    let error = |event: &'a Event| {
        let EventKind::Answered { call, answer: answer @ ToolAnswer::Error { .. } } = &event.happened else { return None };
        Some((*call, answer))
    };
    evidence.transcript.events.iter().filter_map(error).collect()
}

/// Returns the calls that expectations apply to: in tool selection those before the first answer, elsewhere all except dry runs.
/// Refused calls are included, because they were made; they match no expected call. In tool selection, which ends after the first move, a
/// quote or preview of an expected write stands for that write: pricing it first is as good.
pub(crate) fn scored_calls<'a>(evidence: &Evidence<'a>) -> Vec<ObservedCall<'a>> {
    let all = observed_calls(evidence);
    if evidence.case.kind != SuiteKind::ToolSelection {
        // Expectations are about the real call, not its preparation.
        return all.into_iter().filter(|call| !call.is_dry_run()).collect();
    }
    let answered =
        evidence.transcript.events.iter().find(|event| matches!(event.happened, EventKind::Answered { .. })).map(|event| event.n);
    let first_move = all.into_iter().filter(|call| answered.is_none_or(|n| call.event < n));
    first_move.map(|call| as_expected_write(evidence, call)).collect()
}

/// Returns whether a tool-selection trial ended with the preparation of the expected write, so that no state could change.
pub(crate) fn ended_with_preparation(evidence: &Evidence<'_>) -> bool {
    let calls = scored_calls(evidence);
    evidence.case.kind == SuiteKind::ToolSelection && !calls.is_empty() && calls.iter().all(ObservedCall::prepares_only)
}

/// Returns the call as the write it prepares, if the case expects that write and not the call itself.
fn as_expected_write<'a>(evidence: &Evidence<'a>, call: ObservedCall<'a>) -> ObservedCall<'a> {
    let workspace: &'a Workspace = evidence.workspace;
    let expects = |tool: &Tool| alternatives(evidence.case).iter().flatten().any(|call| tool.has_name(&call.tool));
    let prepared = call.tool.filter(|tool| !expects(tool)).and_then(|tool| stands_for(workspace, tool, call.args));
    prepared.filter(|write| expects(write)).map_or(call, |write| ObservedCall { tool: Some(write), ..call })
}

/// Returns the call that prepared an action: the one whose answer contains the id.
pub(crate) fn preparing_call<'a>(evidence: &Evidence<'a>, action_id: &str) -> Option<ObservedCall<'a>> {
    let prepared_by = evidence.transcript.events.iter().find_map(|event| {
        let EventKind::Answered { call, answer: ToolAnswer::Result(value) } = &event.happened else { return None };
        (value.get("action_id").and_then(Value::as_str) == Some(action_id)).then_some(*call)
    })?;
    observed_calls(evidence).into_iter().find(|made| made.call == prepared_by)
}

/// Returns the accepted alternatives of a case; empty if it expects no calls.
pub(crate) fn alternatives(case: &Case) -> &[Vec<ExpectedCall>] {
    match &case.expect.calls {
        Some(model::suite::ExpectedCalls::AnyOf(alternatives)) => alternatives,
        Some(model::suite::ExpectedCalls::NoTool(_)) | None => &[],
    }
}
