//! Writes JSON values as block-style YAML.

use serde_json::Value;

/// Returns a JSON value as YAML that reads back as the same value. Strings are quoted as in JSON, so none is read as another type.
pub fn emit(value: &Value) -> String {
    let mut out = String::new();
    emit_block(value, 0, &mut out);
    out
}

fn emit_block(value: &Value, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (key, item) in entries {
                out.push_str(&format!("{pad}{}:", emit_key(key)));
                emit_after_key(item, indent, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                match item {
                    Value::Object(entries) if !entries.is_empty() => {
                        let mut inner = String::new();
                        emit_block(item, indent + 2, &mut inner);
                        // The first key is on the line of the dash.
                        out.push_str(&format!("{pad}- {}", &inner[indent + 2..]));
                    }
                    Value::Array(nested) if !nested.is_empty() => {
                        out.push_str(&format!("{pad}-\n"));
                        emit_block(item, indent + 2, out);
                    }
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                        out.push_str(&format!("{pad}- {item}\n"));
                    }
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            out.push_str(&format!("{pad}{value}\n"));
        }
    }
}

fn emit_after_key(item: &Value, indent: usize, out: &mut String) {
    let nested = match item {
        Value::Object(entries) => !entries.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if nested {
        out.push('\n');
        emit_block(item, indent + 2, out);
    } else {
        out.push_str(&format!(" {item}\n"));
    }
}

fn emit_key(key: &str) -> String {
    let plain =
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && key.starts_with(|c: char| c.is_ascii_alphabetic());
    if plain { key.to_owned() } else { Value::String(key.to_owned()).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::ProblemReport;
    use crate::yaml::{YamlLimits, json, load};
    use serde_json::json;

    #[test]
    fn emitted_yaml_reads_back_equal() {
        let value = json!({
            "plain": "text", "tricky": ["no", "0x12", "1e5", "", "a: b", "- x", "line\nbreak", "ümläut \u{1F600} \u{7}"], "number": -1.5, "big": 9007199254740991_u64,
            "empty": {}, "none": [], "null": null, "yes": true, "nested": [[1, 2], [{"a": [{"b": null, "c": {"d": []}}]}], []], "$ref": "#/x", "": 1, "12": 2,
            "tiny": 1e-7, "huge": 1e300,
        });
        let text = emit(&value);
        let report = ProblemReport::new("f");
        let node = load(&text, YamlLimits::default(), &report);
        let back = node.and_then(|node| json(&node, &report));
        assert_eq!(back, Some(value), "{text}\n{:?}", report.into_problems());
    }
}
