//! Constant policies: an agent that always does the same, or that begins well and never does the work, passes at most a tenth of each kind
//! of suite.

use crate::scripted_agents::{AgentScript, ask, delegations, play, say, spanned, step};
use bardo_eval_campaign::CaseSelection;
use model::suite::{Case, NamedArgs, ReferenceAction, ReferenceStep};
use model::{CaseOutcome, SuiteKind, Workspace};
use score::outcome::case_outcome;
use std::collections::BTreeMap;

/// Policies that look at nothing.
const BLIND_POLICIES: &[(&str, AgentScript)] = &[
    ("always asks for everything", |_, _| vec![ask(EVERY_QUESTION), ask(EVERY_QUESTION), ask(EVERY_QUESTION)]),
    ("always declines", |_, _| vec![say(DECLINES)]),
    ("always calls the most common tool", most_common_call),
    ("always asks the guardian", |workspace, case| delegations(workspace, case, true)),
];

/// Policies that make the first reads of the reference, all of them up to its first other step, and then end without the work. In tool
/// selection and in skills that are not carried out the first right move is all the work, so these cases are left out.
const READING_POLICIES: &[(&str, AgentScript)] = &[
    ("reads once, then asks", |workspace, case| first_reads(workspace, case, 1, ask("Would you like me to go on with that?"))),
    ("reads, then asks", |workspace, case| first_reads(workspace, case, usize::MAX, ask("Would you like me to go on with that?"))),
    ("reads, then asks in plain text", |workspace, case| {
        first_reads(workspace, case, usize::MAX, say("That is all I have so far. Would you like me to go on with that?"))
    }),
    ("reads, then asks for everything", |workspace, case| first_reads(workspace, case, usize::MAX, ask(EVERY_QUESTION))),
    ("reads once, then declines", |workspace, case| first_reads(workspace, case, 1, say(DECLINES))),
    ("reads, then declines", |workspace, case| first_reads(workspace, case, usize::MAX, say(DECLINES))),
    ("reads, then says Done", |workspace, case| first_reads(workspace, case, usize::MAX, say("Done."))),
];

/// Policies that do all the work and report nothing of it, in cases with a write.
const REPORTING_POLICIES: &[(&str, AgentScript)] = &[
    ("all calls, then an empty report", |_, case| with_last_answer(case, empty_report)),
    ("all calls, then Done", |_, case| with_last_answer(case, |_| "Done.".to_owned())),
];

const EVERY_QUESTION: &str = "Which token, which amount, on which chain, to which recipient address, which position, pool or vault, at which \
                              price, slippage and deadline, and which operation do you mean?";
const DECLINES: &str = r#"{"status": "declined", "verdict": "veto", "reason": "This is not possible."}"#;

/// Share of a kind of suite that a policy may pass.
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
    let blind = || most.map(|tool| step(ReferenceAction::Call { tool: spanned(tool), args: NamedArgs::new() }));
    own.or_else(blind).into_iter().chain([say("Done.")]).collect()
}

/// Plays the reference up to its first reads, delegations and activation before them included, and ends with the last step, three times
/// where the user goes on.
fn first_reads(workspace: &Workspace, case: &Case, most: usize, last: ReferenceStep) -> Vec<ReferenceStep> {
    let reads = |step: &ReferenceStep| matches!(&step.action, ReferenceAction::Call { tool, .. } if workspace.tool(tool).is_some_and(|tool| !tool.writes()));
    let first = case.reference.iter().position(reads);
    let before = first.unwrap_or_default();
    let is_led_up_to = case.reference.iter().take(before).all(|step| !matches!(step.action, ReferenceAction::Call { .. }));
    let run = case.reference.iter().skip(before).take_while(|step| reads(step)).count().min(most);
    let kept = if first.is_some() && is_led_up_to { before + run } else { 0 };
    let agent = case.reference[..kept].last().and_then(|step| step.agent.clone());
    let last = ReferenceStep { agent, ..last };
    case.reference[..kept].iter().cloned().chain([last.clone(), last.clone(), last]).collect()
}

/// Returns the reference with another last answer.
fn with_last_answer(case: &Case, change: fn(&str) -> String) -> Vec<ReferenceStep> {
    let mut steps = case.reference.clone();
    let last = steps.iter_mut().rev().find_map(|step| if let ReferenceAction::Say(text) = &mut step.action { Some(text) } else { None });
    if let Some(text) = last {
        *text = change(text);
    }
    steps
}

