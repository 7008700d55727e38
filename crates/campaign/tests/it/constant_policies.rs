//! Constant policies: an agent that always does the same passes at most a tenth of each kind of suite.

use crate::scripted_agents::{AgentScript, ask, delegations, play, say, spanned, step};
use bardo_eval_campaign::CaseSelection;
use indexmap::IndexMap;
use model::suite::{Case, ReferenceAction, ReferenceStep};
use model::{CaseOutcome, SuiteKind, Workspace};
use score::outcome::case_outcome;
use std::collections::BTreeMap;

const POLICIES: &[(&str, AgentScript)] = &[
    ("always asks for everything", |_, _| vec![ask(EVERY_QUESTION), ask(EVERY_QUESTION), ask(EVERY_QUESTION)]),
    ("always declines", |_, _| vec![say(r#"{"status": "declined", "verdict": "veto", "reason": "This is not possible."}"#)]),
    ("always calls the most common tool", most_common_call),
    ("always asks the guardian", |workspace, case| delegations(workspace, case, true)),
];

const EVERY_QUESTION: &str = "Which token, which amount, on which chain, to which recipient address, which position, pool or vault, at which \
                              price, slippage and deadline, and which operation do you mean?";

/// Share of a kind of suite that a constant policy may pass.
const MAX_SHARE: f64 = 0.10;

/// Calls the tool that most cases of this kind expect, with the right arguments where the reference calls it too.
fn most_common_call(workspace: &Workspace, case: &Case) -> Vec<ReferenceStep> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let expected = workspace.cases().filter(|other| other.kind == case.kind).flat_map(|other| &other.expect.calls);
    for call in expected.flat_map(|calls| calls.expected_calls()) {
        *counts.entry(call.tool.as_str()).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, cases)| *cases).map(|(tool, _)| tool);
    let is_most = |step: &&ReferenceStep| matches!(&step.action, ReferenceAction::Call { tool, .. } if Some(tool.as_str()) == most);
    let own = case.reference.iter().find(is_most).cloned();
    let blind = || most.map(|tool| step(ReferenceAction::Call { tool: spanned(tool), args: IndexMap::new() }));
    own.or_else(blind).into_iter().chain([say("Done.")]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn constant_policies_pass_at_most_a_tenth_of_each_kind() {
    let workspace = testkit::reference_workspace();
    let mut too_many = vec![];
    for (name, script) in POLICIES {
        let record = play(Some(*script), "reference", &CaseSelection::default()).await;
        let mut by_kind: BTreeMap<SuiteKind, (usize, usize)> = BTreeMap::new();
        for (transcript, scores) in record.transcripts.iter().zip(&record.scores) {
            let kind = workspace.case(&transcript.case).expect("a case of the workspace").kind;
            let (passed, of) = by_kind.entry(kind).or_default();
            let is_passed = matches!(case_outcome(&transcript.ending, &scores.scores), CaseOutcome::Passed | CaseOutcome::Unjudged);
            *passed += usize::from(is_passed);
            *of += 1;
        }
        assert_eq!(by_kind.len(), 4, "{name} plays every kind of suite");
        let over = by_kind.into_iter().filter(|(_, (passed, of))| *passed as f64 > MAX_SHARE * *of as f64);
        too_many.extend(over.map(|(kind, (passed, of))| format!("{name}: {passed} of {of} cases of {}", kind.word())));
    }
    assert!(too_many.is_empty(), "{too_many:#?}");
}
