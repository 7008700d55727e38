//! Checks samples with the `jsonschema` crate: it accepts every valid one and rejects every invalid one.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod plausible;
mod reference_tools;
mod schemas;

use std::collections::BTreeSet;

use bardo_eval_jsongen::{JsonType, Mutation, SampleSet, samples};
use serde_json::{Value, json};

const SAMPLES_PER_SCHEMA: usize = 200;

/// Generates samples and asserts that the validator agrees with each.
fn validated_samples(name: &str, schema: &Value, seed: u64, each: usize) -> SampleSet {
    let judge = jsonschema::draft202012::new(schema).unwrap();
    let samples = samples(schema, seed, each).unwrap_or_else(|unsupported| panic!("{name}: {unsupported}"));
    assert_eq!((samples.valid.len(), samples.invalid.len()), (each, each), "{name}");
    for value in &samples.valid {
        assert!(judge.is_valid(value), "{name}: rejected {value}: {:?}", judge.validate(value));
    }
    for sample in &samples.invalid {
        assert!(!judge.is_valid(&sample.value), "{name}: accepted {} although {sample}", sample.value);
    }
    samples
}

#[test]
fn validator_agrees_with_every_sample() {
    for (name, schema) in schemas::all() {
        validated_samples(name, &schema, 7, SAMPLES_PER_SCHEMA);
    }
}

/// Without `anyOf` and `oneOf`, every validator error must lie at or below the reported site.
#[test]
fn validator_finds_the_mutation_at_its_place() {
    for (name, schema) in schemas::all() {
        let text = schema.to_string();
        if text.contains("anyOf") || text.contains("oneOf") {
            continue;
        }
        let judge = jsonschema::validator_for(&schema).unwrap();
        for sample in samples(&schema, 11, SAMPLES_PER_SCHEMA).unwrap().invalid {
            for error in judge.iter_errors(&sample.value) {
                let found = error.instance_path().as_str().to_owned();
                assert!(found.starts_with(&sample.at), "{name}: {sample} but {error} at {found}");
            }
        }
    }
}

#[test]
fn same_seed_same_samples() {
    let schema = schemas::swap();
    assert_eq!(samples(&schema, 1, 50), samples(&schema, 1, 50));
    assert_ne!(samples(&schema, 1, 50), samples(&schema, 2, 50));
}

#[test]
fn every_kind_of_mutation_occurs() {
    let names = |set: SampleSet| set.invalid.into_iter().map(|sample| sample.mutation.name()).collect::<BTreeSet<_>>();
    let seen: BTreeSet<_> = schemas::all().iter().flat_map(|(_, schema)| names(samples(schema, 3, 100).unwrap())).collect();
    assert_eq!(seen.len(), 13, "{seen:?}");
    let of_swap = names(samples(&schemas::swap(), 3, 10).unwrap());
    let expected =
        ["missing key", "extra key", "wrong type", "below the minimum", "above the maximum", "outside the enum", "breaks the pattern"];
    assert!(of_swap.is_superset(&BTreeSet::from(expected)), "{of_swap:?}");
}

#[test]
fn every_wrong_type_occurs() {
    let samples = samples(&schemas::swap(), 5, 200).unwrap();
    let got_at = |at: &str| -> BTreeSet<&str> {
        let wrong = samples.invalid.iter().filter(|sample| sample.at == at && matches!(sample.mutation, Mutation::WrongType(_)));
        wrong.map(|sample| JsonType::of(sample.value.pointer(at).unwrap()).name()).collect()
    };
    assert_eq!(got_at("/slippage_bps"), BTreeSet::from(["array", "boolean", "null", "number", "object", "string"]));
    assert_eq!(got_at(""), BTreeSet::from(["array", "boolean", "integer", "null", "number", "string"]));
}

