//! JavaScript of assertions: the function body that promptfoo makes of it, and the verdict in its answer.

use score::assertions::{ScriptAnswer, ScriptGrade};
use script::ScriptReply;
use serde_json::{Map, Value};

/// Returns the function body for the source of an assertion.
pub(crate) fn function_body(source: &str) -> String {
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

/// Reads the verdict in a reply.
pub(crate) fn script_answer(reply: ScriptReply) -> ScriptAnswer {
    match reply {
        ScriptReply::Threw(why) => ScriptAnswer::Threw(why),
        ScriptReply::Stopped(why) => ScriptAnswer::Stopped(why),
        ScriptReply::Rendered(_) => ScriptAnswer::Other("a template".to_owned()),
        ScriptReply::Returned { kind, value } => match (kind.as_str(), value) {
            ("boolean", Value::Bool(value)) => ScriptAnswer::Bool(value),
            ("number", value) => ScriptAnswer::Number(match value.as_str() {
                Some("Infinity") => f64::INFINITY,
                Some("-Infinity") => f64::NEG_INFINITY,
                Some(_) | None => value.as_f64().unwrap_or(f64::NAN),
            }),
            (_, Value::Object(fields)) => grade(fields),
            (kind, _) => ScriptAnswer::Other(kind.to_owned()),
        },
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::suite::CaseAssertion;
    use score::assertions::{AssertionInput, AssertionMode, decide};
    use script::{ScriptEngine, ScriptLimits, ScriptRequest};
    use serde_json::json;

    const RECORDED: &str = include_str!("../../score/fixtures/promptfoo_assertions.jsonl");

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

    /// The recorded answers that need the engine: all of `javascript` and `regex`. The others are compared in the tests of `score`.
    #[test]
    fn recorded_javascript_answers_agree() {
        let (mut engine, mut compared, mut differing) = (ScriptEngine::default(), 0, vec![]);
        for line in RECORDED.lines() {
            let row: Value = serde_json::from_str(line).expect("a row");
            let assertion = &row["assertion"];
            let kind = assertion["type"].as_str().expect("a type");
            let base = kind.strip_prefix("not-").unwrap_or(kind);
            let text = row["output"].as_str().map_or_else(|| row["output"].to_string(), str::to_owned);
            let source = assertion["value"].as_str().unwrap_or_default();
            let request = match base {
                "javascript" => ScriptRequest::body(function_body(source), &row["output"], &json!({"vars": row["vars"]})),
                "regex" => ScriptRequest::Regex { source: source.to_owned(), text: text.clone() },
                _ => continue,
            };
            compared += 1;
            let answer = script_answer(engine.run(&request, ScriptLimits::default()));
            let parsed =
                CaseAssertion::from_promptfoo(kind, assertion.get("value"), assertion["threshold"].as_f64()).expect("an assertion");
            let input = AssertionInput {
                text: &text,
                mode: AssertionMode::Compat,
                output: Some(&row["output"]),
                script: Some(&answer),
                ..AssertionInput::default()
            };
            let ours = decide(&parsed, &input).expect("an answer");
            let expect = &row["expect"];
            if Some(ours.pass) != expect["pass"].as_bool() || (ours.score - expect["score"].as_f64().unwrap_or(f64::NAN)).abs() >= 1e-9 {
                differing.push(format!("{line}: {ours:?}"));
            }
        }
        assert!(differing.is_empty(), "{differing:#?}");
        assert_eq!(compared, 68);
    }
}
