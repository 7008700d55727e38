//! Variants of the writes of a reference: one value changed that can move value or rights, or change a record.

use super::altered_args::{UNKNOWN_ADDRESS, altered_argument, doubled_plus_one};
use super::mutants::{expected_calls, is_preparation, literal_args};
use crate::facts::prepared_writes::prepared_write;
use model::suite::{ArgMatcher, ArgValue, Case, NamedArgs, ReferenceAction, ReferenceStep};
use model::{JsonSchema, Location, OpClass, ParamKind, ParamSpec, Spanned, Tool, Workspace};
use serde_json::{Map, Value, json};

/// Reference in which one write has another value of one parameter.
#[derive(Debug)]
pub(crate) struct WriteVariant<'w> {
    pub(crate) tool: &'w Tool,
    /// Class of what is sent: of the prepared write if the tool only previews it.
    pub(crate) class: OpClass,
    pub(crate) param: String,
    /// Description, such as `with another amount`.
    pub(crate) what: String,
    /// The reference gives the parameter; otherwise the variant adds it.
    pub(crate) is_given: bool,
    /// An accepted alternative contains a call of the tool.
    pub(crate) is_expected: bool,
    pub(crate) steps: Vec<ReferenceStep>,
    pub(crate) at: Location,
}

/// Parameters that name a prepared action. Its own arguments are varied instead.
const ACTION_PARAMS: [&str; 3] = ["action_id", "permit_id", "dry_run"];

/// Returns the variants of all writes of a case's reference, and of the previews that a write sends without repeating their arguments.
/// `user_texts` are the words of the user: a text that the user gives is a value, any other is the wording of the agent.
pub(crate) fn write_variants<'w>(workspace: &'w Workspace, case: &Case, user_texts: &[&str]) -> Vec<WriteVariant<'w>> {
    let mut found = vec![];
    for (n, step) in case.reference.iter().enumerate() {
        let ReferenceAction::Call { tool: name, args } = &step.action else { continue };
        let Some(tool) = workspace.tool(name) else { continue };
        let is_write = tool.writes() && !is_preparation(case, args);
        if is_write || is_sent_as_prepared(workspace, case, step) {
            VariedWrite { workspace, case, n, name, tool, args, user_texts }.add_variants(&mut found);
        }
    }
    found
}

/// Reports whether a later call sends what this step prepared, without arguments of its own.
fn is_sent_as_prepared(workspace: &Workspace, case: &Case, step: &ReferenceStep) -> bool {
    let names = |arg: &ArgValue| matches!(arg, ArgValue::From { step: named, .. } if Some(named) == step.name.as_ref());
    case.reference.iter().any(|later| {
        let ReferenceAction::Call { tool, args } = &later.action else { return false };
        workspace.tool(tool).is_some_and(|tool| tool.writes() && tool.acts.sends_prepared())
            && args.iter().any(|(param, arg)| ACTION_PARAMS.contains(&param) && names(arg))
    })
}

struct VariedWrite<'w, 'c> {
    workspace: &'w Workspace,
    case: &'c Case,
    n: usize,
    name: &'c Spanned<String>,
    tool: &'w Tool,
    args: &'c NamedArgs<ArgValue>,
    user_texts: &'c [&'c str],
}

