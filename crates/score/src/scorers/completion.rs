//! Completion rate (spec 2.3): the skill is carried out to its end.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding, post};
use crate::facts::calls::{ObservedCall, alternatives, observed_calls};
use crate::facts::selection::canonical_tool_name;
use model::suite::{Case, ExpectedCalls, SuiteKind};
use model::transcript::{ToolAnswer, TxOutcome};
use model::{Ending, EventKind, OpClass, Reading, ScoreReason, ScorerId, Workspace};
use serde_json::{Map, json};

pub(super) struct CompletionScorer;

impl Scorer for CompletionScorer {
    fn id(&self) -> ScorerId {
        ScorerId::Completion
    }

    fn manual(&self) -> &'static str {
        "Checks that a skill case is carried out to its end. One tally per trial. A hit requires that the subject finished (neither \
         refused nor gave up); that every required step was seen (the expected skill activated, a question asked before it if the case \
         requires one, the tools of one accepted alternative called and answered); that every error was recovered (the same tool, or \
         another of the same operation class other than read, succeeded later); and that every state predicate of the case holds. Cases in \
         which no skill fits are not scored."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.kind == SuiteKind::Skills && !matches!(case.expect.calls, Some(ExpectedCalls::NoTool(_)))
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
        for (event, what) in unrecovered_errors(evidence, &calls) {
            miss(Some(event), what);
        }
        if post::all_hold(evidence) == Some(false) {
            miss(None, "a state predicate of the case does not hold".into());
        }
        let good = because.is_empty();
        if good {
            // Events of the judge come after the end.
            let last = evidence.transcript.events.iter().rev().find(|event| event.by != "judge").map(|event| event.n);
            because.push(ScoreReason { event: last, what: "finished with every required step".into() });
        }
        ScorerFinding { reading: Reading::from_bool(good), because }
    }

    fn accepts(&self) -> EvidenceFixture {
        fixture(vec![activated(), called(1), failed(1), called(2), succeeded(2)])
    }

    fn rejects(&self) -> EvidenceFixture {
        fixture(vec![activated(), called(1), failed(1)])
    }
}

fn missing_steps(evidence: &Evidence<'_>, calls: &[ObservedCall<'_>]) -> Vec<String> {
    let expect = &evidence.case.expect;
    let events = &evidence.transcript.events;
    let mut missing = vec![];
    let activation = events
        .iter()
        .find(|event| matches!((&event.happened, &expect.skill), (EventKind::Activated { skill, .. }, Some(wanted)) if *skill == **wanted));
    if let (Some(skill), None) = (&expect.skill, activation) {
        missing.push(format!("{} was not activated", **skill));
    }
    let asked = events.iter().find(|event| matches!(event.happened, EventKind::Asked { .. }));
    let in_time = asked.is_some_and(|asked| activation.is_none_or(|activation| asked.n < activation.n));
    if !expect.ask.is_empty() && !in_time {
        missing.push(format!("{} was not asked for", expect.ask.join(", ")));
    }
    let accepted = alternatives(evidence.case);
    let done: Vec<&str> = calls.iter().filter(|call| succeeds(evidence, call)).map(ObservedCall::name).collect();
    let is_done = |wanted: &[&str]| {
        let mut open = done.clone();
        wanted.iter().all(|tool| open.iter().position(|name| name == tool).map(|at| open.swap_remove(at)).is_some())
    };
    let wanted: Vec<Vec<&str>> =
        accepted.iter().map(|calls| calls.iter().map(|call| canonical_tool_name(evidence.workspace, &call.tool)).collect()).collect();
    if !wanted.is_empty() && !wanted.iter().any(|tools| is_done(tools)) {
        let listed: Vec<String> = wanted.iter().map(|tools| tools.join(", ")).collect();
        missing.push(format!("{} did not succeed", listed.join(" or ")));
    }
    missing
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
    let open = calls.iter().filter_map(|call| {
        let (event, code) = call_failure(evidence, call)?;
        let recovered = calls.iter().any(|later| later.event > event && can_replace(later, call) && succeeds(evidence, later));
        (!recovered).then(|| (event, format!("{} failed with {code} and was not recovered", call.name())))
    });
    open.collect()
}

/// Returns whether a later call can recover a failed one: same tool, or same class. Reads are too diverse to replace each other.
fn can_replace(later: &ObservedCall<'_>, failed: &ObservedCall<'_>) -> bool {
    let same_act =
        later.tool.zip(failed.tool).is_some_and(|(one, other)| one.acts.class() == other.acts.class() && one.acts.class() != OpClass::Read);
    later.name() == failed.name() || same_act
}

fn fixture(events: Vec<(&str, EventKind)>) -> EvidenceFixture {
    EvidenceFixture::of("convert_half_an_ether", events)
}

fn activated() -> (&'static str, EventKind) {
    ("assistant", EventKind::Activated { skill: "swap".into(), params: Map::new() })
}

fn called(call: u32) -> (&'static str, EventKind) {
    ("trader", EventKind::Called { call, tool: "swap_get_quote".into(), args: json!({}) })
}

fn failed(call: u32) -> (&'static str, EventKind) {
    ("trader", EventKind::Answered { call, answer: ToolAnswer::Error { code: "NO_ROUTE".into(), message: "no route".into() } })
}

fn succeeded(call: u32) -> (&'static str, EventKind) {
    ("trader", EventKind::Answered { call, answer: ToolAnswer::Result(json!({"action_id": "a1"})) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleWorkspace;

    fn good(specimen: &EvidenceFixture) -> bool {
        CompletionScorer.score(&specimen.evidence()).reading == Reading::from_bool(true)
    }

    #[test]
    fn completion_requires_skill_recovery_and_finish() {
        assert!(good(&fixture(vec![activated()])));
        assert!(!good(&fixture(vec![])), "no skill");
        assert!(!good(&fixture(vec![activated(), called(1), succeeded(1), called(2), failed(2)])), "the last answer is an error");
        let mut refused = fixture(vec![activated()]);
        refused.transcript.ending = Ending::Refused;
        assert!(!good(&refused), "refused");
    }

    #[test]
    fn completion_requires_question_before_activation() {
        let example =
            ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "      skill: swap\n", "      skill: swap\n      ask: [amount]\n");
        let asked = || ("assistant", EventKind::Asked { text: "How much?".into() });
        let run = |events| EvidenceFixture::within(&example, "convert_half_an_ether", events);
        assert!(good(&run(vec![asked(), activated()])));
        assert!(!good(&run(vec![activated()])));
        assert!(!good(&run(vec![activated(), asked()])));
    }

    #[test]
    fn completion_requires_expected_calls() {
        let with = "      skill: swap\n      calls: { any_of: [[{ tool: swap_get_quote }]] }\n";
        let example = ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "      skill: swap\n", with);
        let run = |events| EvidenceFixture::within(&example, "convert_half_an_ether", events);
        assert!(good(&run(vec![activated(), called(1), succeeded(1)])));
        assert!(!good(&run(vec![activated(), called(1)])), "not answered");
        assert!(!good(&run(vec![activated()])));
    }
}
