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
    /// Reads what a script returned: its `typeof` and its value as JSON, where a number that JSON does not have is a text.
    pub fn from_returned(kind: &str, value: Value) -> Self {
        match (kind, value) {
            ("boolean", Value::Bool(value)) => ScriptAnswer::Bool(value),
            ("number", value) => ScriptAnswer::Number(match value.as_str() {
                Some("Infinity") => f64::INFINITY,
                Some("-Infinity") => f64::NEG_INFINITY,
                Some(_) | None => value.as_f64().unwrap_or(f64::NAN),
            }),
            (_, Value::Object(fields)) => grade(fields),
            (kind, _) => ScriptAnswer::Other(kind.to_owned()),
        }
    }

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

fn grade(mut fields: Map<String, Value>) -> ScriptAnswer {
    let pass = fields.get("pass").and_then(Value::as_bool);
    let score = fields.get("score").and_then(Value::as_f64);
    let reason = fields.get("reason").and_then(Value::as_str).map(str::to_owned);
    let (Some(pass), Some(score), Some(reason)) = (pass, score, reason) else { return ScriptAnswer::Other("object".to_owned()) };
    for key in ["pass", "score", "reason"] {
        fields.remove(key);
    }
    ScriptAnswer::Grade(ScriptGrade { pass, score, reason, rest: fields })
}

/// Returns the function body that promptfoo makes of the source of an assertion: an expression on one line is returned.
pub fn function_body(source: &str) -> String {
    let source = source.trim_end();
    if source.contains('\n') {
        return source.to_owned();
    }
    let trimmed = source.trim().trim_end_matches(';').trim_end();
    let declares =
        ["const", "let", "var"].iter().any(|word| trimmed.strip_prefix(word).is_some_and(|rest| rest.starts_with(char::is_whitespace)));
    if !declares {
        return format!("return {trimmed}");
    }
    match last_semicolon(trimmed) {
        Some(at) if !trimmed[at + 1..].trim().is_empty() => format!("{} return {}", &trimmed[..=at], trimmed[at + 1..].trim()),
        Some(_) | None => trimmed.to_owned(),
    }
}

/// Returns the last semicolon outside of quotes.
fn last_semicolon(source: &str) -> Option<usize> {
    let (mut quote, mut escaped, mut found) = (None, false, None);
    for (at, c) in source.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' | '"' | '`' if quote.is_none() => quote = Some(c),
            _ if quote == Some(c) => quote = None,
            ';' if quote.is_none() => found = Some(at),
            _ => {}
        }
    }
    found
}

pub(super) fn javascript(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let Some(answer) = input.script else { return MissingEvidence::of("the script was not run") };
    let found = format!("the script {}", answer.describe());
    let compat = input.mode == AssertionMode::Compat;
    match answer {
        ScriptAnswer::Bool(holds) => Ok(AssertionFinding::of(*holds, found)),
        // NaN is below and above nothing, so that it would pass with not-.
        ScriptAnswer::Number(score) if !compat && !score.is_finite() => MissingEvidence::of(format!("{found}, which is no verdict")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_those_of_promptfoo() {
        for (source, body) in [
            ("output === 'a'", "return output === 'a'"),
            ("output === 'a';\n", "return output === 'a'"),
            ("const s = output; s === 'a;b'", "const s = output; return s === 'a;b'"),
            ("let a = 1;\nreturn a", "let a = 1;\nreturn a"),
            ("const a = 1", "const a = 1"),
            ("constant > 1", "return constant > 1"),
        ] {
            assert_eq!(function_body(source), body);
        }
    }
}
