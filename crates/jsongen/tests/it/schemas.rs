//! Schemas under test: as the tool catalogue writes them, and as MCP servers send them.

use serde_json::{Value, json};

fn object(properties: Value, required: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn address() -> Value {
    json!({"type": "string", "pattern": "^0x[0-9a-fA-F]{40}$"})
}

pub(crate) fn swap() -> Value {
    object(
        json!({
            "token_in": {"type": "string", "description": "Token to sell."},
            "amount": {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?$"},
            "slippage_bps": {"type": "integer", "minimum": 1, "maximum": 5000, "default": 50},
            "recipient": address(),
            "chain": {"type": "string", "enum": ["ethereum", "base", "arbitrum"], "default": "ethereum"},
        }),
        json!(["token_in", "amount", "slippage_bps"]),
    )
}

fn flat() -> Vec<(&'static str, Value)> {
    let one = |schema: Value| object(json!({"x": schema}), json!(["x"]));
    vec![
        ("empty and closed", object(json!({}), json!([]))),
        ("empty and open", json!({"type": "object"})),
        ("swap", swap()),
        (
            "addresses and data",
            object(
                json!({"to": address(), "data": {"type": "string", "pattern": "^0x([0-9a-fA-F]{2})*$"}, "value": {"type": "string", "pattern": "^[0-9]+$"}}),
                json!(["to"]),
            ),
        ),
        ("slug with lengths", one(json!({"type": "string", "pattern": "^[a-z0-9][a-z0-9-]*$", "minLength": 3, "maxLength": 12}))),
        ("escapes of ECMA", one(json!({"type": "string", "pattern": "^\\d{4}-\\d{2}(\\/\\w+)?\\s?$"}))),
        ("pattern anywhere", one(json!({"type": "string", "pattern": "(buy|sell) \\d+"}))),
        (
            "lengths",
            object(
                json!({"a": {"type": "string", "minLength": 1, "maxLength": 1}, "b": {"type": "string", "maxLength": 64}, "c": {"type": "string", "minLength": 5}}),
                json!(["a"]),
            ),
        ),
        (
            "integers",
            object(
                json!({"any": {"type": "integer"}, "up": {"type": "integer", "minimum": 0}, "down": {"type": "integer", "exclusiveMaximum": -5}, "one": {"type": "integer", "minimum": 7, "maximum": 7}, "broad": {"type": "integer", "minimum": 0, "maximum": u64::MAX}, "rust": {"type": "integer", "format": "uint32", "minimum": 0}}),
                json!(["one", "broad"]),
            ),
        ),
        (
            "numbers",
            object(
                json!({"any": {"type": "number"}, "share": {"type": "number", "minimum": 0, "maximum": 1}, "open": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, "odd": {"type": "integer", "minimum": 0.5, "maximum": 9.5}}),
                json!(["share"]),
            ),
        ),
        (
            "boolean, null, constant",
            object(
                json!({"flag": {"type": "boolean"}, "none": {"type": "null"}, "version": {"const": 1}, "mode": {"const": "fast"}}),
                json!(["flag", "version"]),
            ),
        ),
        (
            "enums of all sorts",
            object(
                json!({"level": {"type": "integer", "enum": [1, 2, 3]}, "mixed": {"enum": ["a", 1, null, true, [1]]}, "yes": {"type": "boolean", "enum": [true]}}),
                json!(["level", "mixed"]),
            ),
        ),
        (
            "odd keys",
            object(
                json!({"a/b": {"type": "integer", "maximum": 3}, "c~d": {"type": "string", "minLength": 1}, "": {"type": "boolean"}}),
                json!(["a/b", ""]),
            ),
        ),
    ]
}

fn nested() -> Vec<(&'static str, Value)> {
    let point = || object(json!({"x": {"type": "number"}, "y": {"type": "number", "minimum": 0}}), json!(["x", "y"]));
    vec![
        (
            "lists",
            object(
                json!({"tokens": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "maxItems": 5}, "free": {"type": "array"}, "none": {"type": "array", "items": {"type": "integer"}, "maxItems": 0}}),
                json!(["tokens"]),
            ),
        ),
        (
            "unique items",
            object(
                json!({"set": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 2, "maxItems": 3, "uniqueItems": true}, "ids": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 20}, "uniqueItems": true}}),
                json!(["set"]),
            ),
        ),
        (
            "objects in lists in objects",
            object(
                json!({"path": {"type": "array", "minItems": 2, "items": point()}, "options": {"type": "object", "properties": {"deep": object(json!({"list": {"type": "array", "maxItems": 2, "items": {"type": "array", "minItems": 1, "items": {"type": "boolean"}}}}), json!(["list"]))}, "required": ["deep"]}}),
                json!(["path"]),
            ),
        ),
        (
            "nullable",
            object(
                json!({"limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 100}, "note": {"type": ["string", "null"], "maxLength": 8}}),
                json!(["limit"]),
            ),
        ),
        (
            "anyOf",
            object(
                json!({"chain": {"anyOf": [{"type": "string", "pattern": "^[a-z]+$"}, {"type": "integer", "minimum": 1}]}, "target": {"description": "either", "anyOf": [address(), {"type": "null"}], "default": null}}),
                json!(["chain"]),
            ),
        ),
        (
            "oneOf that overlaps",
            object(
                json!({"n": {"oneOf": [{"type": "integer", "minimum": 0, "maximum": 20}, {"type": "integer", "minimum": 10, "maximum": 30}]}}),
                json!(["n"]),
            ),
        ),
        (
            "oneOf objects",
            object(
                json!({"order": {"oneOf": [object(json!({"kind": {"const": "market"}, "size": {"type": "integer", "minimum": 1}}), json!(["kind", "size"])), object(json!({"kind": {"const": "limit"}, "price": {"type": "number", "exclusiveMinimum": 0}}), json!(["kind", "price"]))]}}),
                json!(["order"]),
            ),
        ),
        (
            "either key",
            json!({"type": "object", "properties": {"to": address(), "action_id": {"type": "string", "minLength": 1}}, "additionalProperties": false, "anyOf": [{"required": ["to"]}, {"required": ["action_id"]}]}),
        ),
        (
            "shaped extra keys",
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string", "maxLength": 4}}),
        ),
        ("keywords without a type", object(json!({"v": {"minimum": 3, "minLength": 2}, "w": true, "u": {}}), json!(["v"]))),
        (
            "references and allOf",
            json!({"type": "object", "$defs": {"amount": {"type": "string", "pattern": "^[0-9]+$"}, "paid": {"required": ["fee"], "properties": {"fee": {"$ref": "#/$defs/amount"}}}},
                "allOf": [{"$ref": "#/$defs/paid"}, {"properties": {"tip": {"allOf": [{"$ref": "#/$defs/amount"}, {"maxLength": 4}]}}}]}),
        ),
        (
            "multiples and tuples",
            object(
                json!({"even": {"type": "integer", "multipleOf": 2, "minimum": 1, "maximum": 9}, "tens": {"type": "number", "multipleOf": 10}, "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer", "minimum": 0}], "items": {"type": "null"}, "minItems": 2, "maxItems": 3}}),
                json!(["even", "pair"]),
            ),
        ),
        ("required but unnamed", json!({"type": "object", "required": ["id"], "properties": {}})),
    ]
}

pub(crate) fn all() -> Vec<(&'static str, Value)> {
    let mut all = flat();
    all.extend(nested());
    all
}

/// Schemas that occur only for answers: roots of any type, formats, examples.
pub(crate) fn answers() -> Vec<Value> {
    vec![
        json!({"type": "object", "properties": {"when": {"type": "string", "format": "date-time"}, "id": {"type": "string", "format": "uuid"}}}),
        json!({"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 4}),
        json!({"oneOf": [{"const": 1}, {"type": "object", "required": ["z"], "properties": {"z": {"type": "number", "exclusiveMinimum": 0, "maximum": 1}}}]}),
        json!({"allOf": [{"type": "object", "properties": {"a": {"const": 1}}}, {"required": ["a", "b"], "properties": {"b": {"type": "null"}}}]}),
        json!({"type": ["integer", "null"], "exclusiveMaximum": 0}),
        json!({"type": "string", "pattern": "^0x[0-9a-f]{4}$", "examples": ["0xbeef"]}),
        json!({"type": "object", "patternProperties": {"^x": {"type": "null"}}, "properties": {"a": {"type": "boolean"}}}),
        json!({}),
    ]
}
