//! Plausible answers are valid and contain every described property.

use bardo_eval_jsongen::plausible;
use serde_json::{Value, json};

#[test]
fn plausible_answers_are_valid() {
    let schemas = crate::schemas::all().into_iter().map(|(_, schema)| schema).chain(crate::schemas::answers());
    for schema in schemas {
        let judge = jsonschema::draft202012::new(&schema).unwrap();
        for seed in 0..50 {
            let made = plausible(&schema, seed).unwrap_or_else(|unsupported| panic!("{schema}: {unsupported}"));
            assert!(judge.is_valid(&made), "{schema} gives {made}");
        }
    }
}

#[test]
fn plausible_answers_hold_every_property() {
    let made = plausible(&crate::schemas::swap(), 1).unwrap();
    assert_eq!(made.as_object().unwrap().len(), 5, "{made}");
    assert_eq!(made, plausible(&crate::schemas::swap(), 1).unwrap());
    assert_ne!(made, plausible(&crate::schemas::swap(), 2).unwrap());
}

#[test]
fn recursive_schema_omits_optional_recursion() {
    let node = json!({"type": "object", "required": ["v"], "properties": {
        "v": {"type": "integer", "minimum": 1},
        "next": {"$ref": "#/$defs/node"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    }});
    let tree = json!({"$defs": {"node": node}, "$ref": "#/$defs/node"});
    let made = plausible(&tree, 0).unwrap();
    assert!(made["v"].is_u64() && made["children"] == Value::Array(vec![]) && made.get("next").is_none(), "{made}");
    let endless = json!({"$defs": {"n": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"});
    assert!(plausible(&endless, 0).is_err());
}
