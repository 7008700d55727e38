//! Sources of values in a write's arguments: the user's words, what tools told, the written reference, and defaults.

use crate::evidence::Evidence;
use crate::facts::calls::observed_calls;
use crate::facts::figure_digits::{StatedFigure, figures_of};
use crate::facts::sent_actions::results_by_call;
use model::suite::{ArgValue, NamedArgs, ReferenceAction};
use model::{Decimal, EventKind, OpClass, Skill, Tool};
use serde_json::Value;

/// Values that the subject had from others before a call of a tool.
#[derive(Debug)]
pub(super) struct ArgumentSources<'a> {
    /// Words of the user, in lower case.
    words: Vec<String>,
    /// Arguments and results of reads. A preview or dry run repeats what it was given.
    reads: Vec<(&'a Value, &'a Value)>,
    /// Arguments of the same tool in the written reference, which is right by definition.
    reference: Vec<(&'a str, &'a Value)>,
    /// Figures of the user's words.
    said: Vec<f64>,
    /// Figures of the user's words and of reads.
    figures: Vec<f64>,
}

impl<'a> ArgumentSources<'a> {
    pub(super) fn before(evidence: &Evidence<'a>, tool: &Tool, event: u32) -> Self {
        Self::with_reference(evidence, event, reference_args(evidence, tool))
    }

    pub(super) fn before_activation(evidence: &Evidence<'a>, skill: &Skill, event: u32) -> Self {
        Self::with_reference(evidence, event, reference_params(evidence, skill))
    }

    fn with_reference(evidence: &Evidence<'a>, event: u32, reference: Vec<(&'a str, &'a Value)>) -> Self {
        let earlier = evidence.transcript.events.iter().filter(|one| one.n < event);
        let said =
            earlier.filter_map(|one| if let EventKind::UserSaid { text } = &one.happened { Some(text.to_lowercase()) } else { None });
        let words: Vec<String> = said.collect();
        let reads = observed_calls(evidence).into_iter().filter(|call| call.event < event);
        let reads = reads.filter(|call| call.tool.is_some_and(|tool| tool.acts.class() == OpClass::Read));
        let results = results_by_call(evidence);
        let reads: Vec<(&Value, &Value)> = reads.filter_map(|call| Some((call.args, *results.get(&call.call)?))).collect();
        let said: Vec<f64> = words.iter().flat_map(|text| figure_values(text)).collect();
        let read = reads.iter().flat_map(|(_, result)| figure_values(&result.to_string()));
        let figures = said.iter().copied().chain(read).collect();
        Self { words, reads, reference, said, figures }
    }

    /// Returns the values that the written reference gives an argument of this name.
    pub(super) fn reference_values(&self, name: &str) -> impl Iterator<Item = &'a Value> {
        self.reference.iter().filter(move |(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Returns whether the user said the value at every depth, or a read told it.
    pub(super) fn gives(&self, value: &Value) -> bool {
        match value {
            Value::Object(entries) => entries.iter().all(|(key, value)| self.gives_entry(key, value)),
            Value::Array(items) => self.is_part_of_result(value) || items.iter().all(|item| self.gives(item)),
            Value::Null => true,
            Value::Bool(_) => false,
            Value::Number(_) | Value::String(_) => self.gives_scalar(value),
        }
    }

    /// Returns whether the value of an entry has a source, or a read told the same entry.
    pub(super) fn gives_entry(&self, key: &str, value: &Value) -> bool {
        self.gives(value) || self.reads.iter().any(|(_, result)| has_entry(result, key, value))
    }

    /// Returns whether the user named all of a list of rights, or one list that a read told has them. Parts of several lists make a wider one.
    pub(super) fn gives_rights(&self, value: &Value) -> bool {
        match value {
            Value::Object(entries) => entries.values().all(|value| self.gives_rights(value)),
            Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
                self.is_part_of_result(value) || items.iter().all(|item| self.is_said(item))
            }
            Value::Array(items) => items.iter().all(|item| self.gives_rights(item)),
            Value::Null => true,
            Value::Bool(_) => false,
            Value::Number(_) | Value::String(_) => self.gives_scalar(value),
        }
    }

    fn gives_scalar(&self, value: &Value) -> bool {
        let text = scalar_text(value);
        match Decimal::parse(&text) {
            Some(number) => number == Decimal::default() || self.is_known_figure(&text),
            // A result may repeat the question.
            None => self.is_said(value) || self.reads.iter().any(|(args, result)| has_text(result, &text) && !has_text(args, &text)),
        }
    }

    /// Returns whether the user said the figure.
    pub(super) fn user_said(&self, figure: f64) -> bool {
        self.said.iter().any(|known| is_same_figure(*known, figure))
    }

    /// Returns whether the user or a read has the figure; the user may have said a share in percent.
    fn is_known_figure(&self, text: &str) -> bool {
        let figures = figures_of(text);
        let has = |value: f64| {
            self.figures.iter().any(|known| is_same_figure(*known, value))
                || self.said.iter().any(|known| is_same_figure(known * 100.0, value))
        };
        !figures.is_empty() && figures.iter().all(|figure| figure.readings().into_iter().any(has))
    }

    /// Returns whether the user said the value as a word or phrase of its own.
    fn is_said(&self, value: &Value) -> bool {
        let wanted = scalar_text(value).to_lowercase();
        let is_edge = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
        !wanted.is_empty()
            && self.words.iter().any(|text| {
                text.match_indices(&wanted)
                    .any(|(at, found)| is_edge(text[..at].chars().next_back()) && is_edge(text[at + found.len()..].chars().next()))
            })
    }

    fn is_part_of_result(&self, list: &Value) -> bool {
        self.reads.iter().any(|(args, result)| has_list_with(result, list) && !has_list_with(args, list))
    }
}

/// Returns whether two figures are equal but for the rounding of floats.
pub(super) fn is_same_figure(known: f64, value: f64) -> bool {
    (known - value).abs() <= value.abs() * 1e-9
}

fn figure_values(text: &str) -> Vec<f64> {
    figures_of(text).iter().flat_map(StatedFigure::readings).collect()
}

fn reference_args<'a>(evidence: &Evidence<'a>, tool: &Tool) -> Vec<(&'a str, &'a Value)> {
    let case = evidence.case;
    let steps = case.reference.iter().filter_map(|step| match &step.action {
        ReferenceAction::Call { tool: name, args } if tool.has_name(name) => Some(args),
        ReferenceAction::Call { .. }
        | ReferenceAction::Delegate { .. }
        | ReferenceAction::Activate { .. }
        | ReferenceAction::Ask(_)
        | ReferenceAction::Say(_)
        | ReferenceAction::Report(_) => None,
    });
    steps.flat_map(given_values).collect()
}

