//! Templates: those with plain variables alone are rendered here, as Nunjucks would; all others in the script process.

use script::{ScriptPool, ScriptReply, ScriptRequest};
use serde_json::{Map, Value};

pub(crate) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

/// Renders a template with `{{ name }}` alone; `None` if it has anything else, or a value that only JavaScript prints.
pub(crate) fn render_plain(template: &str, vars: &Map<String, Value>) -> Option<String> {
    if template.contains("{%") || template.contains("{#") {
        return None;
    }
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        out.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        let end = inner.find("}}")?;
        let name = inner[..end].trim();
        let plain =
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !plain || RESERVED.contains(&name) {
            return None;
        }
        match vars.get(name) {
            Some(Value::String(text)) => out.push_str(text),
            Some(Value::Bool(value)) => out.push_str(if *value { "true" } else { "false" }),
            Some(Value::Number(number)) if number.is_i64() => out.push_str(&number.to_string()),
            Some(Value::Null) | None => {}
            Some(Value::Number(_) | Value::Array(_) | Value::Object(_)) => return None,
        }
        rest = &inner[end + 2..];
    }
    out.push_str(rest);
    Some(out)
}

/// Renders the texts of a JSON value like [`render_plain`]; `None` if one of them cannot be.
pub(crate) fn render_plain_value(value: &Value, vars: &Map<String, Value>) -> Option<Value> {
    Some(match value {
        Value::String(text) if is_template(text) => Value::String(render_plain(text, vars)?),
        Value::Array(items) => Value::Array(items.iter().map(|item| render_plain_value(item, vars)).collect::<Option<_>>()?),
        Value::Object(fields) => {
            let rendered = fields.iter().map(|(key, value)| Some((key.clone(), render_plain_value(value, vars)?)));
            Value::Object(rendered.collect::<Option<_>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    })
}

/// Names that are not variables.
const RESERVED: &[&str] =
    &["env", "true", "false", "none", "null", "range", "cycler", "joiner", "not", "and", "or", "in", "is", "loop", "super", "caller"];

/// Renders templates with one set of variables.
///
/// # Errors
/// The error of the first template that fails, or of the script process.
pub(crate) async fn render_all(
    pool: &ScriptPool,
    templates: Vec<String>,
    vars: &Map<String, Value>,
    env: &Value,
) -> Result<Vec<String>, String> {
    let plain: Option<Vec<String>> = templates
        .iter()
        .map(|template| if is_template(template) { render_plain(template, vars) } else { Some(template.clone()) })
        .collect();
    if let Some(rendered) = plain {
        return Ok(rendered);
    }
    let request = ScriptRequest::Render { templates, vars: Value::Object(vars.clone()), env: env.clone() };
    match pool.run(request).await.map_err(|why| why.to_string())? {
        ScriptReply::Rendered(rendered) => {
            rendered.into_iter().map(|one| one.map_err(|why| format!("a template cannot be rendered: {why}"))).collect()
        }
        ScriptReply::Stopped(why) | ScriptReply::Threw(why) => Err(format!("a template was stopped: {why}")),
        ScriptReply::Returned { .. } => Err("a template gave no text".to_owned()),
    }
}

/// Renders one template.
pub(crate) async fn render(pool: &ScriptPool, template: &str, vars: &Map<String, Value>, env: &Value) -> Result<String, String> {
    if !is_template(template) {
        return Ok(template.to_owned());
    }
    if let Some(rendered) = render_plain(template, vars) {
        return Ok(rendered);
    }
    Ok(render_all(pool, vec![template.to_owned()], vars, env).await?.pop().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_variables_are_rendered_here() {
        let Value::Object(vars) = json!({"a": "x{{b}}", "n": 3, "f": 1.5, "t": true, "z": null, "o": {}}) else { unreachable!() };
        assert_eq!(render_plain("{{a}}-{{ n }}{{t}}{{z}}{{missing}}}", &vars).as_deref(), Some("x{{b}}-3true}"));
        for other in ["{{ f }}", "{{ o }}", "{{ a | upper }}", "{% if a %}{% endif %}", "{{ a.b }}", "{{- a }}", "{{ a", "{{ env }}"] {
            assert_eq!(render_plain(other, &vars), None, "{other}");
        }
    }
}
