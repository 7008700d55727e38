//! Assertions on the response of a provider: `finish-reason`, `perplexity`, `guardrails`, `skill-used`, `is-valid-openai-tools-call`.

use super::trace_spans::matches_glob;
use super::{AssertionFinding, AssertionInput, AssertionMode, FindingResult, MissingEvidence};
use model::JsonSchema;
use model::suite::{AssertionValue, CaseAssertion, SkillExpectation};
use serde_json::Value;

fn response<'a>(input: &AssertionInput<'a>, key: &str) -> Option<&'a Value> {
    input.response.and_then(|response| response.get(key)).filter(|value| !value.is_null())
}

pub(super) fn finish_reason(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> FindingResult {
    let AssertionValue::Text(wanted) = &assertion.value else { return MissingEvidence::of("finish-reason has no value") };
    match response(input, "finishReason").and_then(Value::as_str).filter(|found| !found.is_empty()) {
        Some(found) => Ok(AssertionFinding::of(found.to_lowercase() == wanted.to_lowercase(), format!("finished with {found:?}"))),
        None if input.mode == AssertionMode::Compat => Ok(AssertionFinding::of(false, "the provider gave no finish reason")),
        None => MissingEvidence::of("the provider gave no finish reason"),
    }
}

/// Returns the mean of the logarithms of the probabilities of the tokens.
fn mean_log_probability(input: &AssertionInput<'_>) -> Result<f64, MissingEvidence> {
    let log_probs = response(input, "logProbs").and_then(Value::as_array).filter(|log_probs| !log_probs.is_empty());
    let Some(log_probs) = log_probs else { return MissingEvidence::of("the provider returned no logProbs") };
    Ok(log_probs.iter().filter_map(Value::as_f64).sum::<f64>() / log_probs.len() as f64)
}

pub(super) fn perplexity(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> FindingResult {
    let perplexity = (-mean_log_probability(input)?).exp();
    let found = format!("perplexity {perplexity:.2}");
    match assertion.threshold {
        Some(most) => Ok(AssertionFinding::of(perplexity <= most, found)),
        None if input.mode == AssertionMode::Compat => Ok(AssertionFinding::decided(true, found)),
        None => MissingEvidence::of("perplexity lacks a threshold, so there is nothing to decide"),
    }
}

pub(super) fn perplexity_score(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> FindingResult {
    let score = 1.0 / (1.0 + (-mean_log_probability(input)?).exp());
    let found = format!("perplexity score {score:.2}");
    match assertion.threshold {
        Some(least) => Ok(AssertionFinding::scored(score, least, found)),
        None if input.mode == AssertionMode::Compat => {
            Ok(AssertionFinding::Final { pass: true, score: if assertion.negated { 1.0 - score } else { score }, found })
        }
        None => MissingEvidence::of("perplexity-score lacks a threshold, so there is nothing to decide"),
    }
}

pub(super) fn guardrails(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> FindingResult {
    match response(input, "guardrails") {
        Some(guardrails) => {
            let flagged = guardrails.get("flagged").and_then(Value::as_bool).unwrap_or_default();
            let reason = guardrails.get("reason").and_then(Value::as_str).unwrap_or(if flagged { "flagged" } else { "not flagged" });
            Ok(AssertionFinding::of(!flagged, reason))
        }
        // promptfoo passes a reply that no guardrail has seen.
        None if input.mode == AssertionMode::Compat => {
            Ok(AssertionFinding::Final { pass: !assertion.negated, score: 0.0, found: "no guardrail was applied".to_owned() })
        }
        None => MissingEvidence::of("no guardrail was applied"),
    }
}

pub(super) fn skill_used(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> FindingResult {
    let AssertionValue::Skills(expected) = &assertion.value else { return MissingEvidence::of("skill-used has no value") };
    let calls = response(input, "metadata").and_then(|metadata| metadata.get("skillCalls")).and_then(Value::as_array);
    let used: Vec<&str> = match (calls, input.skills) {
        (Some(calls), _) => {
            let calls = calls.iter().filter(|call| call.get("is_error") != Some(&Value::Bool(true)));
            calls.filter_map(|call| call.get("name").and_then(Value::as_str)).collect()
        }
        (None, Some(skills)) => skills.iter().map(String::as_str).collect(),
        // promptfoo takes silence for no skill.
        (None, None) if input.mode == AssertionMode::Compat => vec![],
        (None, None) => return MissingEvidence::of("neither metadata.skillCalls nor a trace says which skills were used"),
    };
    let found = format!("used {}", if used.is_empty() { "no skill".to_owned() } else { used.join(", ") });
    match expected {
        SkillExpectation::UsesAll(names) => {
            let hits = names.iter().filter(|name| used.contains(&name.as_str())).count();
            Ok(AssertionFinding::decided(if assertion.negated { hits == 0 } else { hits == names.len() }, found))
        }
        SkillExpectation::UsesCounted { name, glob, range } => {
            if assertion.negated && (range.min.is_some() || range.max.is_some_and(|max| max != 0.0)) {
                return MissingEvidence::of("not-skill-used takes no bounds but max: 0");
            }
            let matches =
                |used: &str| name.as_ref().is_none_or(|name| used == name) && glob.as_ref().is_none_or(|glob| matches_glob(used, glob));
            let count = used.iter().filter(|used| matches(used)).count() as f64;
            let min = range.min.unwrap_or(if range.max.is_some() { 0.0 } else { 1.0 });
            let within = count >= min && range.max.is_none_or(|max| count <= max);
            Ok(AssertionFinding::decided(if assertion.negated { count == 0.0 } else { within }, found))
        }
    }
}

/// Checks calls of tools in the form of OpenAI against the schemas of the provider's tools.
pub(super) fn valid_tools_call(_: &CaseAssertion, input: &AssertionInput<'_>) -> FindingResult {
    let finding = |defect: Option<String>| {
        let (holds, found) = (defect.is_none(), defect.unwrap_or_else(|| "every call fits its tool".to_owned()));
        match input.mode {
            // promptfoo ignores not- here.
            AssertionMode::Compat => AssertionFinding::decided(holds, found),
            AssertionMode::Strict => AssertionFinding::of(holds, found),
        }
    };
    if input.text.contains("MCP Tool Error") {
        return Ok(finding(Some("a call of an MCP tool failed".to_owned())));
    }
    if input.text.contains("MCP Tool Result") {
        return Ok(finding(None));
    }
    let output = input.output.map(|output| output.get("tool_calls").unwrap_or(output));
    let Some(calls) = output.and_then(Value::as_array).filter(|calls| !calls.is_empty()) else {
        return Ok(finding(Some("there are no calls of tools in the form of OpenAI".to_owned())));
    };
    let Some(tools) = input.tools.and_then(Value::as_array) else {
        return Ok(finding(Some("the provider has no tools".to_owned())));
    };
    Ok(finding(calls.iter().find_map(|call| call_defect(call, tools))))
}

fn call_defect(call: &Value, tools: &[Value]) -> Option<String> {
    let function = call.get("function");
    let part = |key: &str| function.and_then(|function| function.get(key)).and_then(Value::as_str);
    let (Some(name), Some(arguments)) = (part("name"), part("arguments")) else {
        return Some("a call has no name or no arguments".to_owned());
    };
    let declared =
        tools.iter().filter(|tool| tool.get("type").and_then(Value::as_str) == Some("function")).filter_map(|tool| tool.get("function"));
    let Some(tool) = declared.into_iter().find(|tool| tool.get("name").and_then(Value::as_str) == Some(name)) else {
        return Some(format!("there is no tool {name:?}"));
    };
    let Ok(arguments) = serde_json::from_str::<Value>(arguments) else { return Some(format!("the arguments of {name:?} are not JSON")) };
    let parameters = match tool.get("parameters") {
        Some(parameters) => parameters.clone(),
        None if arguments.as_object().is_some_and(serde_json::Map::is_empty) => return None,
        None => return Some(format!("{name:?} takes no arguments")),
    };
    let violation = JsonSchema::new(parameters).violations(&arguments).into_iter().next()?;
    Some(format!("the arguments of {name:?} do not fit at {}: {}", violation.path, violation.what))
}