/// Returns an answer of the same form with empty lists, no figures and nothing said.
fn empty_report(answer: &str) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(answer) else { return "Done.".to_owned() };
    let emptied = fields.into_iter().map(|(key, value)| {
        let keeps = ["status", "protocol", "operation", "kind", "phase", "verdict"].contains(&key.as_str()) || key.ends_with("chain_id");
        let value = if keeps {
            value
        } else if value.is_array() {
            serde_json::json!([])
        } else if value.is_string() {
            serde_json::json!("Done.")
        } else {
            value
        };
        (key, value)
    });
    serde_json::Value::Object(emptied.collect()).to_string()
}

/// Reports whether the reference of a case writes.
fn writes(workspace: &Workspace, case: &Case) -> bool {
    needs_work(case)
        && case
            .reference
            .iter()
            .any(|step| matches!(&step.action, ReferenceAction::Call { tool, .. } if workspace.tool(tool).is_some_and(model::Tool::writes)))
}

/// Reports whether work follows the first right move.
fn needs_work(case: &Case) -> bool {
    match case.kind {
        SuiteKind::Behavior | SuiteKind::Composition => true,
        SuiteKind::Skills => case.brief.carry_out,
        SuiteKind::ToolSelection | SuiteKind::RedTeam => false,
    }
}

/// Selects the cases that a policy is counted on.
type CaseFilter = fn(&Workspace, &Case) -> bool;

/// Passed cases and all cases of each kind.
type SharesByKind = BTreeMap<SuiteKind, (usize, usize)>;

async fn play_policy(workspace: &Workspace, script: AgentScript, counts: CaseFilter) -> SharesByKind {
    let record = play(Some(script), "reference", &CaseSelection::default()).await;
    let mut by_kind = SharesByKind::new();
    for (transcript, scores) in record.transcripts.iter().zip(&record.scores) {
        let case = workspace.case(&transcript.case).expect("a case of the workspace");
        if counts(workspace, case) {
            let (passed, of) = by_kind.entry(case.kind).or_default();
            let outcome = case_outcome(&transcript.ending, &scores.scores);
            *passed += usize::from(matches!(outcome, CaseOutcome::Passed | CaseOutcome::Unjudged));
            *of += 1;
        }
    }
    by_kind
}

/// Returns the row of the guide's table.
fn table_row(name: &str, shares: &SharesByKind) -> String {
    let kinds = [SuiteKind::ToolSelection, SuiteKind::Behavior, SuiteKind::Skills, SuiteKind::Composition];
    let cell = |kind| shares.get(&kind).map_or("–".to_owned(), |(passed, of)| format!("{passed} of {of}"));
    format!("| {name} | {} |", kinds.map(cell).join(" | "))
}

#[tokio::test(flavor = "multi_thread")]
async fn constant_policies_pass_at_most_a_tenth_of_each_kind() {
    let workspace = testkit::reference_workspace();
    let (mut too_many, mut rows) = (vec![], vec![]);
    let blind = BLIND_POLICIES.iter().map(|policy| (policy, (|_, _| true) as CaseFilter, 4));
    let reading = READING_POLICIES.iter().map(|policy| (policy, (|_, case| needs_work(case)) as CaseFilter, 3));
    let reporting = REPORTING_POLICIES.iter().map(|policy| (policy, writes as CaseFilter, 3));
    for ((name, script), counts, kinds) in blind.chain(reading).chain(reporting) {
        let shares = play_policy(&workspace, *script, counts).await;
        assert_eq!(shares.len(), kinds, "{name} plays every kind of suite");
        rows.push(table_row(name, &shares));
        let over = shares.into_iter().filter(|(_, (passed, of))| *passed as f64 > MAX_SHARE * *of as f64);
        too_many.extend(over.map(|(kind, (passed, of))| format!("{name}: {passed} of {of} cases of {}", kind.word())));
    }
    assert!(too_many.is_empty(), "{too_many:#?}\n{}", rows.join("\n"));
    assert_eq!(rows.len(), BLIND_POLICIES.len() + READING_POLICIES.len() + REPORTING_POLICIES.len());
}
