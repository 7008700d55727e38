//! The final answer in the form the agent's file asks for, filled from what happened; what is not known is left out.

use super::action_log::{Done, Outcome, Story};
use super::outputs::{Field, Holds, OutputShape};
use super::words::stems;
use serde_json::{Map, Value, json};

/// What the report is about beside the story.
#[derive(Debug)]
pub(super) struct About<'a> {
    pub story: &'a Story,
    /// Ids of the chains spoken of.
    pub chains: &'a [u64],
    /// Stems of the tool's name, its operation and the class of it.
    pub operation: &'a [String],
    /// What was asked for.
    pub request: &'a str,
    /// What was handed over.
    pub given: &'a Map<String, Value>,
}

pub(super) fn report(shape: &OutputShape, about: &About<'_>) -> String {
    Value::Object(object(shape, about, None)).to_string()
}

fn object(shape: &OutputShape, about: &About<'_>, item: Option<&Done>) -> Map<String, Value> {
    let fields = shape.fields.iter().filter_map(|field| {
        let value = value(field, about, item)?;
        field.accepts(&value).then(|| (field.name.clone(), value))
    });
    fields.collect()
}

fn value(field: &Field, about: &About<'_>, item: Option<&Done>) -> Option<Value> {
    match &field.holds {
        Holds::Choice(words) => choice(field, words, about, item).map(Value::String),
        Holds::Text => found(field, about, item).or_else(|| text(field, about, item)),
        Holds::Whole | Holds::Number => chain(field, about).or_else(|| found(field, about, item)),
        Holds::Truth => found(field, about, item).or_else(|| item.filter(|_| field.required).map(|done| json!(done.ok))),
        Holds::Items(shape) => items(field, shape, about),
        Holds::List => found(field, about, item).or_else(|| field.required.then(|| json!([]))),
        Holds::Other => found(field, about, item),
    }
}

/// A value under the same name, as the form wants it written.
fn found(field: &Field, about: &About<'_>, item: Option<&Done>) -> Option<Value> {
    let written = |value: &Value| as_wanted(field, value);
    let fits = |value: &Value| written(value).is_some();
    if let Some(done) = item {
        return super::action_log::deep(&done.answer, &field.name).into_iter().chain(done.args.get(&field.name)).find_map(written);
    }
    about.story.find(&field.name, &fits).or_else(|| about.given.get(&field.name).cloned().filter(fits)).and_then(|value| written(&value))
}

fn as_wanted(field: &Field, value: &Value) -> Option<Value> {
    if field.accepts(value) {
        return Some(value.clone());
    }
    let turned = match (&field.holds, value) {
        (Holds::Text, Value::Number(number)) => json!(number.to_string()),
        (Holds::Whole, Value::String(text)) => json!(text.parse::<i64>().ok()?),
        (Holds::Number, Value::String(text)) => json!(text.parse::<f64>().ok()?),
        _ => return None,
    };
    field.accepts(&turned).then_some(turned)
}

/// A number for the chain is the chain that was spoken of.
fn chain(field: &Field, about: &About<'_>) -> Option<Value> {
    let named = stems(&field.name).iter().any(|stem| stem == "chain");
    about.chains.first().filter(|_| named).map(|id| json!(id))
}

fn text(field: &Field, about: &About<'_>, item: Option<&Done>) -> Option<Value> {
    if !field.required && item.is_none() {
        return None;
    }
    let Some(done) = item else { return Some(json!(about.story.told())) };
    // Of an item only what it must have: who or what, and for what.
    field.required.then(|| {
        let by_name = ["agent", "tool", "name", "check", "source"].contains(&field.name.as_str());
        if by_name { json!(done.name) } else { json!(short(about.request)) }
    })
}

fn short(text: &str) -> String {
    text.chars().take(160).collect()
}

fn items(field: &Field, shape: &OutputShape, about: &About<'_>) -> Option<Value> {
    let relevant = about.story.done.iter().filter(|done| {
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
    let mut items: Vec<Value> = relevant.map(|done| object(shape, about, Some(done))).filter(complete).map(Value::Object).collect();
    items.dedup();
    (field.required || !items.is_empty()).then(|| Value::Array(items))
}

fn choice(field: &Field, words: &[String], about: &About<'_>, item: Option<&Done>) -> Option<String> {
    let outcome = match item {
        Some(done) if done.ok => OUTCOMES[1].1,
        Some(_) => OUTCOMES[3].1,
        None => words_of(&about.story.outcome),
    };
    let telling = words.iter().filter(|word| OUTCOMES.iter().any(|(_, known)| known.contains(&word.as_str()))).count();
    // One such word among others, as in a list of operations, does not make it a list of outcomes.
    let tells_outcome = telling >= 2 && telling * 2 >= words.len();
    if tells_outcome {
        return outcome.iter().find(|known| words.iter().any(|word| word == *known)).map(|word| (*word).to_owned());
    }
    if let Some(Value::String(word)) = found(field, about, item) {
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

/// How forms call an outcome, the plainest word first.
const OUTCOMES: &[(&str, &[&str])] = &[
    ("informed", &["informed", "success", "planned", "complete", "completed", "done", "ok", "approve", "nothing_to_do", "partial"]),
    ("done", &["success", "done", "executed", "completed", "complete", "approved", "approve", "ok", "informed", "passed"]),
    ("vetoed", &["vetoed", "veto", "rejected", "blocked", "declined", "failure", "failed"]),
    ("failed", &["failure", "failed", "error", "veto", "vetoed", "partial"]),
    ("declined", &["declined", "nothing_to_do", "skipped", "failure", "failed", "veto", "partial"]),
];

fn words_of(outcome: &Outcome) -> &'static [&'static str] {
    let at = match outcome {
        Outcome::Informed => 0,
        Outcome::Done => 1,
        Outcome::Vetoed(_) => 2,
        Outcome::Failed(_) => 3,
        Outcome::Declined(_) => 4,
    };
    OUTCOMES[at].1
}
