//! Merges the keywords beside `anyOf`, `oneOf`, `allOf` or `$ref` with those of the branch.

use serde_json::{Map, Value};

type MergeKeywords = Map<String, Value>;

/// Reports whether a keyword has no effect on validation.
#[rustfmt::skip]
pub(crate) fn is_annotation(keyword: &str) -> bool {
    keyword.starts_with("x-") || matches!(
        keyword,
        "$schema" | "$id" | "$comment" | "$defs" | "definitions" | "title" | "description" | "default" | "examples" | "example"
            | "deprecated" | "readOnly" | "writeOnly"
    )
}

/// Returns a keyword that prevents an exact merge, if there is one.
pub(crate) fn conflicting_keyword<'a>(beside: &'a MergeKeywords, branch: &MergeKeywords) -> Option<&'a str> {
    // `additionalProperties` sees only the properties beside it, so the two lists cannot be merged.
    let closed = |map: &MergeKeywords| map.get("additionalProperties").is_some_and(|extra| *extra != Value::Bool(true));
    let named = |map: &MergeKeywords| map.contains_key("properties");
    if (closed(beside) && named(branch)) || (closed(branch) && named(beside)) {
        return Some("additionalProperties");
    }
    let differs = |(word, value): &(&'a String, &Value)| match (word.as_str(), value, branch.get(*word)) {
        (_, _, None) | ("required", ..) => false,
        ("properties", Value::Object(ours), Some(Value::Object(theirs))) => {
            ours.iter().any(|(name, schema)| theirs.get(name).is_some_and(|other| other != schema))
        }
        (word, value, Some(other)) => *value != other && !is_annotation(word),
    };
    beside.iter().find(differs).map(|(word, _)| word.as_str())
}

/// Returns the merged keywords; on conflict the branch wins.
pub(crate) fn merge_keywords(beside: &MergeKeywords, branch: &MergeKeywords) -> MergeKeywords {
    let mut merged = beside.clone();
    for (word, value) in branch {
        match (word.as_str(), merged.get_mut(word), value) {
            ("properties", Some(Value::Object(known)), Value::Object(more)) => known.extend(more.clone()),
            ("required", Some(Value::Array(known)), Value::Array(more)) => known.extend(more.iter().cloned()),
            _ => drop(merged.insert(word.clone(), value.clone())),
        }
    }
    merged
}
