//! Prepared actions that a later call sent.

use super::calls::{ObservedCall, observed_calls};
use crate::compare::TypedArgs;
use crate::evidence::Evidence;
use model::suite::ExpectedCall;
use model::transcript::ToolAnswer;
use model::{EventKind, ScoreReason};
use serde_json::Value;
use std::collections::BTreeMap;

/// Names under which an answer gives, and a call names, a prepared action.
const IDS: [&str; 2] = ["action_id", "permit_id"];

/// Returns the result of a call, if it did not fail.
pub(crate) fn result_of<'a>(evidence: &Evidence<'a>, made: u32) -> Option<&'a Value> {
    evidence.transcript.events.iter().find_map(|event| {
        let EventKind::Answered { call, answer: ToolAnswer::Result(value) } = &event.happened else { return None };
        (*call == made).then_some(value)
    })
}

/// Returns the results of all calls that did not fail, as [`result_of`] finds them one by one.
pub(crate) fn results_by_call<'a>(evidence: &Evidence<'a>) -> BTreeMap<u32, &'a Value> {
    let mut results = BTreeMap::new();
    for event in &evidence.transcript.events {
        if let EventKind::Answered { call, answer: ToolAnswer::Result(value) } = &event.happened {
            results.entry(*call).or_insert(value);
        }
    }
    results
}

/// Returns whether the call names the action that the answer gave.
pub(crate) fn sends_action_of(call: &ObservedCall<'_>, answer: &Value) -> bool {
    let named = IDS.iter().filter_map(|name| call.args.get(name)?.as_str());
    named.into_iter().any(|id| IDS.iter().any(|name| answer.get(name).and_then(Value::as_str) == Some(id)))
}

/// Returns the calls that sent another action than the expected one: where the alternative expects a preview with arguments and a call that
/// only sends what was prepared, the preview that was sent must have those arguments. A preview that was not sent proves nothing.
pub(crate) fn other_actions_sent(evidence: &Evidence<'_>, alternative: &[ExpectedCall]) -> Vec<ScoreReason> {
    let calls = observed_calls(evidence);
    let is_expected = |call: &ObservedCall<'_>| alternative.iter().any(|one| call.tool.is_some_and(|tool| tool.has_name(&one.tool)));
    let mut found = vec![];
    for sent in calls.iter().filter(|call| !call.failed && call.tool.is_some_and(|tool| tool.acts.sends_prepared()) && is_expected(call)) {
        let prepares = |made: &&ObservedCall<'_>| {
            made.event < sent.event && result_of(evidence, made.call).is_some_and(|answer| sends_action_of(sent, answer))
        };
        // Later calls, such as a simulation, repeat the id.
        let Some((made, tool)) = calls.iter().find(prepares).and_then(|made| Some((made, made.tool?))) else { continue };
        let mut wanted = alternative.iter().filter(|one| tool.has_name(&one.tool)).peekable();
        let given = TypedArgs::for_call(evidence.workspace, tool, made.args);
        let fits = |one: &ExpectedCall| one.args.iter().all(|(name, wanted)| given.satisfies(name, wanted));
        if wanted.peek().is_some() && !wanted.any(fits) {
            let what = format!("{} sent another action than the expected {}", sent.name(), made.name());
            found.push(ScoreReason { event: Some(sent.event), what });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, SampleStep, answered, called};
    use model::ToolOp;
    use model::suite::{ArgMatcher, ExpectedCalls};
    use serde_json::json;

    /// The quote stands for a preview, and the swap for the call that sends what was previewed.
    fn others(steps: Vec<SampleStep>) -> usize {
        let mut fixture = EvidenceFixture::of(CLEAN_CASE, steps);
        let case = fixture.case().clone();
        let swap = fixture.workspace.tools.iter_mut().find(|tool| tool.has_name("swap_execute")).unwrap();
        swap.acts.value = ToolOp::Commit;
        let Some(ExpectedCalls::AnyOf(alternatives)) = &case.expect.calls else { panic!("expected calls") };
        let mut swap = alternatives[0].iter().find(|call| *call.tool == "swap_execute").unwrap().clone();
        swap.args = Default::default();
        let mut quote = swap.clone();
        quote.tool.value = "swap_get_quote".into();
        quote.args.insert("amount", ArgMatcher::Exactly(json!("250")));
        other_actions_sent(&Evidence { case: &case, ..fixture.evidence() }, &[quote, swap]).len()
    }

    fn quote(call: u32, amount: &str, id: &str) -> Vec<SampleStep> {
        let args = json!({"token_in": "USDC", "token_out": "WETH", "amount": amount, "chain": "base"});
        vec![called(call, "swap_get_quote", args), answered(call, json!({"action_id": id}))]
    }

    #[test]
    fn preview_that_was_not_sent_is_no_proof() {
        let sends = |id: &str| vec![called(9, "swap_execute", json!({"action_id": id})), answered(9, json!({"status": "success"}))];
        let both = || [quote(1, "250", "a1"), quote(2, "900", "a2")].concat();
        assert_eq!(others([both(), sends("a1")].concat()), 0);
        assert_eq!(others([both(), sends("a2")].concat()), 1);
    }
}
