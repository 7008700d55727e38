//! JavaScript of configs: function bodies, and verdicts in answers.

use score::assertions::ScriptAnswer;
use script::ScriptReply;

/// Reads the verdict in a reply.
pub(crate) fn script_answer(reply: ScriptReply) -> ScriptAnswer {
    match reply {
        ScriptReply::Threw(why) => ScriptAnswer::Threw(why),
        ScriptReply::Stopped(why) => ScriptAnswer::Stopped(why),
        ScriptReply::Rendered(_) => ScriptAnswer::Other("a template".to_owned()),
        ScriptReply::Returned { kind, value } => ScriptAnswer::from_returned(&kind, value),
    }
}

/// Returns whether JavaScript decides an assertion.
pub(crate) fn is_script_type(type_name: &str) -> bool {
    type_name.strip_prefix("not-").unwrap_or(type_name) == "javascript"
}

/// Returns the function body of a transform: an expression, or a function body of several lines.
pub(crate) fn transform_body(source: &str) -> String {
    if is_body(source) {
        return source.to_owned();
    }
    format!("const r = ({source}); return typeof r === 'function' ? r(output, context) : r;")
}

/// Returns the function body of `transformVars`, which reads `vars`.
pub(crate) fn vars_body(source: &str) -> String {
    if is_body(source) {
        return format!("const vars = output;\n{source}");
    }
    format!("const vars = output; const r = ({source}); return typeof r === 'function' ? r(vars, context) : r;")
}

/// Returns the function body of `transformResponse`: json.choices[0] is an expression, (json, text) => … a function.
pub(crate) fn response_body(source: &str) -> String {
    format!(
        "const json = output.json, text = output.text; const f = ({source}); return typeof f === 'function' ? f(json, text, context) : f;"
    )
}

fn is_body(source: &str) -> bool {
    source.trim_end().contains('\n') || source.trim_start().starts_with("return ")
}

/// Returns a module as a function body, for the check of its syntax.
pub(crate) fn module_body(source: &str) -> String {
    let exported = source.lines().map(|line| match line.strip_prefix("export default ") {
        Some(rest) => format!("module.exports = {rest}"),
        None => line.to_owned(),
    });
    exported.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::suite::CaseAssertion;
    use score::assertions::{AssertionInput, AssertionMode, decide, function_body};
    use script::{ScriptEngine, ScriptLimits, ScriptRequest};
    use serde_json::{Value, json};

    const RECORDED: &str = include_str!("../../score/fixtures/promptfoo_assertions.jsonl");

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
