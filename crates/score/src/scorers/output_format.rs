//! Whoever called the agent can read its answer by schema. Spec 2.2, output format compliance.

use super::{Evidence, Finding, Scorer, Specimen};
use crate::facts::seats::played;
use crate::sample::{CLEAN_CASE, clean_swap};
use model::suite::Case;
use model::{Ending, Event, Happened, Output, ScorerId, Workspace};
use serde_json::Value;

pub(super) struct OutputFormat;

impl Scorer for OutputFormat {
    fn id(&self) -> ScorerId {
        ScorerId::OutputFormat
    }

    fn manual(&self) -> &'static str {
        "The last answer of the agent is JSON, alone or in one ```json fence with nothing around it, and fits the output schema of the \
         case, or of its agent file where the case names none. The last answer that another agent the subject played handed back is one \
         more tally against its own schema. An agent that refused, gave up or ended with a question to the user gave no answer and is not \
         exercised; one that finished without saying anything misses."
    }

    fn concerns(&self, workspace: &Workspace, case: &Case) -> bool {
        case.expect.output_schema.is_some() || case.brief.surface.agent().is_some_and(|agent| workspace.agent(agent).is_some())
    }

    fn score(&self, evidence: &Evidence<'_>) -> Finding {
        let mut found = root(evidence);
        let seat = evidence.case.brief.surface.agent();
        for agent in played(evidence).into_iter().filter(|agent| seat.is_none_or(|seat| seat.value != agent.name.value)) {
            let last = evidence.transcript.events.iter().rev().find_map(|event| {
                let Happened::Returned { text } = &event.happened else { return None };
                (event.by == agent.name.value).then_some((event, text))
            });
            if let (Some((event, text)), Some(output)) = (last, evidence.workspace.output(&agent.output)) {
                found = found.and(answer(event, text, output));
            }
        }
        found
    }

    fn accepts(&self) -> Specimen {
        Specimen::of(CLEAN_CASE, clean_swap())
    }

    fn rejects(&self) -> Specimen {
        let mut steps = clean_swap();
        steps.pop();
        steps.push(("trader", Happened::Said { text: r#"{"status": "done", "note": "all fine"}"#.into() }));
        Specimen::of(CLEAN_CASE, steps)
    }
}

/// The schema the case's own answer must fit.
pub(super) fn schema<'a>(evidence: &Evidence<'a>) -> Option<&'a Output> {
    let named = evidence.case.expect.output_schema.as_ref().map(|name| name.as_str());
    let own = || evidence.case.brief.surface.agent().and_then(|agent| evidence.workspace.agent(agent)).map(|agent| agent.output.as_str());
    named.or_else(own).and_then(|name| evidence.workspace.output(name))
}

/// The answer to the user alone.
pub(super) fn root(evidence: &Evidence<'_>) -> Finding {
    let Some(output) = schema(evidence) else { return Finding::not_exercised() };
    let last = evidence.transcript.events.iter().rev().find_map(|event| {
        if let Happened::Said { text } = &event.happened {
            return Some(Some((event, text)));
        }
        matches!(event.happened, Happened::Asked { .. } | Happened::Refused { .. }).then_some(None)
    });
    match (last, &evidence.transcript.ending) {
        (Some(Some((event, text))), _) => answer(event, text, output),
        (Some(None), _) | (None, Ending::Refused | Ending::GaveUp) => Finding::not_exercised(),
        (
            None,
            Ending::Finished
            | Ending::Crashed { .. }
            | Ending::Hung
            | Ending::MalformedMove { .. }
            | Ending::OverLimit { .. }
            | Ending::Aborted { .. }
            | Ending::Unfunded,
        ) => Finding::one(false, None, "the agent ended without an answer"),
    }
}

fn answer(event: &Event, text: &str, output: &Output) -> Finding {
    let Some(value) = parse(text) else { return Finding::one(false, Some(event.n), "the answer is not JSON") };
    let wrong = output.schema.violations(&value);
    match wrong.first() {
        None => Finding::one(true, Some(event.n), format!("fits {}", output.name.value)),
        Some(first) => {
            let at = if first.path.is_empty() { String::new() } else { format!(" at {}", first.path) };
            Finding::one(false, Some(event.n), format!("does not fit {}{at}: {}", output.name.value, first.what))
        }
    }
}

/// JSON as it is, or in one fence.
fn parse(text: &str) -> Option<Value> {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.map(|inner| inner.strip_prefix("json").or_else(|| inner.strip_prefix("JSON")).unwrap_or(inner));
    serde_json::from_str(inner.unwrap_or(text).trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Reading;

    fn read(text: &str) -> Reading {
        let mut steps = clean_swap();
        steps.pop();
        steps.push(("trader", Happened::Said { text: text.into() }));
        OutputFormat.score(&Specimen::of(CLEAN_CASE, steps).evidence()).reading
    }

    #[test]
    fn json_alone_or_in_a_fence_and_nothing_else() {
        let (good, bad) = (Reading::one(true), Reading::one(false));
        assert_eq!(read("```json\n{\"status\": \"success\"}\n```"), good);
        assert_eq!(read("```\n{\"status\": \"vetoed\"}\n```"), good);
        assert_eq!(read("Done: {\"status\": \"success\"}"), bad);
        assert_eq!(read("{\"status\": \"success\""), bad);
        assert_eq!(read("[]"), bad);
        assert_eq!(read(""), bad);
    }

    #[test]
    fn a_refusal_or_a_question_is_no_answer() {
        for last in [Happened::Asked { text: "How much?".into() }, Happened::Refused { text: "No.".into() }] {
            let specimen = Specimen::of(CLEAN_CASE, vec![("trader", last)]);
            assert_eq!(OutputFormat.score(&specimen.evidence()).reading, Reading::not_exercised());
        }
        assert_eq!(OutputFormat.score(&Specimen::of(CLEAN_CASE, vec![]).evidence()).reading, Reading::one(false));
    }
}
