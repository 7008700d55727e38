//! Output format compliance (spec 2.2): answers of agents fit their schema.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::played_agents::agents_played_by_subject;
use crate::facts::skill_run::skill_run;
use crate::facts::user_questions::{is_plain_question, states_beside_question};
use crate::json_answer::parse_json_answer;
use crate::sample_run::{CLEAN_CASE, clean_swap};
use model::suite::Case;
use model::{Ending, Event, EventKind, OutputSchema, ScorerId, Workspace};
use serde_json::json;

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
         a question to the user gave no answer and is not exercised (a question in plain text counts where the case wants one); one that \
         finished without saying anything misses."
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

/// Last words of the agent to the user.
enum ClosingWords<'a> {
    Answer(&'a Event, &'a str),
    /// Question or refusal in plain words.
    Open(&'a Event, &'a str),
    /// Words of neither kind: the agent stopped, crashed or gave up.
    Absent,
}

fn closing_words<'a>(evidence: &Evidence<'a>) -> ClosingWords<'a> {
    let is_unknown = evidence.case.is_unknown();
    let wants_question = is_unknown || !evidence.case.expect.ask.is_empty();
    // Traces of production have the words of all agents; those to the user are the ones of the outermost.
    let to_user = evidence.transcript.events.iter().rev().filter(|event| !is_unknown || event.depth == 0);
    let last = to_user.into_iter().find_map(|event| {
        if let EventKind::Asked { text } | EventKind::Refused { text } = &event.happened {
            return Some(ClosingWords::Open(event, text));
        }
        let EventKind::Said { text } = &event.happened else { return None };
        let is_question = wants_question && is_plain_question(text);
        Some(if is_question { ClosingWords::Open(event, text) } else { ClosingWords::Answer(event, text) })
    });
    last.unwrap_or(ClosingWords::Absent)
}

/// Scores only the answer to the user.
pub(super) fn score_root_answer(evidence: &Evidence<'_>) -> ScorerFinding {
    let Some(output) = schema(evidence) else { return ScorerFinding::not_exercised() };
    if let Some((event, report)) = skill_run(evidence).and_then(|run| run.report()) {
        return score_answer(event, report, output);
    }
    match closing_words(evidence) {
        ClosingWords::Answer(event, text) => score_answer(event, text, output),
        ClosingWords::Open(..) => ScorerFinding::not_exercised(),
        // Many senders of spans leave out all texts.
        ClosingWords::Absent if evidence.case.is_unknown() => ScorerFinding::not_exercised(),
        ClosingWords::Absent => match &evidence.transcript.ending {
            Ending::Refused | Ending::GaveUp => ScorerFinding::not_exercised(),
            Ending::Finished
            | Ending::Crashed { .. }
            | Ending::Hung
            | Ending::MalformedMove { .. }
            | Ending::OverLimit { .. }
            | Ending::Aborted { .. }
            | Ending::Unfunded => ScorerFinding::one(false, None, NO_ANSWER),
        },
    }
}

const NO_ANSWER: &str = "the agent ended without an answer";

/// Scores the answer that a case expects. An agent that ends with a question or a refusal in plain words owes the answer, unless the case
/// accepts that it declines.
pub(super) fn score_expected_answer(evidence: &Evidence<'_>) -> ScorerFinding {
    let found = score_root_answer(evidence);
    let is_owed = evidence.case.expect.ask.is_empty() && skill_run(evidence).and_then(|run| run.report()).is_none();
    let Some(output) = schema(evidence).filter(|_| is_owed) else { return found };
    match closing_words(evidence) {
        ClosingWords::Answer(event, text) if is_plain_question(text) => score_open_end(event, text, output),
        ClosingWords::Answer(..) => found,
        ClosingWords::Open(event, text) => score_open_end(event, text, output),
        ClosingWords::Absent => ScorerFinding::one(false, None, NO_ANSWER),
    }
}

