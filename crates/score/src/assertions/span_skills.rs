//! Skills in a trace: spans that name one, and calls of the tool that activates skills.

use super::trace_spans::TraceSpan;
use super::trajectory::steps_of_spans;
use serde_json::Value;

/// Attributes that name the skill of a span.
const SKILL_KEYS: &[&str] = &["gen_ai.skill.name", "bardo_eval.skill", "skill.name"];
/// Tools that activate a skill, and the arguments that name it.
const SKILL_TOOLS: &[&str] = &["use_skill", "skill"];
const SKILL_ARGUMENTS: &[&str] = &["name", "skill", "command"];

/// Returns the skills that a trace shows, in order. A span that failed does not count.
pub fn skills_of_spans(spans: &[TraceSpan]) -> Vec<String> {
    let mut sorted: Vec<&TraceSpan> = spans.iter().filter(|span| span.status_code != Some(2.0)).collect();
    sorted.sort_by(|a, b| a.start.unwrap_or_default().total_cmp(&b.start.unwrap_or_default()));
    let mut found: Vec<String> = vec![];
    for span in sorted {
        let named = SKILL_KEYS.iter().find_map(|key| span.attributes.get(*key)).and_then(Value::as_str).map(str::to_owned);
        let called = || {
            let steps = steps_of_spans(std::slice::from_ref(span), &[]);
            let call = steps.into_iter().find(|step| SKILL_TOOLS.contains(&step.name.to_lowercase().as_str()))?;
            let args = call.args?;
            SKILL_ARGUMENTS.iter().find_map(|key| args.get(*key).and_then(Value::as_str).map(str::to_owned))
        };
        found.extend(named.or_else(called));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn skills_are_named_by_attributes_or_by_calls() {
        let span = |value: Value| TraceSpan::from_json(&value).expect("a span");
        let spans = [
            span(
                json!({ "name": "execute_tool Skill", "startTime": 3, "attributes": { "gen_ai.tool.name": "Skill", "gen_ai.tool.call.arguments": "{\"skill\":\"review\"}" } }),
            ),
            span(json!({ "name": "activate", "startTime": 1, "attributes": { "gen_ai.skill.name": "rebalance" } })),
            span(json!({ "name": "failed", "startTime": 2, "statusCode": 2, "attributes": { "gen_ai.skill.name": "swap" } })),
            span(json!({ "name": "chat", "startTime": 4, "attributes": {} })),
        ];
        assert_eq!(skills_of_spans(&spans), ["rebalance", "review"]);
    }
}
