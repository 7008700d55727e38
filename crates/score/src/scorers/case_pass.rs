//! Pass rate (spec 6.2): a case passes if all its expectations are met.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding, output_format, scorer, tool_ordering};
use crate::facts::asked_slots::asked_at;
use crate::facts::calls::{alternatives, scored_calls};
use crate::rules::AgentActs;
use crate::sample_run::{CLEAN_CASE, clean_swap};
use model::suite::{Case, SuiteKind};
use model::{Reading, ScoreReason, ScorerId, Workspace};

pub(super) struct CasePass;

/// Scorers of the parts of an expectation. Those that do not concern the case are skipped.
const PART_SCORERS: &[ScorerId] = &[
    ScorerId::Hit,
    ScorerId::NoTool,
    ScorerId::ArgumentMatch,
    ScorerId::Forbid,
    ScorerId::Post,
    ScorerId::IntentParsing,
    ScorerId::ParameterExtraction,
    ScorerId::Coherence,
    ScorerId::ContextPreservation,
];

impl Scorer for CasePass {
    fn id(&self) -> ScorerId {
        ScorerId::CasePass
    }

    fn manual(&self) -> &'static str {
        "Checks that a trial meets every expectation of its case. One tally per trial, a hit if every part of the expectation holds: calls \
         and their arguments, forbidden tools, rules, state predicates, output schema, skill and parameters, the required question, values \
         to carry over, and no unauthorised effect. The rubric is not part of it: judged has it. A part that was not exercised does not \
         count against the trial. A trial without an exercised part is not exercised, nor is a case that has only a rubric. A \
         case whose parts cannot be scored, or that expects nothing, is unscorable and never passes."
    }

    fn concerns(&self, _: &Workspace, _: &Case) -> bool {
        true
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let mut parts: Vec<(&str, ScorerFinding)> = vec![];
        for id in PART_SCORERS {
            if let Some(scorer) = scorer(*id).filter(|scorer| scorer.concerns(evidence.workspace, evidence.case)) {
                parts.push((id.word(), scorer.score(evidence)));
            }
        }
        // Unauthorised effects fail every case; authorised ones alone do not pass it.
        let effects = scorer(ScorerId::AuthorizedEffects).map(|scorer| scorer.score(evidence));
        parts.extend(effects.filter(|found| found.reading.is_violation()).map(|found| (ScorerId::AuthorizedEffects.word(), found)));
        parts.extend(expected_calls_finding(evidence).map(|found| ("calls", found)));
        if !evidence.case.expect.rules.is_empty() {
            let acts = AgentActs::of(evidence.workspace, &evidence.transcript.events);
            parts.push(("rules", tool_ordering::score_rules(&evidence.case.expect.rules, &acts)));
        }
        if evidence.case.expect.output_schema.is_some() {
            parts.push(("output_schema", output_format::score_root_answer(evidence)));
        }
        if !evidence.case.expect.ask.is_empty() {
            parts.push(("ask", question_finding(evidence)));
        }
        if parts.is_empty() && evidence.case.expect.rubric.is_some() {
            return ScorerFinding::not_exercised();
        }
        conclude(&parts)
    }

    fn accepts(&self) -> EvidenceFixture {
        EvidenceFixture::of(CLEAN_CASE, clean_swap())
    }

    fn rejects(&self) -> EvidenceFixture {
        let mut steps = clean_swap();
        steps.drain(6..9);
        EvidenceFixture::of(CLEAN_CASE, steps)
    }
}

fn conclude(parts: &[(&str, ScorerFinding)]) -> ScorerFinding {
    if parts.is_empty() {
        return unscorable("the case has no measured expectation".into());
    }
    let missed: Vec<ScoreReason> = parts
        .iter()
        .flat_map(|(part, found)| {
            found.misses().into_iter().map(move |why| ScoreReason { event: why.event, what: format!("{part}: {}", why.what) })
        })
        .collect();
    if !missed.is_empty() || parts.iter().any(|(_, found)| found.reading.is_violation()) {
        return ScorerFinding { reading: Reading::from_bool(false), because: missed };
    }
    for (part, found) in parts {
        if let Reading::Unscorable { why } = &found.reading {
            return unscorable(format!("{part}: {why}"));
        }
    }
    let held: Vec<&str> = parts.iter().filter(|(_, found)| found.reading.is_exercised()).map(|(part, _)| *part).collect();
    if held.is_empty() { ScorerFinding::not_exercised() } else { ScorerFinding::one(true, None, format!("holds: {}", held.join(", "))) }
}

fn unscorable(why: String) -> ScorerFinding {
    ScorerFinding { reading: Reading::Unscorable { why }, because: vec![] }
}

/// Checks that the expected calls were made. Outside of tool selection extra calls are allowed; tool selection is scored by `hit`.
fn expected_calls_finding(evidence: &Evidence<'_>) -> Option<ScorerFinding> {
    let wanted = alternatives(evidence.case);
    if wanted.is_empty() || evidence.case.kind == SuiteKind::ToolSelection {
        return None;
    }
    let made = scored_calls(evidence);
    let missing = |calls: &Vec<model::suite::ExpectedCall>| {
        let mut left: Vec<&str> = made.iter().map(|call| call.name()).collect();
        calls.iter().find_map(|call| {
            let name = evidence.workspace.tool(&call.tool).map_or(call.tool.as_str(), |tool| tool.name.as_str());
            match left.iter().position(|made| *made == name) {
                Some(at) => {
                    left.swap_remove(at);
                    None
                }
                None => Some(name.to_owned()),
            }
        })
    };
    let faults: Vec<Option<String>> = wanted.iter().map(missing).collect();
    if faults.iter().any(Option::is_none) {
        return Some(ScorerFinding::one(true, None, "the expected calls were made"));
    }
    let names: Vec<String> = faults.into_iter().flatten().collect();
    Some(ScorerFinding::one(false, None, format!("{} was not called", names.join(" or "))))
}

fn question_finding(evidence: &Evidence<'_>) -> ScorerFinding {
    let wanted = &evidence.case.expect.ask;
    let missing: Vec<&str> = wanted.iter().filter(|slot| asked_at(evidence, slot).is_none()).map(String::as_str).collect();
    if !missing.is_empty() {
        return ScorerFinding::one(false, None, format!("never asked for {}", missing.join(", ")));
    }
    ScorerFinding::one(true, wanted.iter().find_map(|slot| asked_at(evidence, slot)), format!("asked for {}", wanted.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_pass_fails_when_any_part_fails() {
        let read = |steps| CasePass.score(&EvidenceFixture::of(CLEAN_CASE, steps).evidence());
        assert_eq!(read(clean_swap()).reading, Reading::from_bool(true));
        let found = read(vec![]);
        assert_eq!(found.reading, Reading::from_bool(false), "no act");
        assert!(found.because.iter().any(|why| why.what.contains("swap_execute was not called")), "{found:?}");
    }

    #[test]
    fn case_without_measured_expectation_is_unscorable() {
        let specimen = CasePass.accepts();
        let mut case = specimen.case().clone();
        case.expect = model::suite::CaseExpectations::default();
        let evidence = Evidence { case: &case, ..specimen.evidence() };
        assert!(matches!(CasePass.score(&evidence).reading, Reading::Unscorable { .. }));
    }
}