#[test]
fn valid_samples_visit_the_boundaries() {
    let valid = samples(&schemas::swap(), 9, 50).unwrap().valid;
    let any = |test: &dyn Fn(&Value) -> bool| valid.iter().any(test);
    assert!(any(&|v| v["slippage_bps"] == 1));
    assert!(any(&|v| v["slippage_bps"] == 5000));
    assert!(any(&|v| v["slippage_bps"].is_f64()), "5.0 is an integer");
    assert!(any(&|v| v.as_object().unwrap().len() == 3), "no optional key");
    assert!(any(&|v| v.as_object().unwrap().len() == 5), "all optional keys");
    assert!(any(&|v| v["token_in"] == ""));
    assert!(any(&|v| v["token_in"].as_str().unwrap().chars().count() >= 500));
    assert!(any(&|v| !v["token_in"].as_str().unwrap().is_ascii()));
}

#[test]
fn unsupported_keywords_are_named() {
    let refused = |x: Value| {
        let schema = json!({"type": "object", "properties": {"x": x}});
        let unsupported = samples(&schema, 0, 1).unwrap_err();
        (unsupported.keyword, unsupported.path)
    };
    let at_x = |keyword: &str| (keyword.to_owned(), String::from("/properties/x"));
    assert_eq!(refused(json!({"$ref": "#/$defs/x"})), at_x("$ref"));
    assert_eq!(refused(json!({"$ref": "#/properties/x"})), at_x("$ref"));
    assert_eq!(refused(json!({"allOf": [{"type": "string"}, {"type": "null"}]})), at_x("type"));
    assert_eq!(refused(json!({"type": "number", "multipleOf": 0.5})), at_x("multipleOf"));
    assert_eq!(refused(json!({"type": "string", "format": "uri"})), at_x("format"));
    assert_eq!(refused(json!({"type": "string", "pattern": "^(?=a)b$"})), at_x("pattern"));
    assert_eq!(refused(json!({"type": "string", "pattern": "^a{3}$", "maxLength": 2})), at_x("pattern"));
    assert_eq!(refused(json!({"type": "integer", "minimum": 2, "maximum": 1})), at_x("minimum"));
    assert_eq!(refused(json!({"type": "array", "items": {"type": "boolean"}, "minItems": 3, "uniqueItems": true})), at_x("uniqueItems"));
    assert_eq!(refused(json!({"type": "array", "items": {"not": {}}})), (String::from("not"), String::from("/properties/x/items")));
    assert_eq!(refused(json!({"type": "string", "minLength": 1_000_000})), at_x("minLength"));
    assert_eq!(refused(json!({"type": "array", "minItems": 1_000_000})), at_x("minItems"));
    assert_eq!(refused(json!({"type": "number", "maximum": 9_007_199_254_740_993_u64})), at_x("maximum"));
    assert_eq!(refused(json!(false)), at_x("schema"));
    assert_eq!(refused(json!({"type": "nothing"})), at_x("type"));
    assert_eq!(samples(&json!({"type": "array"}), 0, 1).unwrap_err().keyword, "type");
    let closed = json!({"type": "object", "required": ["a"], "additionalProperties": false});
    let message = samples(&closed, 0, 1).unwrap_err().to_string();
    assert_eq!(message, "cannot generate values for `required` in the schema: a is required but not among the properties");
}

#[test]
fn exponential_schemas_are_refused() {
    let mut defs = json!({"t40": {"type": "null"}});
    for n in 0..40 {
        let next = format!("#/$defs/t{}", n + 1);
        defs[format!("t{n}")] = json!({"type": "object", "properties": {"a": {"$ref": next.clone()}, "b": {"$ref": next}}});
    }
    let doubling = json!({"type": "object", "$defs": defs, "properties": {"x": {"$ref": "#/$defs/t0"}}});
    assert_eq!(samples(&doubling, 0, 1).unwrap_err().because, "it is too large or nested too deeply");
    let level = |items: Value| json!({"type": "array", "minItems": 1000, "items": items});
    let many = json!({"type": "object", "required": ["x"], "properties": {"x": level(level(level(json!({"type": "null"}))))}});
    assert_eq!(samples(&many, 0, 1).unwrap_err().because, "found no value that satisfies all of it");
}
