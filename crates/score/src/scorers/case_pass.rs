//! A case passes when everything it expects is seen. Spec 6.2, pass rate.

use super::judged::is_unjudged;
use super::{Evidence, Finding, Scorer, Specimen, output_format, scorer, tool_ordering};
use crate::facts::calls::{alternatives, relevant};
use crate::rules::Acts;
use crate::sample::{CLEAN_CASE, clean_swap};
use model::suite::{Case, SuiteKind};
use model::{Because, Happened, Reading, ScorerId, Workspace};

pub(super) struct CasePass;

/// Scorers that read one part of an expectation each. Those that do not exist yet, or are not concerned, say nothing.
const PARTS: &[ScorerId] = &[
    ScorerId::Hit,
    ScorerId::NoTool,
    ScorerId::ArgumentMatch,
    ScorerId::Forbid,
    ScorerId::Post,
    ScorerId::IntentParsing,
    ScorerId::ParameterExtraction,
    ScorerId::Coherence,
    ScorerId::ContextPreservation,
    ScorerId::Judged,
];

impl Scorer for CasePass {
    fn id(&self) -> ScorerId {
        ScorerId::CasePass
    }

    fn manual(&self) -> &'static str {
        "One tally for each trial, good when every part of the case's expectation holds: its calls and their arguments, what it forbids, \
         its rules, its state predicates, its output schema, its skill and parameters, the question it wants asked, what must be carried \
         over. A part whose occasion never came does not count against it. A trial in which no part could be read is not exercised, nor is \
         one in which all held but nobody judged the rubric; a \
         case whose parts cannot be scored, or that expects nothing, is unscorable and never passes."
    }

    fn concerns(&self, _: &Workspace, _: &Case) -> bool {
        true
    }

    fn score(&self, evidence: &Evidence<'_>) -> Finding {
        let mut parts: Vec<(&str, Finding)> = vec![];
        for id in PARTS {
            if let Some(scorer) = scorer(*id).filter(|scorer| scorer.concerns(evidence.workspace, evidence.case)) {
                parts.push((id.word(), scorer.score(evidence)));
            }
        }
        parts.extend(calls_seen(evidence).map(|found| ("calls", found)));
        if !evidence.case.expect.rules.is_empty() {
            let acts = Acts::of(evidence.workspace, &evidence.transcript.events);
            parts.push(("rules", tool_ordering::rules(&evidence.case.expect.rules, &acts)));
        }
        if evidence.case.expect.output_schema.is_some() {
            parts.push(("output_schema", output_format::root(evidence)));
        }
        if !evidence.case.expect.ask.is_empty() {
            parts.push(("ask", asked(evidence)));
        }
        let found = conclude(&parts);
        if found.reading.is_clean() && is_unjudged(evidence) {
            let what = "its rubric was not judged, so it has neither passed nor failed".to_owned();
            return Finding { reading: Reading::not_exercised(), because: vec![Because { event: None, what }] };
        }
        found
    }

    fn accepts(&self) -> Specimen {
        Specimen::of(CLEAN_CASE, clean_swap())
    }

    fn rejects(&self) -> Specimen {
        let mut steps = clean_swap();
        steps.drain(6..9);
        Specimen::of(CLEAN_CASE, steps)
    }
}

fn conclude(parts: &[(&str, Finding)]) -> Finding {
    if parts.is_empty() {
        return unscorable("the case expects nothing that is measured".into());
    }
    let missed: Vec<Because> = parts
        .iter()
        .flat_map(|(part, found)| {
            found.misses().into_iter().map(move |why| Because { event: why.event, what: format!("{part}: {}", why.what) })
        })
        .collect();
    if !missed.is_empty() || parts.iter().any(|(_, found)| found.reading.is_violation()) {
        return Finding { reading: Reading::one(false), because: missed };
    }
    for (part, found) in parts {
        if let Reading::Unscorable { why } = &found.reading {
            return unscorable(format!("{part}: {why}"));
        }
    }
    let held: Vec<&str> = parts.iter().filter(|(_, found)| found.reading.is_exercised()).map(|(part, _)| *part).collect();
    if held.is_empty() { Finding::not_exercised() } else { Finding::one(true, None, format!("holds: {}", held.join(", "))) }
}

fn unscorable(why: String) -> Finding {
    Finding { reading: Reading::Unscorable { why }, because: vec![] }
}

/// Outside of tool selection more calls than the expected ones are welcome, but those must be there.
fn calls_seen(evidence: &Evidence<'_>) -> Option<Finding> {
    let wanted = alternatives(evidence.case);
    if wanted.is_empty() || evidence.case.kind == SuiteKind::ToolSelection {
        return None;
    }
    let made = relevant(evidence);
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
        return Some(Finding::one(true, None, "the expected calls were made"));
    }
    let names: Vec<String> = faults.into_iter().flatten().collect();
    Some(Finding::one(false, None, format!("{} was not called", names.join(" or "))))
}

fn asked(evidence: &Evidence<'_>) -> Finding {
    let question = evidence.transcript.events.iter().find(|event| matches!(event.happened, Happened::Asked { .. }));
    let wanted = evidence.case.expect.ask.join(", ");
    match question {
        Some(event) => Finding::one(true, Some(event.n), format!("asked, as for {wanted}")),
        None => Finding::one(false, None, format!("never asked for {wanted}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_can_fail_the_case() {
        let read = |steps| CasePass.score(&Specimen::of(CLEAN_CASE, steps).evidence());
        assert_eq!(read(clean_swap()).reading, Reading::one(true));
        let found = read(vec![]);
        assert_eq!(found.reading, Reading::one(false), "nothing done");
        assert!(found.because.iter().any(|why| why.what.contains("swap_execute was not called")), "{found:?}");
    }

    #[test]
    fn a_case_that_expects_nothing_measured_is_unscorable() {
        let specimen = CasePass.accepts();
        let mut case = specimen.case().clone();
        case.expect = model::suite::Expect::default();
        let evidence = Evidence { case: &case, ..specimen.evidence() };
        assert!(matches!(CasePass.score(&evidence).reading, Reading::Unscorable { .. }));
    }
}
