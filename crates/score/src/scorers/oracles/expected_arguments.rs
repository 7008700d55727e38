//! Expected calls that the writes of a trial stand for, and what their arguments have beside them.

use super::unrequested_arguments::ArgumentAudit;
use super::write_identity::write_calls;
use crate::evidence::Evidence;
use crate::facts::assign::assign;
use crate::facts::calls::{ObservedCall, alternatives};
use model::suite::{Case, ExpectedCall};
use model::{Tool, Workspace};
use std::collections::BTreeMap;

/// Gain of a call that fits an expected one without a fault.
const MOST_GAIN: i64 = 1_000;

/// Expected calls of the writes of a trial, assigned once for all of them.
#[derive(Debug)]
pub(super) struct ExpectedArguments<'a> {
    evidence: Evidence<'a>,
    /// Expected calls of each tool that the case expects, one list for each alternative with one.
    lists: BTreeMap<&'a str, Vec<ExpectedOfTool<'a>>>,
}

/// Calls of one tool that an alternative expects.
#[derive(Debug)]
struct ExpectedOfTool<'a> {
    calls: Vec<&'a ExpectedCall>,
    /// Position in `calls` by call of the trial. Empty if only one is expected.
    assigned: BTreeMap<u32, usize>,
}

impl<'a> ExpectedArguments<'a> {
    /// Assigns the writes of a trial. If an alternative expects several calls of a tool, each write is held against its own: two
    /// payments to one payee do not fit an order for two. Further writes, such as parts, are held against the one that fits best.
    pub(super) fn new(evidence: &Evidence<'a>) -> Self {
        let workspace: &'a Workspace = evidence.workspace;
        let case: &'a Case = evidence.case;
        let mut lists: BTreeMap<&'a str, Vec<ExpectedOfTool<'a>>> = BTreeMap::new();
        for alternative in alternatives(case) {
            let mut by_tool: BTreeMap<&'a str, Vec<&'a ExpectedCall>> = BTreeMap::new();
            for call in alternative {
                let name = workspace.tool(&call.tool).map(|tool| tool.name.as_str());
                name.into_iter().for_each(|name| by_tool.entry(name).or_default().push(call));
            }
            for (name, calls) in by_tool {
                lists.entry(name).or_default().push(ExpectedOfTool { calls, assigned: BTreeMap::new() });
            }
        }
        let writes = write_calls(evidence);
        for (name, lists) in &mut lists {
            let Some(tool) = workspace.tool(name).filter(|_| lists.iter().any(|list| list.calls.len() > 1)) else { continue };
            let own = writes.iter().filter(|write| !write.failed && write.tool.is_some_and(|other| other.name == tool.name));
            let audits: Vec<(u32, ArgumentAudit<'a>)> = own.map(|write| (write.call, ArgumentAudit::new(evidence, tool, write))).collect();
            for list in lists.iter_mut().filter(|list| list.calls.len() > 1) {
                list.assigned = assigned_calls(tool, &audits, &list.calls);
            }
        }
        Self { evidence: *evidence, lists }
    }

    /// Returns what the arguments of a call have beside or instead of what the case states for this tool. A case that expects no call of the
    /// tool states nothing.
    pub(super) fn faults(&self, call: &ObservedCall<'_>) -> Vec<String> {
        let Some((tool, lists)) = call.tool.and_then(|tool| Some((tool, self.lists.get(tool.name.as_str())?))) else { return vec![] };
        let audit = ArgumentAudit::new(&self.evidence, tool, call);
        let faults = |list: &ExpectedOfTool<'a>| match list.assigned.get(&call.call) {
            Some(own) => audit.faults(tool, list.calls[*own]),
            None => list.calls.iter().map(|one| audit.faults(tool, one)).min_by_key(Vec::len).unwrap_or_default(),
        };
        lists.iter().map(faults).min_by_key(Vec::len).unwrap_or_default()
    }
}

/// Returns the expected call that stands for each write, so that there are as few faults as possible.
fn assigned_calls(tool: &Tool, audits: &[(u32, ArgumentAudit<'_>)], expected: &[&ExpectedCall]) -> BTreeMap<u32, usize> {
    let gain = |(_, audit): &(u32, ArgumentAudit<'_>)| -> Vec<i64> {
        let count = |one: &ExpectedCall| i64::try_from(audit.faults(tool, one).len()).unwrap_or(MOST_GAIN);
        expected.iter().map(|one| (MOST_GAIN - count(one)).max(1)).collect()
    };
    let assigned = assign(&audits.iter().map(gain).collect::<Vec<_>>());
    audits.iter().zip(assigned).filter_map(|((call, _), own)| Some((*call, own?))).collect()
}