impl<'w> VariedWrite<'w, '_> {
    fn add_variants(&self, found: &mut Vec<WriteVariant<'w>>) {
        let given = literal_args(self.args);
        for (name, arg) in self.args {
            if let ArgValue::Given(value) = arg
                && !ACTION_PARAMS.contains(&name)
            {
                let others = self.other_values(&given, name, value);
                found.extend(others.into_iter().map(|(what, other)| self.variant(name, what, other, true)));
            }
        }
        let is_omitted = |name: &str, param: &ParamSpec| !self.args.contains_key(name) && !param.required;
        for (name, param) in self.tool.params.iter().filter(|(name, param)| is_omitted(name, param)) {
            if let Some(value) = self.added_value(&given, name, param) {
                found.push(self.variant(name, format!("with {name} {value}"), value, false));
            }
        }
    }

    fn variant(&self, param: &str, what: String, value: Value, is_given: bool) -> WriteVariant<'w> {
        let mut args = self.args.clone();
        args.insert(param, ArgValue::Given(value));
        let mut steps = self.case.reference.clone();
        steps[self.n].action = ReferenceAction::Call { tool: self.name.clone(), args };
        let is_expected = expected_calls(self.case).any(|call| self.tool.has_name(&call.tool));
        let at = self.case.reference[self.n].at.clone();
        WriteVariant { tool: self.tool, class: self.sent_class(), param: param.to_owned(), what, is_given, is_expected, steps, at }
    }

    fn sent_class(&self) -> OpClass {
        let given = Value::Object(literal_args(self.args));
        let prepared = prepared_write(self.workspace, self.tool, &given);
        prepared.map_or(self.tool.acts.class(), |write| write.tool.acts.class())
    }

    /// Returns other values of a given argument, each with its description.
    fn other_values(&self, given: &Map<String, Value>, name: &str, value: &Value) -> Vec<(String, Value)> {
        match value {
            Value::Array(items) => {
                let mut longer = items.clone();
                longer.push(items.first().map_or_else(|| json!("something else"), other_leaf));
                let mut found = vec![(format!("with one more item in {name}"), Value::Array(longer))];
                if items.len() > 1 {
                    found.push((format!("with one item of {name} left out"), Value::Array(items[1..].to_vec())));
                }
                found.extend(self.changed_leaves(name, value));
                found
            }
            Value::Object(entries) => {
                let mut found = self.changed_leaves(name, value);
                if self.permits_more_entries(name) {
                    let mut more = entries.clone();
                    more.insert("something_else".into(), json!("1"));
                    found.push((format!("with one more entry in {name}"), Value::Object(more)));
                }
                found
            }
            Value::String(text) if self.is_wording(name, text) => vec![],
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                let wanted = self.wanted(name);
                let other = altered_argument(self.workspace, &self.tool.params, given, name, &wanted);
                other.into_iter().map(|other| (format!("with another {name}"), other)).collect()
            }
        }
    }

    fn wanted(&self, name: &str) -> Vec<&ArgMatcher> {
        let calls = expected_calls(self.case).filter(|call| self.tool.has_name(&call.tool));
        calls.filter_map(|call| call.args.get(name)).collect()
    }

    fn permits_more_entries(&self, name: &str) -> bool {
        let schema = self.tool.params.get(name).map(|param| &param.schema);
        schema.and_then(|schema| schema.get("additionalProperties")) != Some(&Value::Bool(false))
    }

    /// Returns the value with one of its leaves changed, for each leaf that is not wording.
    fn changed_leaves(&self, name: &str, value: &Value) -> Vec<(String, Value)> {
        let mut found = vec![];
        for path in leaf_paths(value) {
            let Some(leaf) = value.pointer(&path) else { continue };
            if path.rsplit('/').next().is_some_and(|key| ACTION_PARAMS.contains(&key)) {
                continue;
            }
            if leaf.as_str().is_some_and(|text| self.is_wording(name, text)) {
                continue;
            }
            let other = other_leaf(leaf);
            let mut changed = value.clone();
            if let Some(place) = changed.pointer_mut(&path) {
                *place = other;
                found.push((format!("with another {name}{}", path.replace('/', ".")), changed));
            }
        }
        found
    }

    /// Reports whether a text is in the agent's own words: several words, and not those of the user.
    fn is_wording(&self, name: &str, text: &str) -> bool {
        let kind = self.tool.params.get(name).and_then(|param| param.kind.as_ref());
        let may_be_worded = matches!(kind, None | Some(ParamKind::Text | ParamKind::Object | ParamKind::List(_)));
        let folded = text.trim_end_matches('.').to_lowercase();
        may_be_worded && text.contains(' ') && !self.user_texts.iter().any(|said| said.to_lowercase().contains(&folded))
    }

    /// Returns a valid value for an omitted parameter that could move value or rights; `None` for texts, choices, flags, ids and counts.
    fn added_value(&self, given: &Map<String, Value>, name: &str, param: &ParamSpec) -> Option<Value> {
        let other = || altered_argument(self.workspace, &self.tool.params, given, name, &[]);
        let value = match param.kind.as_ref()? {
            ParamKind::Address(_) => json!(UNKNOWN_ADDRESS),
            ParamKind::Token(_) | ParamKind::Chain(_) => other()?,
            ParamKind::Amount { .. } => json!("999999"),
            ParamKind::Bps => json!(9999),
            ParamKind::Percent => json!(99),
            ParamKind::FeeTier => json!(100),
            ParamKind::Price(_) | ParamKind::Tick(_) => json!(1_000_000_000),
            ParamKind::Deadline => json!(4_000_000_000_u64),
            ParamKind::Data => json!("0xbad0"),
            ParamKind::Object => json!({"something": "else"}),
            ParamKind::List(_) => json!(["something else"]),
            ParamKind::Ratio
            | ParamKind::Duration(_)
            | ParamKind::Timestamp
            | ParamKind::Count
            | ParamKind::Number
            | ParamKind::Id(_)
            | ParamKind::Flag
            | ParamKind::Enum
            | ParamKind::Text
            | ParamKind::Url => return None,
        };
        let as_type =
            if param.schema.get("type") == Some(&json!("string")) && value.is_number() { json!(value.to_string()) } else { value };
        JsonSchema::new(param.schema.clone()).violations(&as_type).is_empty().then_some(as_type)
    }
}

/// Returns the JSON pointers of all scalars.
fn leaf_paths(value: &Value) -> Vec<String> {
    let nested = |key: String, inner: &Value| leaf_paths(inner).into_iter().map(move |path| format!("/{key}{path}"));
    match value {
        Value::Array(items) => items.iter().enumerate().flat_map(|(n, item)| nested(n.to_string(), item)).collect(),
        Value::Object(entries) => {
            entries.iter().flat_map(|(key, entry)| nested(key.replace('~', "~0").replace('/', "~1"), entry)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![String::new()],
    }
}

/// Returns a different value of the same JSON type.
fn other_leaf(value: &Value) -> Value {
    match value {
        Value::Null => json!("something else"),
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => number.as_f64().map_or_else(|| json!(1), |number| doubled_plus_one(number, number.fract() == 0.0)),
        Value::String(text) if text.starts_with("0x") => json!(UNKNOWN_ADDRESS),
        Value::String(text) => match text.parse::<f64>() {
            Ok(number) => json!(doubled_plus_one(number, number.fract() == 0.0).to_string()),
            Err(_) => json!("something_else"),
        },
        Value::Array(items) => Value::Array(items.iter().map(other_leaf).collect()),
        Value::Object(entries) => Value::Object(entries.iter().map(|(key, entry)| (key.clone(), other_leaf(entry))).collect()),
    }
}
