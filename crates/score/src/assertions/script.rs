//! `javascript`: a function of the output, run before scoring in a process of its own. Its answer is evidence, so that scoring stays pure.

use super::{AssertionFinding, AssertionInput, AssertionMode, MissingEvidence};
use model::suite::CaseAssertion;
use serde_json::{Map, Value};

/// Answer of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptAnswer {
    Bool(bool),
    Number(f64),
    Grade(ScriptGrade),
    /// Value that is no verdict, such as a text.
    Other(String),
    /// Exception of the script.
    Threw(String),
    /// The script was ended: time, memory, stack.
    Stopped(String),
}

/// Object with `pass`, `score` and `reason`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScriptGrade {
    pub pass: bool,
    pub score: f64,
    pub reason: String,
    /// Other fields: `namedScores`, `componentResults`.
    pub rest: Map<String, Value>,
}

impl ScriptAnswer {
    pub(super) fn describe(&self) -> String {
        match self {
            ScriptAnswer::Bool(value) => format!("returned {value}"),
            ScriptAnswer::Number(value) => format!("returned {value}"),
            ScriptAnswer::Grade(grade) => format!("returned {}", grade.pass),
            ScriptAnswer::Other(what) => format!("returned {what}, which is not a boolean, a number or {{ pass, score, reason }}"),
            ScriptAnswer::Threw(why) => format!("threw {why}"),
            ScriptAnswer::Stopped(why) => format!("was stopped: {why}"),
        }
    }
}

pub(super) fn javascript(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let Some(answer) = input.script else { return MissingEvidence::of("the script was not run") };
    let found = format!("the script {}", answer.describe());
    let compat = input.mode == AssertionMode::Compat;
    match answer {
        ScriptAnswer::Bool(holds) => Ok(AssertionFinding::of(*holds, found)),
        ScriptAnswer::Number(score) => {
            let holds = assertion.threshold.map_or(*score > 0.0, |threshold| *score >= threshold);
            // promptfoo does not invert the number.
            let score = if compat || !assertion.negated { *score } else { 1.0 - score.clamp(0.0, 1.0) };
            Ok(AssertionFinding::Final { pass: holds != assertion.negated, score, found })
        }
        ScriptAnswer::Grade(grade) => {
            let reason = if grade.reason.is_empty() { found } else { grade.reason.clone() };
            if compat {
                return Ok(AssertionFinding::Final { pass: grade.pass != assertion.negated, score: grade.score, found: reason });
            }
            // promptfoo ignores the threshold of an assertion whose script returns an object.
            let holds = grade.pass && assertion.threshold.is_none_or(|threshold| grade.score >= threshold);
            let score = if assertion.negated { 1.0 - grade.score.clamp(0.0, 1.0) } else { grade.score };
            Ok(AssertionFinding::Final { pass: holds != assertion.negated, score, found: reason })
        }
        // A script without a verdict fails in promptfoo, and with not- too.
        ScriptAnswer::Other(_) | ScriptAnswer::Threw(_) if compat => Ok(AssertionFinding::Unreadable(found)),
        ScriptAnswer::Other(_) | ScriptAnswer::Threw(_) | ScriptAnswer::Stopped(_) => MissingEvidence::of(found),
    }
}
