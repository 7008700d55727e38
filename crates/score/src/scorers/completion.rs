//! Completion rate (spec 2.3): the skill is carried out to its end.

use super::argument_match::mismatches;
use super::authorized_effects::AuthorizedEffects;
use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding, output_format, post};
use crate::example::ExampleWorkspace;
use crate::facts::calls::{ObservedCall, alternatives, observed_calls};
use crate::facts::skill_run::skill_run;
use crate::facts::stated::unstated;
use crate::facts::user_questions::question_in;
use model::suite::{Case, ExpectedCall, ExpectedChange, StatePredicate};
use model::transcript::{ToolAnswer, TxOutcome};
use model::{Ending, EventKind, OpClass, Reading, ScoreReason, ScorerId, Tool, Workspace};
use serde_json::{Map, json};

pub(super) struct CompletionScorer;

impl Scorer for CompletionScorer {
    fn id(&self) -> ScorerId {
        ScorerId::Completion
    }

    fn manual(&self) -> &'static str {
        "Checks that a skill is carried out to its end. One tally per trial of a case with carry_out: after the activation that closes the \
         conversation, the agent of the activated skill receives its parameters and acts. A hit requires that the subject finished \
         (neither refused nor gave up); that the expected skill was carried out, after the question that the case requires; that its \
         agent called a tool or delegated, and returned a report; that the calls of one accepted alternative succeeded with their \
         arguments; that every error was recovered (the same tool, or another of the same operation class other than read, succeeded \
         later; a failed read, quote or preview that the case does not expect also by the success of the expected calls); that every state predicate of the case holds; and that no effect is unauthorised. The report must state the fields and \
         values in expect.report and fit the output schema of the case. If the case expects no write and no state, it must fit the \
         schema of the agent, and nothing may be written."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.brief.carry_out && case.expect.skill.is_some()
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let calls = observed_calls(evidence);
        let mut because: Vec<ScoreReason> = vec![];
        let mut miss = |event: Option<u32>, what: String| because.push(ScoreReason { event, what });
        if evidence.transcript.ending != Ending::Finished {
            miss(None, format!("the subject {}", evidence.transcript.ending));
        }
        for what in missing_steps(evidence, &calls) {
            miss(None, what);
        }
        for (event, what) in unrecovered_errors(evidence, &calls).into_iter().chain(report_faults(evidence)) {
            miss(Some(event), what);
        }
        if post::all_hold(evidence) == Some(false) {
            miss(None, "a state predicate of the case does not hold".into());
        }
        for (event, what) in unwanted_effects(evidence, &calls) {
            miss(event, what);
        }
        let good = because.is_empty();
        if good {
            // Events of the judge come after the end.
            let last = evidence.transcript.events.iter().rev().find(|event| event.by != "judge").map(|event| event.n);
            because.push(ScoreReason { event: last, what: "carried out to its report".into() });
        }
        ScorerFinding { reading: Reading::from_bool(good), because }
    }

    fn accepts(&self) -> EvidenceFixture {
        fixture(vec![activated("swap"), started("trader"), called(1), failed(1), called(2), succeeded(2), returned(REPORT)])
    }

    fn rejects(&self) -> EvidenceFixture {
        fixture(vec![activated("swap"), started("trader"), called(1), succeeded(1), returned("Done.")])
    }
}

fn missing_steps(evidence: &Evidence<'_>, calls: &[ObservedCall<'_>]) -> Vec<String> {
    let expect = &evidence.case.expect;
    let run = skill_run(evidence);
    let mut missing = vec![];
    match (run, &expect.skill) {
        (None, Some(skill)) => missing.push(format!("{} was not carried out", **skill)),
        (Some(run), Some(skill)) if run.skill != **skill => missing.push(format!("{} was carried out instead of {}", run.skill, **skill)),
        (Some(_) | None, Some(_) | None) => {}
    }
    missing.extend(run.filter(|run| !run.has_acted()).map(|run| format!("{} did nothing", run.agent)));
    missing.extend(run.filter(|run| run.report().is_none()).map(|run| format!("{} returned no report", run.agent)));
    let asked = evidence.transcript.events.iter().find(|event| question_in(event).is_some());
    let in_time = asked.is_some_and(|asked| run.is_none_or(|run| asked.n < run.activation));
    if !expect.ask.is_empty() && !in_time {
        missing.push(format!("{} was not asked for", expect.ask.join(", ")));
    }
    missing.extend(missing_calls(evidence, calls));
    missing
}

