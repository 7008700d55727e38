//! Builds the final answer in the agent's output schema from the action log. Unknown fields are omitted.

use crate::action_log::{ActionLog, LoggedAction, RequestOutcome};
use crate::outputs::{FieldKind, OutputField, OutputShape};
use crate::words::stems;
use serde_json::{Map, Value, json};

/// Inputs of a report.
#[derive(Debug)]
pub(crate) struct ReportInput<'a> {
    pub log: &'a ActionLog,
    /// Ids of the relevant chains.
    pub chains: &'a [u64],
    /// Stems of the tool's name, operation and class.
    pub operation: &'a [String],
    /// Request in the user's words.
    pub request: &'a str,
    /// Parameters of the delegation.
    pub given: &'a Map<String, Value>,
}

pub(crate) fn report(shape: &OutputShape, about: &ReportInput<'_>) -> String {
    Value::Object(report_object(shape, about, None)).to_string()
}

fn report_object(shape: &OutputShape, about: &ReportInput<'_>, item: Option<&LoggedAction>) -> Map<String, Value> {
    let fields = shape.fields.iter().filter_map(|field| {
        let value = report_value(field, about, item)?;
        field.accepts(&value).then(|| (field.name.clone(), value))
    });
    fields.collect()
}

fn report_value(field: &OutputField, about: &ReportInput<'_>, item: Option<&LoggedAction>) -> Option<Value> {
    match &field.kind {
        FieldKind::Choice(words) => choose_word(field, words, about, item).map(Value::String),
        FieldKind::Text => value_by_name(field, about, item).or_else(|| text(field, about, item)),
        FieldKind::Integer | FieldKind::Number => chain(field, about).or_else(|| value_by_name(field, about, item)),
        FieldKind::Boolean => value_by_name(field, about, item).or_else(|| item.filter(|_| field.required).map(|done| json!(done.ok))),
        FieldKind::Objects(shape) => items(field, shape, about),
        FieldKind::List => value_by_name(field, about, item).or_else(|| field.required.then(|| json!([]))),
        FieldKind::Other => value_by_name(field, about, item),
    }
}

/// Returns a logged value with the name of the field, converted to its type.
fn value_by_name(field: &OutputField, about: &ReportInput<'_>, item: Option<&LoggedAction>) -> Option<Value> {
    let written = |value: &Value| coerce_value(field, value);
    let fits = |value: &Value| written(value).is_some();
    if let Some(done) = item {
        return crate::action_log::find_values(&done.answer, &field.name).into_iter().chain(done.args.get(&field.name)).find_map(written);
    }
    about.log.find(&field.name, &fits).or_else(|| about.given.get(&field.name).cloned().filter(fits)).and_then(|value| written(&value))
}

fn coerce_value(field: &OutputField, value: &Value) -> Option<Value> {
    if field.accepts(value) {
        return Some(value.clone());
    }
    let turned = match (&field.kind, value) {
        (FieldKind::Text, Value::Number(number)) => json!(number.to_string()),
        (FieldKind::Integer, Value::String(text)) => json!(text.parse::<i64>().ok()?),
        (FieldKind::Number, Value::String(text)) => json!(text.parse::<f64>().ok()?),
        _ => return None,
    };
    field.accepts(&turned).then_some(turned)
}

/// Returns the chain id for a field that names the chain.
fn chain(field: &OutputField, about: &ReportInput<'_>) -> Option<Value> {
    let named = stems(&field.name).iter().any(|stem| stem == "chain");
    about.chains.first().filter(|_| named).map(|id| json!(id))
}

fn text(field: &OutputField, about: &ReportInput<'_>, item: Option<&LoggedAction>) -> Option<Value> {
    if !field.required && item.is_none() {
        return None;
    }
    let Some(done) = item else { return Some(json!(about.log.summary())) };
    // Items get required fields only: the name of the tool or agent, or the request.
    field.required.then(|| {
        let by_name = ["agent", "tool", "name", "check", "source"].contains(&field.name.as_str());
        if by_name { json!(done.name) } else { json!(shorten(about.request)) }
    })
}

fn shorten(text: &str) -> String {
    text.chars().take(160).collect()
}

fn items(field: &OutputField, shape: &OutputShape, about: &ReportInput<'_>) -> Option<Value> {
    let relevant = about.log.done.iter().filter(|done| {
        let wants_agents = shape.fields.iter().any(|field| field.name == "agent");
        let wants_operations = shape.fields.iter().any(|field| field.name == "operation");
        if wants_agents {
            done.is_agent
        } else if wants_operations {
            done.wrote
        } else {
            !done.is_agent || done.ok
        }
    });
    let complete = |item: &Map<String, Value>| shape.fields.iter().all(|field| !field.required || item.contains_key(&field.name));
    let mut items: Vec<Value> = relevant.map(|done| report_object(shape, about, Some(done))).filter(complete).map(Value::Object).collect();
    items.dedup();
    (field.required || !items.is_empty()).then(|| Value::Array(items))
}

fn choose_word(field: &OutputField, words: &[String], about: &ReportInput<'_>, item: Option<&LoggedAction>) -> Option<String> {
    let outcome = match item {
        Some(done) if done.ok => OUTCOMES[1].1,
        Some(_) => OUTCOMES[3].1,
        None => outcome_words(&about.log.outcome),
    };
    let telling = words.iter().filter(|word| OUTCOMES.iter().any(|(_, known)| known.contains(&word.as_str()))).count();
    // A single outcome word among others, as in a list of operations, is not enough.
    let tells_outcome = telling >= 2 && telling * 2 >= words.len();
    if tells_outcome {
        return outcome.iter().find(|known| words.iter().any(|word| word == *known)).map(|word| (*word).to_owned());
    }
    if let Some(Value::String(word)) = value_by_name(field, about, item) {
        return Some(word);
    }
    let own: Vec<String> = item.map_or_else(|| about.operation.to_vec(), |done| stems(&done.name));
    let likeness = |word: &String| {
        let stems = stems(word);
        stems.iter().filter(|stem| own.contains(stem)).count() as f64 / stems.len().max(1) as f64
    };
    let best = words.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)).then(b.cmp(a)))?;
    if likeness(best) > 0.0 {
        return Some(best.clone());
    }
    words.iter().find(|word| matches!(word.as_str(), "unknown" | "none" | "other")).cloned()
}

/// Words of output schemas for each outcome, most specific first.
const OUTCOMES: &[(&str, &[&str])] = &[
    ("informed", &["informed", "success", "planned", "complete", "completed", "done", "ok", "approve", "nothing_to_do", "partial"]),
    ("done", &["success", "done", "executed", "completed", "complete", "approved", "approve", "ok", "informed", "passed"]),
    ("vetoed", &["vetoed", "veto", "rejected", "blocked", "declined", "failure", "failed"]),
    ("failed", &["failure", "failed", "error", "veto", "vetoed", "partial"]),
    ("declined", &["declined", "nothing_to_do", "skipped", "failure", "failed", "veto", "partial"]),
];

fn outcome_words(outcome: &RequestOutcome) -> &'static [&'static str] {
    let at = match outcome {
        RequestOutcome::Informed => 0,
        RequestOutcome::Done => 1,
        RequestOutcome::Vetoed(_) => 2,
        RequestOutcome::Failed(_) => 3,
        RequestOutcome::Declined(_) => 4,
    };
    OUTCOMES[at].1
}
