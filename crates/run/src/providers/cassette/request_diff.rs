//! Short description of the differences between two requests, by leaf of the JSON tree.

use crate::providers::chat::ModelRequest;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Leaves of a request by path.
pub type FlatRequest = BTreeMap<String, String>;

pub(super) fn flatten_request(seed: u64, request: &ModelRequest) -> FlatRequest {
    let mut leaves = FlatRequest::from([("seed".to_owned(), seed.to_string())]);
    let mut value = serde_json::to_value(request).unwrap_or_default();
    // Tools are keyed by name instead of position.
    if let Some(Value::Array(tools)) = value.get_mut("tools").map(Value::take) {
        for tool in tools {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            leaves.insert(format!("tool {name}"), tool.to_string());
        }
    }
    collect_leaves(&value, String::new(), &mut leaves);
    leaves
}

fn collect_leaves(value: &Value, path: String, leaves: &mut FlatRequest) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => drop(leaves.insert(path, value.to_string())),
        Value::String(text) => drop(leaves.insert(path, text.clone())),
        Value::Array(items) => items.iter().enumerate().for_each(|(n, item)| collect_leaves(item, below(&n.to_string()), leaves)),
        Value::Object(entries) => entries.iter().for_each(|(name, item)| collect_leaves(item, below(name), leaves)),
    }
}

/// Leaves that differ, with the recorded and the requested value.
#[derive(Debug)]
pub(super) struct RequestDiff(Vec<(String, Option<String>, Option<String>)>);

pub(super) fn diff_requests(recorded: &FlatRequest, asked: &FlatRequest) -> RequestDiff {
    let gone = recorded.iter().filter(|(path, _)| !asked.contains_key(*path)).map(|(path, was)| (path.clone(), Some(was.clone()), None));
    let new = asked.iter().filter(|(path, is)| recorded.get(*path) != Some(*is));
    RequestDiff(new.map(|(path, is)| (path.clone(), recorded.get(path).cloned(), Some(is.clone()))).chain(gone).collect())
}

const MAX_SHOWN: usize = 4;
const CONTEXT_CHARS: usize = 30;
const MAX_VALUE_CHARS: usize = 120;

impl fmt::Display for RequestDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (path, was, is)) in self.0.iter().take(MAX_SHOWN).enumerate() {
            let (was_text, is_text) = (was.as_deref().unwrap_or_default(), is.as_deref().unwrap_or_default());
            // Show long texts from shortly before the first difference.
            let same = was_text.chars().zip(is_text.chars()).take_while(|(a, b)| a == b).count().saturating_sub(CONTEXT_CHARS);
            let show = |text: &Option<String>| match text {
                Some(text) => format!("{:?}", text.chars().skip(same).take(MAX_VALUE_CHARS).collect::<String>()),
                None => "nothing".to_owned(),
            };
            let comma = if n > 0 { "; " } else { "" };
            write!(f, "{comma}{path}: recorded {}, requested {}", show(was), show(is))?;
        }
        match self.0.len() {
            more if more > MAX_SHOWN => write!(f, "; and {} more", more - MAX_SHOWN),
            _ => Ok(()),
        }
    }
}
