//! Asks the scorers of the workspace, and the JavaScript of the case, about a trial and adds their answers to the transcript. Each question
//! is asked once.

use model::suite::Case;
use model::{Event, EventKind, ExternalScorer, Reading, RunClaim, Transcript, Workspace};
use run::external::{ScorerCall, ScorerHost, ScriptReply};
use score::assertions::ScriptAnswer;
use score::questions::{SCRIPT_SCORER, ScorerAnswer, scorer_question, script_question, script_reading};
use std::time::Duration;

/// Asks every scorer that applies to the case. A scorer that fails, hangs or answers with something else than one reading is unscorable.
pub(crate) async fn ask_scorers(host: &ScorerHost, workspace: &Workspace, case: &Case, claim: &RunClaim, transcript: &mut Transcript) {
    let trusted = (claim.trust_claims && transcript.has_claims()).then(|| transcript.with_claims_trusted());
    for scorer in workspace.scorers.iter().filter(|scorer| scorer.applies_to(case)) {
        let Some(question) = scorer_question(scorer, case, trusted.as_ref().unwrap_or(&*transcript)) else { continue };
        let ScorerAnswer { reading, because } = answer(host, scorer, &question.input).await.unwrap_or_else(|why| {
            let why = format!("the scorer {why}");
            ScorerAnswer { reading: Reading::Unscorable { why: why.clone() }, because: vec![why] }
        });
        let happened = EventKind::Scored { scorer: scorer.id.value.clone(), question: question.id, reading, because };
        append_event(&mut transcript.events, "scorer", happened);
    }
    ask_scripts(host, case, trusted.as_ref(), transcript).await;
}

/// Asks the JavaScript of the case's assertions.
async fn ask_scripts(host: &ScorerHost, case: &Case, trusted: Option<&Transcript>, transcript: &mut Transcript) {
    for assertion in &case.expect.assertions {
        let Some(question) = script_question(case, assertion, trusted.unwrap_or(&*transcript)) else { continue };
        let (reading, why) = match host.run_script(&question.body, &question.output, &question.context).await {
            Ok(reply) => script_reading(assertion, &script_answer(reply)),
            Err(fault) => {
                let why = format!("the script {fault}");
                (Reading::Unscorable { why: why.clone() }, why)
            }
        };
        let happened = EventKind::Scored { scorer: SCRIPT_SCORER.to_owned(), question: question.id, reading, because: vec![why] };
        append_event(&mut transcript.events, "scorer", happened);
    }
}

fn script_answer(reply: ScriptReply) -> ScriptAnswer {
    match reply {
        ScriptReply::Returned { kind, value } => ScriptAnswer::from_returned(&kind, value),
        ScriptReply::Threw(why) => ScriptAnswer::Threw(why),
        ScriptReply::Stopped(why) => ScriptAnswer::Stopped(why),
        ScriptReply::Rendered(_) => ScriptAnswer::Other("a template".to_owned()),
    }
}

async fn answer(host: &ScorerHost, scorer: &ExternalScorer, input: &str) -> Result<ScorerAnswer, String> {
    let call = ScorerCall { command: &scorer.command, input, timeout: Duration::from_secs(scorer.timeout_s) };
    let output = host.ask(call).await.map_err(|fault| fault.to_string())?;
    ScorerAnswer::parse(scorer, &output)
}

/// Adds an event after the last one.
pub(crate) fn append_event(events: &mut Vec<Event>, by: &str, happened: EventKind) {
    let (n, at_ms) = events.last().map_or((1, 0), |event| (event.n + 1, event.at_ms));
    events.push(Event { n, at_ms, by: by.to_owned(), depth: 0, happened });
}
