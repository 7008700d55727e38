//! What tells two requests apart, said briefly: which leaf of the request, what was recorded, what is asked.

use crate::providers::talk::Request;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A request as its leaves by path.
pub type Flat = BTreeMap<String, String>;

pub(super) fn flat(seed: u64, request: &Request) -> Flat {
    let mut leaves = Flat::from([("seed".to_owned(), seed.to_string())]);
    let mut value = serde_json::to_value(request).unwrap_or_default();
    // Tools are told apart by name, not by where they stand in the list.
    if let Some(Value::Array(tools)) = value.get_mut("tools").map(Value::take) {
        for tool in tools {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            leaves.insert(format!("tool {name}"), tool.to_string());
        }
    }
    gather(&value, String::new(), &mut leaves);
    leaves
}

fn gather(value: &Value, path: String, leaves: &mut Flat) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => drop(leaves.insert(path, value.to_string())),
        Value::String(text) => drop(leaves.insert(path, text.clone())),
        Value::Array(items) => items.iter().enumerate().for_each(|(n, item)| gather(item, below(&n.to_string()), leaves)),
        Value::Object(entries) => entries.iter().for_each(|(name, item)| gather(item, below(name), leaves)),
    }
}

/// The leaves that differ: what was recorded there, and what is asked.
#[derive(Debug)]
pub(super) struct Difference(Vec<(String, Option<String>, Option<String>)>);

pub(super) fn between(recorded: &Flat, asked: &Flat) -> Difference {
    let gone = recorded.iter().filter(|(path, _)| !asked.contains_key(*path)).map(|(path, was)| (path.clone(), Some(was.clone()), None));
    let new = asked.iter().filter(|(path, is)| recorded.get(*path) != Some(*is));
    Difference(new.map(|(path, is)| (path.clone(), recorded.get(path).cloned(), Some(is.clone()))).chain(gone).collect())
}

const SHOWN: usize = 4;
const AROUND: usize = 30;
const LONGEST: usize = 120;

impl Difference {
    pub(super) fn size(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (path, was, is)) in self.0.iter().take(SHOWN).enumerate() {
            let (was_text, is_text) = (was.as_deref().unwrap_or_default(), is.as_deref().unwrap_or_default());
            // A long text is shown from a little before the first character that differs.
            let same = was_text.chars().zip(is_text.chars()).take_while(|(a, b)| a == b).count().saturating_sub(AROUND);
            let show = |text: &Option<String>| match text {
                Some(text) => format!("{:?}", text.chars().skip(same).take(LONGEST).collect::<String>()),
                None => "nothing".to_owned(),
            };
            let comma = if n > 0 { "; " } else { "" };
            write!(f, "{comma}{path}: recorded {}, asked {}", show(was), show(is))?;
        }
        match self.0.len() {
            more if more > SHOWN => write!(f, "; and {} more", more - SHOWN),
            _ => Ok(()),
        }
    }
}
