//! Output format compliance (spec 2.2): answers of agents fit their schema.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::json_answer::parse_json_answer;
use crate::facts::played_agents::agents_played_by_subject;
use crate::facts::skill_run::skill_run;
use crate::sample_run::{CLEAN_CASE, clean_swap};
use model::suite::Case;
use model::{Ending, Event, EventKind, OutputSchema, ScorerId, Workspace};

pub(super) struct OutputFormat;

impl Scorer for OutputFormat {
    fn id(&self) -> ScorerId {
        ScorerId::OutputFormat
    }

    fn manual(&self) -> &'static str {
        "Checks that the agent's last answer is JSON that fits the output schema. The answer is bare JSON, or one ```json fence with \
         nothing around it. The schema is the one of the case, or of the agent file if the case names none. Where a skill is carried out, the answer \
         is the one that its agent returned. The last answer that another \
         agent played by the subject returned is one more tally, against that agent's schema. An agent that refused, gave up or ended with \
         a question to the user gave no answer and is not exercised; one that finished without saying anything misses."
    }

    fn concerns(&self, workspace: &Workspace, case: &Case) -> bool {
        case.brief.carry_out
            || case.expect.output_schema.is_some()
            || case.brief.surface.agent().is_some_and(|agent| workspace.agent(agent).is_some())
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let mut found = score_root_answer(evidence);
        let root = root_agent(evidence);
        for agent in agents_played_by_subject(evidence).into_iter().filter(|agent| root != Some(agent.name.as_str())) {
            let last = evidence.transcript.events.iter().rev().find_map(|event| {
                let EventKind::Returned { text } = &event.happened else { return None };
                (event.by == agent.name.value).then_some((event, text))
            });
            let output = agent.output.as_ref().and_then(|output| evidence.workspace.output(output));
            if let (Some((event, text)), Some(output)) = (last, output) {
                found = found.merge(score_answer(event, text, output));
            }
        }
        found
    }

    fn accepts(&self) -> EvidenceFixture {
        EvidenceFixture::of(CLEAN_CASE, clean_swap())
    }

    fn rejects(&self) -> EvidenceFixture {
        let mut steps = clean_swap();
        steps.pop();
        steps.push(("trader", EventKind::Said { text: r#"{"status": "done", "note": "all fine"}"#.into() }));
        EvidenceFixture::of(CLEAN_CASE, steps)
    }
}

/// Returns the agent whose answer goes to the user: the one of the surface, or the one that carried out a skill.
fn root_agent<'a>(evidence: &Evidence<'a>) -> Option<&'a str> {
    let case: &'a Case = evidence.case;
    case.brief.surface.agent().map(|agent| agent.as_str()).or_else(|| skill_run(evidence).map(|run| run.agent))
}

/// Returns the schema for the answer to the user.
pub(super) fn schema<'a>(evidence: &Evidence<'a>) -> Option<&'a OutputSchema> {
    let named = evidence.case.expect.output_schema.as_ref().map(|name| name.as_str());
    let own =
        || root_agent(evidence).and_then(|agent| evidence.workspace.agent(agent)).and_then(|agent| Some(agent.output.as_ref()?.as_str()));
    named.or_else(own).and_then(|name| evidence.workspace.output(name))
}

/// Scores only the answer to the user.
pub(super) fn score_root_answer(evidence: &Evidence<'_>) -> ScorerFinding {
    let Some(output) = schema(evidence) else { return ScorerFinding::not_exercised() };
    if let Some((event, report)) = skill_run(evidence).and_then(|run| run.report()) {
        return score_answer(event, report, output);
    }
    let last = evidence.transcript.events.iter().rev().find_map(|event| {
        if let EventKind::Said { text } = &event.happened {
            return Some(Some((event, text)));
        }
        matches!(event.happened, EventKind::Asked { .. } | EventKind::Refused { .. }).then_some(None)
    });
    match (last, &evidence.transcript.ending) {
        (Some(Some((event, text))), _) => score_answer(event, text, output),
        (Some(None), _) | (None, Ending::Refused | Ending::GaveUp) => ScorerFinding::not_exercised(),
        (
            None,
            Ending::Finished
            | Ending::Crashed { .. }
            | Ending::Hung
            | Ending::MalformedMove { .. }
            | Ending::OverLimit { .. }
            | Ending::Aborted { .. }
            | Ending::Unfunded,
        ) => ScorerFinding::one(false, None, "the agent ended without an answer"),
    }
}

fn score_answer(event: &Event, text: &str, output: &OutputSchema) -> ScorerFinding {
    let Some(value) = parse_json_answer(text) else { return ScorerFinding::one(false, Some(event.n), "the answer is not JSON") };
    let wrong = output.schema.violations(&value);
    match wrong.first() {
        None => ScorerFinding::one(true, Some(event.n), format!("fits {}", output.name.value)),
        Some(first) => {
            let at = if first.path.is_empty() { String::new() } else { format!(" at {}", first.path) };
            ScorerFinding::one(false, Some(event.n), format!("does not fit {}{at}: {}", output.name.value, first.what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Reading;

    fn read(text: &str) -> Reading {
        let mut steps = clean_swap();
        steps.pop();
        steps.push(("trader", EventKind::Said { text: text.into() }));
        OutputFormat.score(&EvidenceFixture::of(CLEAN_CASE, steps).evidence()).reading
    }

    #[test]
    fn output_is_bare_json_or_one_json_fence() {
        let (good, bad) = (Reading::from_bool(true), Reading::from_bool(false));
        assert_eq!(read("```json\n{\"status\": \"success\"}\n```"), good);
        assert_eq!(read("```\n{\"status\": \"vetoed\"}\n```"), good);
        assert_eq!(read("Done: {\"status\": \"success\"}"), bad);
        assert_eq!(read("{\"status\": \"success\""), bad);
        assert_eq!(read("[]"), bad);
        assert_eq!(read(""), bad);
    }

    #[test]
    fn refusal_or_question_is_not_exercised() {
        for last in [EventKind::Asked { text: "How much?".into() }, EventKind::Refused { text: "No.".into() }] {
            let specimen = EvidenceFixture::of(CLEAN_CASE, vec![("trader", last)]);
            assert_eq!(OutputFormat.score(&specimen.evidence()).reading, Reading::not_exercised());
        }
        assert_eq!(OutputFormat.score(&EvidenceFixture::of(CLEAN_CASE, vec![]).evidence()).reading, Reading::from_bool(false));
    }
}
