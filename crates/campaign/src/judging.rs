//! Puts the questions of a trial to a judge and adds what it says to the transcript: asked once, read strictly, kept as evidence.

use futures::StreamExt;
use futures::stream;
use model::suite::Case;
use model::transcript::Grade;
use model::{Ending, Event, Happened, Transcript};
use run::judge::{Judge, JudgeFault, Query};
use run::ledger::{CallId, Role};
use run::providers::FaultKind;
use score::questions::{Answer, Calibration, Graded, Labelled, Misread, Offered, Question, calibrate, questions};

/// Asks every question about a trial that has ended. A case without a rubric has none.
pub async fn ask_judge(judge: &Judge, case: &Case, seed: u64, transcript: &mut Transcript) {
    for (n, question) in (0..).zip(questions(case, transcript)) {
        let call = CallId { trial: transcript.trial.clone(), role: Role::Judge, n };
        let happened = match judge.ask(&query(call, seed, &question)).await {
            Ok(text) => match Answer::read(&question, &text) {
                Ok(answer) => answer.into(),
                Err(misread) => Happened::Misjudged { question: question.id, why: misread.to_string() },
            },
            // The trial can be judged when there is money again; until then it is not finished.
            Err(fault) if is_unfunded(&fault) => {
                transcript.ending = Ending::Unfunded;
                return;
            }
            Err(fault) => Happened::Misjudged { question: question.id, why: fault.to_string() },
        };
        let last = transcript.events.last();
        let (n, at_ms) = last.map_or((1, 0), |event| (event.n + 1, event.at_ms));
        transcript.events.push(Event { n, at_ms, by: "judge".into(), depth: 0, happened });
    }
}

pub(crate) fn query(call: CallId, seed: u64, question: &Question) -> Query {
    Query { call, seed, prompt: question.prompt(), allowed: question.allowed.clone() }
}

fn is_unfunded(fault: &JudgeFault) -> bool {
    matches!(fault, JudgeFault::Provider(fault) if fault.kind == FaultKind::Unfunded)
}

/// Reason why a judge could not be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotCalibrated {
    /// Asking failed; a calibration on what is left would be of something else.
    Fault(JudgeFault),
    OneLabel,
}

/// Asks a judge about every example twice, with the verdicts offered in both orders.
pub async fn calibrate_judge(judge: &Judge, examples: &[Labelled], at_once: usize) -> Result<Calibration, NotCalibrated> {
    let asked = examples.iter().flat_map(|example| [(example, Offered::PassFirst), (example, Offered::FailFirst)]);
    let mut said = stream::iter(asked).map(|(example, offered)| grade(judge, example, offered)).buffered(at_once.max(1));
    let mut graded = vec![];
    for example in examples {
        let (Some(pass_first), Some(fail_first)) = (said.next().await, said.next().await) else { break };
        graded.push(Graded { example, pass_first: pass_first?, fail_first: fail_first? });
    }
    calibrate(&graded).ok_or(NotCalibrated::OneLabel)
}

async fn grade(judge: &Judge, example: &Labelled, offered: Offered) -> Result<Result<Grade, Misread>, NotCalibrated> {
    let question = example.question(offered);
    let call = CallId { trial: question.id.clone(), role: Role::Judge, n: 0 };
    match judge.ask(&query(call, 1, &question)).await {
        Ok(text) => Ok(Answer::read(&question, &text).map(|answer| answer.grade)),
        Err(fault @ JudgeFault::Provider(_)) => Err(NotCalibrated::Fault(fault)),
        Err(fault) => Ok(Err(Misread::NotOneVerdict(fault.to_string()))),
    }
}
