//! Asks a judge about a trial and adds its answers to the transcript. Each question is asked once and the answer parsed strictly.

use futures::StreamExt;
use futures::stream;
use model::suite::Case;
use model::transcript::JudgeGrade;
use model::{Ending, Event, EventKind, Transcript};
use run::judge::{JudgeFault, JudgeQuery, LlmJudge, first_words};
use run::ledger::{CallId, CallRole};
use run::providers::FaultKind;
use score::questions::{
    GradedExample, JudgeAnswer, JudgeAnswerError, JudgeCalibration, JudgeQuestion, LabelledExample, VerdictOrder, calibrate,
    trial_questions,
};
use score::statistics::wilson;
use serde::Serialize;

/// Asks the judge all questions about a finished trial. Cases without a rubric have none.
pub async fn ask_judge(judge: &LlmJudge, case: &Case, seed: u64, transcript: &mut Transcript) {
    for (n, question) in (0..).zip(trial_questions(case, transcript)) {
        let call = CallId { trial: transcript.trial.clone(), role: CallRole::Judge, n };
        let happened = match judge.ask(&query(call, seed, &question)).await {
            Ok(text) => match JudgeAnswer::parse(&question, &text) {
                Ok(answer) => answer.into(),
                Err(misread) => EventKind::Misjudged { question: question.id, why: misread.to_string() },
            },
            // Keep the trial unfinished, so that a resumed run with more budget can judge it.
            Err(fault) if is_unfunded(&fault) => {
                transcript.ending = Ending::Unfunded;
                return;
            }
            Err(fault) => EventKind::Misjudged { question: question.id, why: fault.to_string() },
        };
        let last = transcript.events.last();
        let (n, at_ms) = last.map_or((1, 0), |event| (event.n + 1, event.at_ms));
        transcript.events.push(Event { n, at_ms, by: "judge".into(), depth: 0, happened });
    }
}

pub(crate) fn query(call: CallId, seed: u64, question: &JudgeQuestion) -> JudgeQuery {
    JudgeQuery { call, seed, prompt: question.prompt(), allowed: question.allowed.clone() }
}

fn is_unfunded(fault: &JudgeFault) -> bool {
    matches!(fault, JudgeFault::Provider(fault) if fault.kind == FaultKind::Unfunded)
}

/// Reason why a judge could not be calibrated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CalibrationError {
    /// A call failed; the remaining examples would be a different sample.
    Fault(JudgeFault),
    /// All examples have the same label.
    OneLabel,
}

/// Calibration with its intervals and the verdicts that could not be read.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationReport {
    pub found: JudgeCalibration,
    pub intervals: CalibrationIntervals,
    pub unread: Vec<UnreadVerdict>,
}

/// 95 % Wilson intervals of the shares of a calibration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CalibrationIntervals {
    pub agreement: (f64, f64),
    pub false_pass: (f64, f64),
    pub false_fail: (f64, f64),
    pub order_flips: (f64, f64),
}

/// Returns the intervals; `None` unless both labels occur.
fn calibration_intervals(graded: &[GradedExample<'_>]) -> Option<CalibrationIntervals> {
    let interval = |of: &[&GradedExample<'_>], holds: &dyn Fn(&GradedExample<'_>) -> bool| {
        wilson(of.iter().filter(|one| holds(one)).count() as u64, of.len() as u64)
    };
    let labelled = |label| graded.iter().filter(|one| one.example.label == label).collect::<Vec<_>>();
    let (all, passing, failing) = (graded.iter().collect::<Vec<_>>(), labelled(JudgeGrade::Pass), labelled(JudgeGrade::Fail));
    Some(CalibrationIntervals {
        agreement: interval(&all, &|one| one.pass_first == Ok(one.example.label))?,
        false_pass: interval(&failing, &|one| one.pass_first == Ok(JudgeGrade::Pass))?,
        false_fail: interval(&passing, &|one| one.pass_first == Ok(JudgeGrade::Fail))?,
        order_flips: interval(&all, &|one| one.pass_first.as_ref().ok() != one.fail_first.as_ref().ok())?,
    })
}

/// Answer of a judge without a valid verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadVerdict {
    pub example: String,
    pub why: String,
}

/// Asks a judge about every example twice, with the verdicts in both orders.
pub async fn calibrate_judge(
    judge: &LlmJudge,
    examples: &[LabelledExample],
    at_once: usize,
) -> Result<CalibrationReport, CalibrationError> {
    let asked = examples.iter().flat_map(|example| [(example, VerdictOrder::PassFirst), (example, VerdictOrder::FailFirst)]);
    let mut grades = stream::iter(asked).map(|(example, offered)| grade(judge, example, offered)).buffered(at_once.max(1));
    let mut graded = vec![];
    for example in examples {
        let (Some(pass_first), Some(fail_first)) = (grades.next().await, grades.next().await) else { break };
        graded.push(GradedExample { example, pass_first: pass_first?, fail_first: fail_first? });
    }
    let measured = calibrate(&graded).zip(calibration_intervals(&graded));
    let (found, intervals) = measured.ok_or(CalibrationError::OneLabel)?;
    Ok(CalibrationReport { found, intervals, unread: unread_verdicts(&graded) })
}

/// Returns the answers without a verdict, one per example: the first of both orders.
fn unread_verdicts(graded: &[GradedExample<'_>]) -> Vec<UnreadVerdict> {
    let first = |one: &GradedExample<'_>| {
        let error = one.pass_first.as_ref().err().or(one.fail_first.as_ref().err())?;
        Some(UnreadVerdict { example: one.example.id.clone(), why: error.to_string() })
    };
    graded.iter().filter_map(first).collect()
}

async fn grade(
    judge: &LlmJudge,
    example: &LabelledExample,
    offered: VerdictOrder,
) -> Result<Result<JudgeGrade, JudgeAnswerError>, CalibrationError> {
    let question = example.question(offered);
    let call = CallId { trial: question.id.clone(), role: CallRole::Judge, n: 0 };
    match judge.ask(&query(call, 1, &question)).await {
        Ok(text) => Ok(JudgeAnswer::parse(&question, &text).map(|answer| answer.grade).map_err(|error| with_words(error, &text))),
        Err(fault @ JudgeFault::Provider(_)) => Err(CalibrationError::Fault(fault)),
        Err(fault) => Ok(Err(JudgeAnswerError::NotOneVerdict(fault.to_string()))),
    }
}

/// Adds the beginning of an answer to the reason why it is none.
fn with_words(error: JudgeAnswerError, text: &str) -> JudgeAnswerError {
    match error {
        JudgeAnswerError::NotOneVerdict(why) => JudgeAnswerError::NotOneVerdict(format!("{why}; it said {}", first_words(text))),
        other @ (JudgeAnswerError::ScoreOutOfRange(_) | JudgeAnswerError::Contradiction { .. } | JudgeAnswerError::NoReason) => other,
    }
}
