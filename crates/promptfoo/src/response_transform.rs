//! `transformResponse` of HTTP providers: the part of the body that is the output.

use crate::provider_answer::PendingTransform;
use crate::script_answer::response_body;
use script::{ScriptPool, ScriptReply, ScriptRequest};
use serde_json::{Value, json};

/// Applies a transform: a path such as `json.choices[0].text` is followed here, everything else is JavaScript.
///
/// # Errors
/// If the script throws or is stopped.
pub(crate) async fn transformed(pool: &ScriptPool, pending: PendingTransform) -> Result<Value, String> {
    let PendingTransform { source, json, text } = pending;
    if let Some(found) = json.as_ref().and_then(|json| at_path(json, &source)) {
        return Ok(found);
    }
    let request = ScriptRequest::body(response_body(&source), &json!({ "json": json, "text": text }), &json!({}));
    match pool.run(request).await.map_err(|why| why.to_string())? {
        ScriptReply::Returned { value: Value::Object(fields), .. } if fields.contains_key("output") => {
            Ok(fields.get("output").cloned().unwrap_or_default())
        }
        ScriptReply::Returned { kind, .. } if kind == "undefined" => Err("transformResponse returned nothing".to_owned()),
        ScriptReply::Returned { value, .. } => Ok(value),
        ScriptReply::Threw(why) | ScriptReply::Stopped(why) => Err(format!("transformResponse: {why}")),
        ScriptReply::Rendered(_) => Err("transformResponse gave no value".to_owned()),
    }
}

/// Follows a path of names and indices from `json`; `None` if the source is more than that, or the path does not end at a text or a
/// boolean, which JavaScript would return unchanged.
fn at_path(json: &Value, source: &str) -> Option<Value> {
    let mut rest = source.trim().strip_prefix("json")?;
    let mut found = json;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$')).unwrap_or(after.len());
            let (name, tail) = after.split_at(end);
            found = found.as_object()?.get(name)?;
            rest = tail;
        } else {
            let (index, tail) = rest.strip_prefix('[')?.split_once(']')?;
            found = found.as_array()?.get(index.parse::<usize>().ok()?)?;
            rest = tail;
        }
    }
    matches!(found, Value::String(_) | Value::Bool(_)).then(|| found.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_to_texts_need_no_script() {
        let json = json!({ "a": [{ "b_1": "x" }, { "c": true }], "n": 1.0, "o": { "output": 1 }, "s": "text" });
        assert_eq!(at_path(&json, " json.a[0].b_1 "), Some(json!("x")));
        assert_eq!(at_path(&json, "json.a[1].c"), Some(json!(true)));
        let scripts = [
            "json",
            "json.n",
            "json.o",
            "json.missing",
            "json.a[2]",
            "json.s.length",
            "json.s || 1",
            "jsonx",
            "json.a[0]['b_1']",
            "json?.s",
            "(json) => json.s",
        ];
        for source in scripts {
            assert_eq!(at_path(&json, source), None, "{source}");
        }
    }
}