/// Describes the expected calls if no alternative has succeeded as a whole, each call with its arguments.
fn missing_calls(evidence: &Evidence<'_>, calls: &[ObservedCall<'_>]) -> Option<String> {
    let done: Vec<&ObservedCall<'_>> = calls.iter().filter(|call| succeeds(evidence, call)).collect();
    let is_done = |wanted: &[ExpectedCall]| {
        let mut open = done.clone();
        wanted.iter().all(|wanted| open.iter().position(|call| is_call(evidence, call, wanted)).map(|at| open.swap_remove(at)).is_some())
    };
    let accepted = alternatives(evidence.case);
    if accepted.is_empty() || accepted.iter().any(|wanted| is_done(wanted)) {
        return None;
    }
    let names = |wanted: &Vec<ExpectedCall>| wanted.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>().join(", ");
    Some(format!("{} did not succeed as expected", accepted.iter().map(names).collect::<Vec<_>>().join(" or ")))
}

fn is_call(evidence: &Evidence<'_>, made: &ObservedCall<'_>, wanted: &ExpectedCall) -> bool {
    made.tool.is_some_and(|tool| tool.has_name(&wanted.tool)) && mismatches(evidence, wanted, made).is_empty()
}

/// Returns the event of the report and what it lacks.
fn report_faults(evidence: &Evidence<'_>) -> Vec<(u32, String)> {
    let expect = &evidence.case.expect;
    let Some((event, report)) = skill_run(evidence).and_then(|run| run.report()) else { return vec![] };
    let mut faults = expect.report.as_ref().map(|expected| unstated(expected, report)).unwrap_or_default();
    if expect.output_schema.is_some() || expects_report_alone(evidence) {
        let found = output_format::score_root_answer(evidence);
        faults.extend(found.misses().into_iter().map(|why| why.what));
    }
    faults.into_iter().map(|what| (event.n, format!("report: {what}"))).collect()
}

/// Returns whether the case expects neither a write nor a changed state.
fn expects_report_alone(evidence: &Evidence<'_>) -> bool {
    let writes = |call: &ExpectedCall| evidence.workspace.tool(&call.tool).is_some_and(Tool::writes);
    !alternatives(evidence.case).iter().flatten().any(writes) && !evidence.case.expect.post.iter().any(|state| expects_change(state))
}

fn expects_change(state: &StatePredicate) -> bool {
    match state.change {
        ExpectedChange::Unchanged => false,
        ExpectedChange::Increased | ExpectedChange::Decreased | ExpectedChange::Compared(..) => true,
    }
}

fn unwanted_effects(evidence: &Evidence<'_>, calls: &[ObservedCall<'_>]) -> Vec<(Option<u32>, String)> {
    let unauthorised = AuthorizedEffects.score(evidence);
    let effects = unauthorised.misses().into_iter().map(|why| (why.event, format!("unauthorised: {}", why.what)));
    let wrote = |call: &&ObservedCall<'_>| call.tool.is_some_and(Tool::writes) && succeeds(evidence, call);
    let writes = calls.iter().filter(|_| expects_report_alone(evidence)).filter(wrote);
    effects.chain(writes.map(|call| (Some(call.event), format!("{} was called, but only a report was asked for", call.name())))).collect()
}

fn succeeds(evidence: &Evidence<'_>, call: &ObservedCall<'_>) -> bool {
    !call.is_dry_run()
        && call_failure(evidence, call).is_none()
        && evidence
            .transcript
            .events
            .iter()
            .any(|event| matches!(&event.happened, EventKind::Answered { call: of, answer: ToolAnswer::Result(_) } if *of == call.call))
}

