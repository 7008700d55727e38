//! Is the skill carried through to its end? Spec 2.3, completion rate.

use super::{Evidence, Finding, Scorer, Specimen, post};
use crate::facts::calls::{Made, alternatives, made};
use crate::facts::selection::canonical;
use model::suite::{Case, ExpectedCalls, SuiteKind};
use model::transcript::{ToolAnswer, TxOutcome};
use model::{Because, Ending, Happened, OpClass, Reading, ScorerId, Workspace};
use serde_json::{Map, json};

pub(super) struct Completion;

impl Scorer for Completion {
    fn id(&self) -> ScorerId {
        ScorerId::Completion
    }

    fn manual(&self) -> &'static str {
        "A skill case is one tally. It is good when the subject finished (neither refused nor gave up), every required step was seen (the \
         expected skill activated, a question asked before that where the case says something must be asked for, the tools of one accepted \
         alternative called with an answer), no error was left standing (an error is recovered when the same tool, or another of the same act, \
         succeeds later), and every state predicate of the case holds. A case that no skill fits has nothing to complete."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.kind == SuiteKind::Skills && !matches!(case.expect.calls, Some(ExpectedCalls::NoTool(_)))
    }

    fn score(&self, evidence: &Evidence<'_>) -> Finding {
        let calls = made(evidence);
        let mut because: Vec<Because> = vec![];
        let mut miss = |event: Option<u32>, what: String| because.push(Because { event, what });
        if evidence.transcript.ending != Ending::Finished {
            miss(None, format!("the subject {}", evidence.transcript.ending));
        }
        for what in missing_steps(evidence, &calls) {
            miss(None, what);
        }
        for (event, what) in open_errors(evidence, &calls) {
            miss(Some(event), what);
        }
        if post::all_hold(evidence) == Some(false) {
            miss(None, "a state predicate of the case does not hold".into());
        }
        let good = because.is_empty();
        if good {
            // What a judge says comes after the end.
            let last = evidence.transcript.events.iter().rev().find(|event| event.by != "judge").map(|event| event.n);
            because.push(Because { event: last, what: "finished with every required step".into() });
        }
        Finding { reading: Reading::one(good), because }
    }

    fn accepts(&self) -> Specimen {
        specimen(vec![activated(), called(1), failed(1), called(2), succeeded(2)])
    }

    fn rejects(&self) -> Specimen {
        specimen(vec![activated(), called(1), failed(1)])
    }
}

fn missing_steps(evidence: &Evidence<'_>, calls: &[Made<'_>]) -> Vec<String> {
    let expect = &evidence.case.expect;
    let events = &evidence.transcript.events;
    let mut missing = vec![];
    let activation = events
        .iter()
        .find(|event| matches!((&event.happened, &expect.skill), (Happened::Activated { skill, .. }, Some(wanted)) if *skill == **wanted));
    if let (Some(skill), None) = (&expect.skill, activation) {
        missing.push(format!("{} was not activated", **skill));
    }
    let asked = events.iter().find(|event| matches!(event.happened, Happened::Asked { .. }));
    let in_time = asked.is_some_and(|asked| activation.is_none_or(|activation| asked.n < activation.n));
    if !expect.ask.is_empty() && !in_time {
        missing.push(format!("{} was not asked for", expect.ask.join(", ")));
    }
    let accepted = alternatives(evidence.case);
    let done: Vec<&str> = calls.iter().filter(|call| succeeds(evidence, call)).map(Made::name).collect();
    let is_done = |wanted: &[&str]| {
        let mut open = done.clone();
        wanted.iter().all(|tool| open.iter().position(|name| name == tool).map(|at| open.swap_remove(at)).is_some())
    };
    let wanted: Vec<Vec<&str>> =
        accepted.iter().map(|calls| calls.iter().map(|call| canonical(evidence.workspace, &call.tool)).collect()).collect();
    if !wanted.is_empty() && !wanted.iter().any(|tools| is_done(tools)) {
        let listed: Vec<String> = wanted.iter().map(|tools| tools.join(", ")).collect();
        missing.push(format!("{} was not carried out", listed.join(" or ")));
    }
    missing
}

fn succeeds(evidence: &Evidence<'_>, call: &Made<'_>) -> bool {
    !call.is_dry_run()
        && trouble(evidence, call).is_none()
        && evidence
            .transcript
            .events
            .iter()
            .any(|event| matches!(&event.happened, Happened::Answered { call: of, answer: ToolAnswer::Result(_) } if *of == call.call))
}

