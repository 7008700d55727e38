//! Paths into JSON values: `$.a.b[0]`, `$["a b"]`, `$.rows[*].id`.

use crate::problem::ProblemReport;
use crate::yaml::{YamlNode, text};
use serde_json::Value;
use std::fmt;

/// Maximum steps of a path.
const MAX_STEPS: usize = 32;
/// Maximum values that a path with wildcards selects.
const MAX_SELECTED: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath {
    written: String,
    steps: Vec<PathStep>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    Key(String),
    Index(usize),
    /// Every item of a list.
    Every,
}

impl JsonPath {
    /// Parses a path. Returns `None` if it is not one.
    pub fn parse(written: &str) -> Option<Self> {
        let mut rest = written.strip_prefix('$')?;
        let mut steps = vec![];
        while !rest.is_empty() {
            let (step, after) = next_step(rest)?;
            steps.push(step);
            rest = after;
        }
        (steps.len() <= MAX_STEPS).then(|| Self { written: written.to_owned(), steps })
    }

    /// Returns the values at the path; without wildcards at most one.
    pub fn select<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for step in &self.steps {
            found = found
                .into_iter()
                .flat_map(|value| match (step, value) {
                    (PathStep::Key(key), value) => value.get(key).into_iter().collect::<Vec<_>>(),
                    (PathStep::Index(at), value) => value.get(at).into_iter().collect(),
                    (PathStep::Every, Value::Array(items)) => items.iter().collect(),
                    (PathStep::Every, _) => vec![],
                })
                .take(MAX_SELECTED)
                .collect();
        }
        found
    }
}

fn next_step(rest: &str) -> Option<(PathStep, &str)> {
    if let Some(named) = rest.strip_prefix('.') {
        let end = named.find(['.', '[']).unwrap_or(named.len());
        return (end > 0).then(|| (PathStep::Key(named[..end].to_owned()), &named[end..]));
    }
    let inner = rest.strip_prefix('[')?;
    if let Some(quote) = inner.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let (key, after) = inner[1..].split_once(quote)?;
        return Some((PathStep::Key(key.to_owned()), after.strip_prefix(']')?));
    }
    let (index, after) = inner.split_once(']')?;
    let step = if index == "*" { PathStep::Every } else { PathStep::Index(index.parse().ok()?) };
    Some((step, after))
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

pub(super) fn read_json_path(node: &YamlNode, report: &ProblemReport) -> Option<JsonPath> {
    let path = JsonPath::parse(&text(node, report)?);
    if path.is_none() {
        report.add(
            node.line,
            format!("{} is not a path into JSON", node.describe()),
            "write $.name, $.list[0], $.list[*].name or $[\"a b\"]",
        );
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_paths_select_values() {
        let value = json!({"a": {"b": [1, {"c d": 2}]}, "rows": [{"id": "x"}, {"id": "y"}, 3]});
        let select = |path: &str| JsonPath::parse(path).map(|path| path.select(&value).into_iter().cloned().collect::<Vec<_>>());
        assert_eq!(select("$.a.b[0]"), Some(vec![json!(1)]));
        assert_eq!(select("$.a.b[1][\"c d\"]"), Some(vec![json!(2)]));
        assert_eq!(select("$.rows[*].id"), Some(vec![json!("x"), json!("y")]));
        assert_eq!(select("$"), Some(vec![value.clone()]));
        for nothing in ["$.a.x", "$.a.b[7]", "$.a[*]", "$.rows.id"] {
            assert_eq!(select(nothing), Some(vec![]), "{nothing}");
        }
        for wrong in ["", "a.b", "$.", "$..a", "$[", "$[x]", "$['a]", "$a", "$[-1]"] {
            assert_eq!(select(wrong), None, "{wrong}");
        }
        assert!(JsonPath::parse(&format!("${}", ".a".repeat(MAX_STEPS + 1))).is_none());
    }
}