/// Returns event and code of a failed call: an error answer or a failed transaction.
fn call_failure(evidence: &Evidence<'_>, call: &ObservedCall<'_>) -> Option<(u32, String)> {
    evidence.transcript.events.iter().find_map(|event| {
        let why = if let EventKind::Answered { call: of, answer: ToolAnswer::Error { code, .. } } = &event.happened {
            (*of == call.call).then(|| code.clone())
        } else if let EventKind::Mined { origin, what } = &event.happened {
            tx_failure(&what.outcome).filter(|_| origin.call == Some(call.call))
        } else {
            None
        };
        why.map(|why| (event.n, why))
    })
}

fn tx_failure(outcome: &TxOutcome) -> Option<String> {
    match outcome {
        TxOutcome::Success => None,
        TxOutcome::Reverted { error } => Some(error.name.clone()),
        TxOutcome::Halted => Some("halted".to_owned()),
    }
}

fn unrecovered_errors(evidence: &Evidence<'_>, calls: &[ObservedCall<'_>]) -> Vec<(u32, String)> {
    // What was asked for was done without it.
    let is_done = !alternatives(evidence.case).is_empty() && missing_calls(evidence, calls).is_none();
    let open = calls.iter().filter_map(|call| {
        let (event, code) = call_failure(evidence, call)?;
        let recovered = is_done && is_optional_look(evidence, call)
            || calls.iter().any(|later| later.event > event && can_replace(later, call) && succeeds(evidence, later));
        (!recovered).then(|| (event, format!("{} failed with {code} and was not recovered", call.name())))
    });
    open.collect()
}

/// Returns whether a call reads, quotes or previews, and the case does not expect its tool.
fn is_optional_look(evidence: &Evidence<'_>, call: &ObservedCall<'_>) -> bool {
    let Some(tool) = call.tool else { return false };
    let looks = call.is_dry_run() || !tool.writes() && matches!(tool.acts.class(), OpClass::Read | OpClass::Quote);
    looks && (call.is_dry_run() || !alternatives(evidence.case).iter().flatten().any(|wanted| tool.has_name(&wanted.tool)))
}

/// Returns whether a later call can recover a failed one: same tool, or same class. Reads are too diverse to replace each other.
fn can_replace(later: &ObservedCall<'_>, failed: &ObservedCall<'_>) -> bool {
    let same_act =
        later.tool.zip(failed.tool).is_some_and(|(one, other)| one.acts.class() == other.acts.class() && one.acts.class() != OpClass::Read);
    later.name() == failed.name() || same_act
}

/// Case of the minimal workspace, carried out.
fn example() -> ExampleWorkspace {
    ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "      world: small\n", "      world: small\n      carry_out: true\n")
}

fn fixture(events: Vec<(&str, EventKind)>) -> EvidenceFixture {
    EvidenceFixture::within(&example(), "convert_half_an_ether", events)
}

const REPORT: &str = r#"{"status": "success"}"#;

fn activated(skill: &str) -> (&'static str, EventKind) {
    ("assistant", EventKind::Activated { skill: skill.into(), params: Map::new() })
}

fn started(agent: &str) -> (&'static str, EventKind) {
    ("assistant", EventKind::Delegated { to: agent.into(), params: Map::new() })
}

fn called(call: u32) -> (&'static str, EventKind) {
    ("trader", EventKind::Called { call, tool: "swap_get_quote".into(), args: json!({"token_in": "ETH", "amount": "0.5"}) })
}

fn failed(call: u32) -> (&'static str, EventKind) {
    ("trader", EventKind::Answered { call, answer: ToolAnswer::Error { code: "NO_ROUTE".into(), message: "no route".into() } })
}

fn succeeded(call: u32) -> (&'static str, EventKind) {
    ("trader", EventKind::Answered { call, answer: ToolAnswer::Result(json!({"action_id": "a1"})) })
}

fn returned(text: &str) -> (&'static str, EventKind) {
    ("trader", EventKind::Returned { text: text.into() })
}

#[cfg(test)]
mod tests;
