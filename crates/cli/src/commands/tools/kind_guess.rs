//! Guesses the kinds of imported parameters from name, type and format. A person corrects them in the tool file.

use serde_json::Value;

/// Returns the guessed kind. Without a policy no parameter is a token, chain, amount or address. The items of an array are guessed by the name of the array, like a single value.
pub(super) fn guess_kind(name: &str, schema: &Value, has_policy: bool) -> String {
    let guess_single = if has_policy { guess_single } else { guess_plain };
    let schema = without_null(schema);
    if declared_type(schema) != Some("array") {
        return guess_single(&name.to_lowercase(), schema).to_owned();
    }
    let items = schema.get("items").map(without_null);
    let item = items.map_or("text", |items| guess_single(&name.to_lowercase(), items));
    format!("list({item})")
}

/// Guesses by type and format alone.
fn guess_plain(_: &str, schema: &Value) -> &'static str {
    match (declared_type(schema), schema["format"].as_str()) {
        (Some("string"), _) if schema["enum"].as_array().is_some_and(|values| values.len() > 1) => "enum",
        (Some("boolean"), _) => "flag",
        (Some("integer"), _) => "count",
        (Some("number"), _) => "number",
        (Some("object"), _) => "object",
        (Some("string"), Some("date-time" | "date")) => "timestamp",
        (Some("string"), Some("uri" | "url")) => "url",
        (Some(_) | None, _) => "text",
    }
}

fn guess_single(name: &str, schema: &Value) -> &'static str {
    let is = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match (declared_type(schema), schema["format"].as_str()) {
        (Some("string"), _) if schema.get("enum").is_some() => "enum",
        (Some("boolean"), _) => "flag",
        (Some("integer"), _) if is(&["chain"]) => "chain",
        (Some("integer"), _) if is(&["bps"]) => "bps",
        (Some("integer"), _) => "count",
        (Some("number"), _) if is(&["percent", "pct"]) => "percent",
        (Some("number"), _) if is(&["ratio", "leverage"]) => "ratio",
        (Some("number"), _) if is(&["price"]) => "price",
        (Some("number"), _) if is(&["amount"]) => "amount(human)",
        (Some("number"), _) => "number",
        (Some("object"), _) => "object",
        (Some("string"), Some("date-time" | "date")) => "timestamp",
        (Some("string"), Some("duration")) => "duration(text)",
        (Some("string"), Some("uri" | "uri-reference" | "url")) => "url",
        (Some("string"), _) if is(&["recipient", "payee"]) => "address(recipient)",
        (Some("string"), _) if is(&["spender"]) => "address(spender)",
        (Some("string"), Some("address" | "ethereum-address" | "evm-address")) => "address(wallet)",
        (Some("string"), _) if is(&["address", "wallet"]) => "address(wallet)",
        (Some("string"), _) if is(&["token", "asset", "coin"]) => "token",
        (Some("string"), _) if is(&["chain", "network"]) => "chain",
        (Some("string"), _) if is(&["amount"]) => "amount(human)",
        (Some("string"), _) if is(&["url", "uri", "path"]) => "url",
        (Some(_) | None, _) => "text",
    }
}

/// Returns the type of a schema; of several, the first that is not null.
fn declared_type(schema: &Value) -> Option<&str> {
    let declared = &schema["type"];
    match declared.as_array() {
        Some(types) => types.iter().filter_map(Value::as_str).find(|word| *word != "null"),
        None => declared.as_str(),
    }
}

/// Returns the only alternative besides null, as servers write optional parameters; otherwise the schema itself.
fn without_null(schema: &Value) -> &Value {
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array());
    let mut others = alternatives.into_iter().flatten().filter(|one| one["type"] != "null");
    match (others.next(), others.next()) {
        (Some(only), None) => only,
        (_, _) => schema,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn list_items_get_the_kind_of_a_single_value() {
        let strings = json!({"type": "array", "items": {"type": "string"}});
        for (name, kind) in [
            ("recipients", "list(address(recipient))"),
            ("walletAddresses", "list(address(wallet))"),
            ("tokens", "list(token)"),
            ("amounts", "list(amount(human))"),
            ("chains", "list(chain)"),
            ("notes", "list(text)"),
        ] {
            assert_eq!(guess_kind(name, &strings, true), kind, "{name}");
        }
        assert_eq!(guess_kind("chain_ids", &json!({"type": "array", "items": {"type": "integer"}}), true), "list(chain)");
        assert_eq!(guess_kind("weights", &json!({"type": "array", "items": {"type": "number"}}), true), "list(number)");
        assert_eq!(guess_kind("links", &json!({"type": "array", "items": {"type": "string", "format": "uri"}}), true), "list(url)");
        assert_eq!(guess_kind("legs", &json!({"type": "array", "items": {"type": "object"}}), true), "list(object)");
        for schema in [json!({"type": "array"}), json!({"type": "array", "items": {"type": "array"}})] {
            assert_eq!(guess_kind("anything", &schema, true), "list(text)", "lists of lists have no kind");
        }
    }

    #[test]
    fn optional_parameters_are_guessed_like_required_ones() {
        let optional = json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]});
        assert_eq!(guess_kind("tokens", &optional, true), "list(token)");
        assert_eq!(guess_kind("to_address", &json!({"type": ["string", "null"]}), true), "address(wallet)");
        assert_eq!(guess_kind("limit", &json!({"type": ["null", "integer"]}), true), "count");
        assert_eq!(
            guess_kind("token", &json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), true),
            "text",
            "two types are no type"
        );
    }

    #[test]
    fn parameters_have_plain_kinds_without_a_policy() {
        for name in ["token", "wallet_address", "chain", "amount", "recipient", "path"] {
            assert_eq!(guess_kind(name, &json!({"type": "string"}), false), "text", "{name}");
        }
        assert_eq!(guess_kind("chain_id", &json!({"type": "integer"}), false), "count");
        assert_eq!(guess_kind("tokens", &json!({"type": "array", "items": {"type": "string"}}), false), "list(text)");
        assert_eq!(guess_kind("sort", &json!({"type": "string", "enum": ["name", "size"]}), false), "enum");
        assert_eq!(guess_kind("only", &json!({"type": "string", "enum": ["name"]}), false), "text", "one value is no choice");
    }

    #[test]
    fn every_guess_is_a_kind() {
        for name in ["recipient", "spender", "address", "token", "chain", "amount", "url", "percent", "ratio", "price", "other"] {
            for declared in ["string", "integer", "number", "boolean", "object", "array", "null"] {
                for schema in [json!({"type": declared}), json!({"type": "array", "items": {"type": declared}})] {
                    for kind in [guess_kind(name, &schema, true), guess_kind(name, &schema, false)] {
                        assert!(kind.parse::<model::ParamKind>().is_ok(), "{name} {schema}: {kind}");
                    }
                }
            }
        }
    }
}