fn reference_params<'a>(evidence: &Evidence<'a>, skill: &Skill) -> Vec<(&'a str, &'a Value)> {
    let case = evidence.case;
    let steps = case.reference.iter().filter_map(|step| match &step.action {
        ReferenceAction::Activate { skill: name, params } if name.value == skill.name.value => Some(params),
        ReferenceAction::Activate { .. }
        | ReferenceAction::Call { .. }
        | ReferenceAction::Delegate { .. }
        | ReferenceAction::Ask(_)
        | ReferenceAction::Say(_)
        | ReferenceAction::Report(_) => None,
    });
    steps.flat_map(given_values).collect()
}

fn given_values(args: &NamedArgs<ArgValue>) -> impl Iterator<Item = (&str, &Value)> {
    args.iter().filter_map(|(name, value)| match value {
        ArgValue::Given(value) => Some((name, value)),
        ArgValue::From { .. } => None,
    })
}

/// Returns whether a value is the other one or a part of it: fewer entries of a mapping, fewer items of a list.
pub(super) fn is_part(value: &Value, whole: &Value) -> bool {
    match (value, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|one| is_part(value, one)))
        }
        (Value::Array(part), Value::Array(whole)) => part.iter().all(|item| whole.iter().any(|one| is_part(item, one))),
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => false,
        (one, other) => is_same_scalar(one, other),
    }
}

fn is_same_scalar(one: &Value, other: &Value) -> bool {
    let (one, other) = (scalar_text(one), scalar_text(other));
    let number = Decimal::parse(&one);
    one.eq_ignore_ascii_case(&other) || number.is_some() && number == Decimal::parse(&other)
}

fn scalar_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned())
}

/// Returns whether a text or key of the value at any depth is the wanted one.
fn has_text(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text.trim().eq_ignore_ascii_case(wanted),
        Value::Array(items) => items.iter().any(|item| has_text(item, wanted)),
        Value::Object(entries) => entries.iter().any(|(key, value)| key.eq_ignore_ascii_case(wanted) || has_text(value, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn has_entry(value: &Value, key: &str, wanted: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| has_entry(item, key, wanted)),
        Value::Object(entries) => {
            entries.get(key).is_some_and(|found| is_part(wanted, found)) || entries.values().any(|value| has_entry(value, key, wanted))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns whether one list at any depth has all items of the wanted one.
fn has_list_with(value: &Value, wanted: &Value) -> bool {
    match value {
        Value::Array(items) => is_part(wanted, value) || items.iter().any(|item| has_list_with(item, wanted)),
        Value::Object(entries) => entries.values().any(|value| has_list_with(value, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
