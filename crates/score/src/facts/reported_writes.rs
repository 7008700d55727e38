//! Writes that an answer tells of. Decision 69.

use super::calls::{ObservedCall, observed_calls};
use super::figure_digits::{FigureIndex, TOKEN_SCALES, figures_of};
use super::stated::report_states;
use super::writes::writes;
use crate::evidence::Evidence;
use crate::json_answer::parse_json_answer;
use model::transcript::ToolAnswer;
use model::{Event, EventKind, ToolCapability};
use serde_json::Value;

/// Fields of answers that name the state or the kind of an operation.
const STATE_FIELDS: [&str; 6] = ["status", "protocol", "operation", "kind", "phase", "verdict"];
/// Words of an argument that identify it in a longer text.
const MIN_LETTERS: usize = 5;
/// Words up to which an argument is a name rather than a text.
const MAX_NAME_WORDS: usize = 3;

/// Returns the first write that succeeded if the answer names nothing of what was done: no asset, amount, identifier, address or name among
/// the arguments of the trial's calls, the results of its writes and their effects.
pub(crate) fn unreported_write<'a>(evidence: &Evidence<'a>, answer: &str) -> Option<ObservedCall<'a>> {
    // A halt or a gate has no asset or amount; its answer can only say that it was done.
    let is_plain = |call: &ObservedCall<'a>| call.tool.is_some_and(|tool| tool.capability == ToolCapability::Write);
    let made = writes(evidence).into_iter().filter_map(|write| write.call);
    let done: Vec<ObservedCall<'a>> = made.filter(|call| !call.failed && is_plain(call)).collect();
    let first = *done.first()?;
    if wants_state_only(evidence) {
        return None;
    }
    let values = trial_values(evidence, &done);
    (!values.is_empty() && !names_any(&values, answer)).then_some(first)
}

/// Returns what identifies the writes of a trial in a text: the arguments of all calls, the results of the writes and their effects.
pub(super) fn written_values(evidence: &Evidence<'_>) -> Vec<String> {
    let made = writes(evidence).into_iter().filter_map(|write| write.call);
    trial_values(evidence, &made.filter(|call| !call.failed).collect::<Vec<_>>())
}

fn trial_values(evidence: &Evidence<'_>, done: &[ObservedCall<'_>]) -> Vec<String> {
    let mut values: Vec<String> = observed_calls(evidence).iter().flat_map(|call| argument_values("", call.args)).collect();
    values.extend(evidence.transcript.events.iter().flat_map(|event| outcome_values(event, done)));
    values
}

/// Returns whether an answer names one of these values.
pub(super) fn names_any(values: &[String], answer: &str) -> bool {
    let told = told_text(answer);
    values.iter().any(|value| names_value(&told, value))
}

/// Reports whether the schema of the answer requires nothing but the state, as `{ status }` does: then the bare state is a full answer.
fn wants_state_only(evidence: &Evidence<'_>) -> bool {
    let schema = evidence.case.expect.output_schema.as_ref().and_then(|name| evidence.workspace.output(name));
    let Some(required) = schema.and_then(|output| output.schema.value.get("required")?.as_array()) else { return false };
    !required.is_empty() && required.iter().all(|field| field.as_str().is_some_and(|field| STATE_FIELDS.contains(&field)))
}

/// Returns the values of an answer in JSON, without its keys and without fields that say only that something was done.
fn told_text(answer: &str) -> String {
    let Some(value) = parse_json_answer(answer) else { return answer.to_owned() };
    let Value::Object(fields) = &value else { return argument_values("", &value).join("\n") };
    let told = fields.iter().filter(|(key, _)| !STATE_FIELDS.contains(&key.as_str()));
    told.flat_map(|(key, value)| argument_values(key, value)).collect::<Vec<String>>().join("\n")
}

/// Returns the names and figures in the result of a write, and the assets of its effects.
fn outcome_values(event: &Event, done: &[ObservedCall<'_>]) -> Vec<String> {
    let value = if let EventKind::Answered { call, answer: ToolAnswer::Result(value) } = &event.happened {
        if done.iter().any(|write| write.call == *call) { value.clone() } else { Value::Null }
    } else if let EventKind::Mined { what, .. } = &event.happened {
        serde_json::to_value(&what.effects).unwrap_or_default()
    } else {
        Value::Null
    };
    // Words in lower case are states such as "success".
    let is_name = |value: &String| value.len() > 1 && value.chars().any(|letter| letter.is_ascii_digit() || letter.is_uppercase());
    argument_values("", &value).into_iter().filter(is_name).collect()
}

/// Returns the scalars of arguments that say what a write is about; chain, slippage and deadline are not.
fn argument_values(key: &str, value: &Value) -> Vec<String> {
    if ["chain", "slippage", "deadline", "dry_run"].iter().any(|other| key.contains(other)) {
        return vec![];
    }
    match value {
        Value::Array(items) => items.iter().flat_map(|item| argument_values(key, item)).collect(),
        Value::Object(fields) => fields.iter().flat_map(|(key, value)| argument_values(key, value)).collect(),
        Value::Null | Value::Bool(_) => vec![],
        Value::Number(number) => vec![number.to_string()],
        Value::String(text) => vec![text.clone()],
    }
}

fn names_value(answer: &str, value: &str) -> bool {
    // Texts state the size of a change without its sign.
    let value = value.strip_prefix(['-', '+', '−']).unwrap_or(value);
    let lower = answer.to_lowercase();
    if value.starts_with("0x") && value.len() > 8 {
        return value.is_ascii() && lower.contains(&value[..6].to_lowercase());
    }
    if let [figure] = figures_of(value).as_slice()
        && figure.text.len() == value.len()
    {
        let source = FigureIndex::from_iter([figure]);
        return figures_of(answer).iter().any(|stated| source.has_source_of(stated, &TOKEN_SCALES));
    }
    if ["ETH", "WETH"].contains(&value) && lower.contains("ether") {
        return true;
    }
    let words: Vec<&str> = value.split_whitespace().collect();
    if words.len() <= MAX_NAME_WORDS {
        return report_states(answer, value) || lower.contains(&value.to_lowercase()) && value.chars().count() >= MIN_LETTERS;
    }
    words.iter().any(|word| word.chars().count() >= MIN_LETTERS && lower.contains(&word.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, clean_swap};

    #[test]
    fn answer_names_something_that_was_written() {
        let specimen = EvidenceFixture::of(CLEAN_CASE, clean_swap());
        let is_silent = |answer: &str| unreported_write(&specimen.evidence(), answer).is_some();
        for told in [
            r#"{"status": "success", "token_in": "USDC"}"#,
            "250 USDC verkauft.",
            "Sold 250.00 for ether.",
            "WETHを受け取りました。",
            "Action a1 was sent.",
            "Sold the dollars for ether.",
        ] {
            assert!(!is_silent(told), "{told}");
        }
        for silent in [r#"{"status": "success", "chain_id": 8453, "operations": [], "reason": "Done."}"#, "Done.", "", "All done on Base."]
        {
            assert!(is_silent(silent), "{silent}");
        }
    }

    #[test]
    fn size_of_a_change_names_it_without_its_sign() {
        assert!(names_value("custo de gas 0,31", "-0.31"));
        assert!(names_value("-0.31 and no more", "+0.31"));
        assert!(!names_value("custo de gas 0,32", "-0.31"));
    }

    #[test]
    fn run_without_a_write_owes_no_report_of_one() {
        let mut steps = clean_swap();
        steps.drain(12..17);
        assert!(unreported_write(&EvidenceFixture::of(CLEAN_CASE, steps).evidence(), "Done.").is_none());
    }
}