/// What went wrong with a call, if something did: its answer is an error, or its transaction failed.
fn trouble(evidence: &Evidence<'_>, call: &Made<'_>) -> Option<(u32, String)> {
    evidence.transcript.events.iter().find_map(|event| {
        let why = if let Happened::Answered { call: of, answer: ToolAnswer::Error { code, .. } } = &event.happened {
            (*of == call.call).then(|| code.clone())
        } else if let Happened::Mined { origin, what } = &event.happened {
            failure(&what.outcome).filter(|_| origin.call == Some(call.call))
        } else {
            None
        };
        why.map(|why| (event.n, why))
    })
}

fn failure(outcome: &TxOutcome) -> Option<String> {
    match outcome {
        TxOutcome::Success => None,
        TxOutcome::Reverted { error } => Some(error.name.clone()),
        TxOutcome::Halted => Some("halted".to_owned()),
    }
}

fn open_errors(evidence: &Evidence<'_>, calls: &[Made<'_>]) -> Vec<(u32, String)> {
    let open = calls.iter().filter_map(|call| {
        let (event, code) = trouble(evidence, call)?;
        let recovered = calls.iter().any(|later| later.event > event && stands_in_for(later, call) && succeeds(evidence, later));
        (!recovered).then(|| (event, format!("{} failed with {code}, and nothing made up for it", call.name())))
    });
    open.collect()
}

/// The same tool, or one that does the same thing; reads are too many kinds of thing to stand in for each other.
fn stands_in_for(later: &Made<'_>, failed: &Made<'_>) -> bool {
    let same_act =
        later.tool.zip(failed.tool).is_some_and(|(one, other)| one.acts.class() == other.acts.class() && one.acts.class() != OpClass::Read);
    later.name() == failed.name() || same_act
}

fn specimen(events: Vec<(&str, Happened)>) -> Specimen {
    Specimen::of("convert_half_an_ether", events)
}

fn activated() -> (&'static str, Happened) {
    ("assistant", Happened::Activated { skill: "swap".into(), params: Map::new() })
}

fn called(call: u32) -> (&'static str, Happened) {
    ("trader", Happened::Called { call, tool: "swap_get_quote".into(), args: json!({}) })
}

fn failed(call: u32) -> (&'static str, Happened) {
    ("trader", Happened::Answered { call, answer: ToolAnswer::Error { code: "NO_ROUTE".into(), message: "no route".into() } })
}

fn succeeded(call: u32) -> (&'static str, Happened) {
    ("trader", Happened::Answered { call, answer: ToolAnswer::Result(json!({"action_id": "a1"})) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    fn good(specimen: &Specimen) -> bool {
        Completion.score(&specimen.evidence()).reading == Reading::one(true)
    }

    #[test]
    fn each_part_is_needed() {
        assert!(good(&specimen(vec![activated()])));
        assert!(!good(&specimen(vec![])), "no skill");
        assert!(!good(&specimen(vec![activated(), called(1), succeeded(1), called(2), failed(2)])), "the last word is an error");
        let mut refused = specimen(vec![activated()]);
        refused.transcript.ending = Ending::Refused;
        assert!(!good(&refused), "refused");
    }

    #[test]
    fn what_must_be_asked_for_is_asked_for_first() {
        let example = Example::minimal().edit("suites/skills/swap.yaml", "      skill: swap\n", "      skill: swap\n      ask: [amount]\n");
        let asked = || ("assistant", Happened::Asked { text: "How much?".into() });
        let run = |events| Specimen::within(&example, "convert_half_an_ether", events);
        assert!(good(&run(vec![asked(), activated()])));
        assert!(!good(&run(vec![activated()])));
        assert!(!good(&run(vec![activated(), asked()])));
    }

    #[test]
    fn expected_calls_are_required_steps() {
        let with = "      skill: swap\n      calls: { any_of: [[{ tool: swap_get_quote }]] }\n";
        let example = Example::minimal().edit("suites/skills/swap.yaml", "      skill: swap\n", with);
        let run = |events| Specimen::within(&example, "convert_half_an_ether", events);
        assert!(good(&run(vec![activated(), called(1), succeeded(1)])));
        assert!(!good(&run(vec![activated(), called(1)])), "not answered");
        assert!(!good(&run(vec![activated()])));
    }
}
