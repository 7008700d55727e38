//! Called and expected tools by name, counted for the F1 scorers.

use super::calls::{ObservedCall, alternatives, scored_calls};
use crate::evidence::Evidence;
use crate::finding::ScorerFinding;
use model::suite::{Case, ExpectedCall, SuiteKind};
use model::{Reading, ScoreReason, Tool, Workspace};

/// Returns whether the case expects certain calls.
pub(crate) fn expects_calls(case: &Case) -> bool {
    !alternatives(case).is_empty()
}

/// Call by canonical name, with its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NamedCall<'a> {
    pub name: &'a str,
    pub event: u32,
}

/// Returns the F1 of the best alternative. `count` compares the calls made with the expected names.
pub(crate) fn f1(evidence: &Evidence<'_>, count: fn(&[NamedCall<'_>], &[&str]) -> F1Counts) -> ScorerFinding {
    let scored = alternatives(evidence.case).iter().map(|alternative| {
        let expected: Vec<&str> = alternative.iter().map(|call| canonical_tool_name(evidence.workspace, &call.tool)).collect();
        let made = counted_calls(evidence, alternative);
        let counted = count(&made, &expected);
        (counted.f1(), counted.because(&made, &expected))
    });
    scored
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map_or_else(ScorerFinding::not_exercised, |(level, because)| ScorerFinding { reading: Reading::Level(level), because })
}

/// Returns the calls that count. In tool selection every call does. Elsewhere reads that the case does not name are ignored, because
/// extra reads are neither right nor wrong.
fn counted_calls<'a>(evidence: &Evidence<'a>, alternative: &[ExpectedCall]) -> Vec<NamedCall<'a>> {
    let everything = evidence.case.kind == SuiteKind::ToolSelection;
    scored_calls(evidence)
        .into_iter()
        .filter(|made| {
            let named = || made.tool.is_some_and(|tool| alternative.iter().any(|call| tool.has_name(&call.tool)));
            everything || made.tool.is_none_or(Tool::writes) || named()
        })
        .map(|made| NamedCall { name: counted_name(&made), event: made.event })
        .collect()
}

/// Returns the name by which a call counts. A refused call has none, so that it matches no expected call.
fn counted_name<'a>(made: &ObservedCall<'a>) -> &'a str {
    if made.refused { "a refused call" } else { made.tool.map_or(made.requested_name, |tool| tool.name.as_str()) }
}

pub(crate) fn canonical_tool_name<'a>(workspace: &'a Workspace, name: &'a str) -> &'a str {
    workspace.tool(name).map_or(name, |tool| tool.name.as_str())
}

/// Numbers of calls made, calls expected, and calls in both.
pub(crate) struct F1Counts {
    pub common: usize,
    pub called: usize,
    pub expected: usize,
}

impl F1Counts {
    /// Returns 2PR / (P + R) with P = common / called and R = common / expected; 0 if nothing matches.
    pub(crate) fn f1(&self) -> f64 {
        if self.common == 0 { 0.0 } else { 2.0 * self.common as f64 / (self.called + self.expected) as f64 }
    }

    fn because(&self, made: &[NamedCall<'_>], expected: &[&str]) -> Vec<ScoreReason> {
        let what = format!("{} matched, {} called, {} expected ({})", self.common, self.called, self.expected, expected.join(", "));
        let mut because = vec![ScoreReason { event: made.first().map(|call| call.event), what }];
        let extra = made.iter().filter(|call| !expected.contains(&call.name));
        because.extend(extra.map(|call| ScoreReason { event: Some(call.event), what: format!("{} is not expected", call.name) }));
        let absent = expected.iter().filter(|name| !made.iter().any(|call| call.name == **name));
        because.extend(absent.map(|name| ScoreReason { event: None, what: format!("{name} was not called") }));
        because
    }
}