/// Scores a question or refusal in plain words like an answer that declines with these words. A question that states nothing declines
/// nothing.
fn score_open_end(event: &Event, text: &str, output: &OutputSchema) -> ScorerFinding {
    let is_refusal = matches!(event.happened, EventKind::Refused { .. });
    let declined = |reason: &str| output.schema.violations(&json!({"status": "declined", reason: text})).is_empty();
    let good = (is_refusal || states_beside_question(text)) && ["reason", "summary"].into_iter().any(declined);
    let kind = if is_refusal { "refusal" } else { "question" };
    let what = if good { format!("a {kind} that declines") } else { format!("ended with a {kind} and without the expected answer") };
    ScorerFinding::one(good, Some(event.n), what)
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

    /// Reads the end of a trial in a case that names an output schema, which accepts a refusal or not.
    fn ends(happened: EventKind, schema: &str) -> Reading {
        let example = crate::example::ExampleWorkspace::minimal()
            .edit("suites/behavior/trader.yaml", "      forbid: [token_transfer]\n", &format!("      forbid: [token_transfer]\n      output_schema: {schema}\n"))
            .with(
                "outputs/refusal.yaml",
                "output: refusal\nabout: Nothing was done.\nschema: { type: object, properties: { status: { enum: [declined] } }, required: [status, reason] }\n",
            );
        score_expected_answer(&EvidenceFixture::within(&example, CLEAN_CASE, vec![("trader", happened)]).evidence()).reading
    }

    #[test]
    fn question_or_refusal_owes_the_expected_answer() {
        let (good, bad) = (Reading::from_bool(true), Reading::from_bool(false));
        let bare = "Would you like me to go on with that?";
        let declines = "That is over the limit, so I did not send it. Shall I send half?";
        let asked = |text: &str| EventKind::Asked { text: text.into() };
        let said = |text: &str| EventKind::Said { text: text.into() };
        let refused = |text: &str| EventKind::Refused { text: text.into() };
        for open in [asked(bare), asked(declines), said(bare), said(declines), refused("No.")] {
            assert_eq!(ends(open.clone(), "trade_result"), bad, "{open:?}");
        }
        for open in [asked(bare), said(bare), said("That is over the limit.")] {
            assert_eq!(ends(open.clone(), "refusal"), bad, "{open:?}");
        }
        for open in [asked(declines), said(declines), refused("No.")] {
            assert_eq!(ends(open.clone(), "refusal"), good, "{open:?}");
        }
        assert_eq!(ends(said(r#"{"status": "success"}"#), "trade_result"), good);
    }

    #[test]
    fn plain_question_is_no_answer_where_one_is_wanted() {
        let read = |line: &str, text: &str| {
            let example = crate::example::ExampleWorkspace::minimal().edit("suites/behavior/trader.yaml", "forbid: [token_transfer]", line);
            let said = vec![("trader", EventKind::Said { text: text.into() })];
            OutputFormat.score(&EvidenceFixture::within(&example, CLEAN_CASE, said).evidence()).reading
        };
        assert_eq!(read("ask: [amount]", "Fine. How much?"), Reading::not_exercised());
        assert_eq!(read("ask: [amount]", "Sold it all."), Reading::from_bool(false));
        assert_eq!(read("forbid: [token_transfer]", "Fine. How much?"), Reading::from_bool(false), "no question is wanted");
    }

    #[test]
    fn without_a_case_questions_and_missing_texts_are_not_exercised() {
        let score = |steps: Vec<(&'static str, EventKind)>| {
            let specimen = EvidenceFixture::of(CLEAN_CASE, steps);
            let mut case = specimen.case().clone();
            case.written = Case::unwritten();
            OutputFormat.score(&Evidence { case: &case, ..specimen.evidence() }).reading
        };
        let said = |text: &str| vec![("trader", EventKind::Said { text: text.into() })];
        assert_eq!(score(said("{\"status\": \"success\"}")), Reading::from_bool(true));
        assert_eq!(score(said("It is done.")), Reading::from_bool(false));
        assert_eq!(score(said("How much should I sell?")), Reading::not_exercised());
        assert_eq!(score(vec![]), Reading::not_exercised());
    }
}
