//! Judged by the real validator: what we call valid it accepts, what we call invalid it refuses.

use std::collections::BTreeSet;

use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use serde_json::{Value, json};

use super::{Why, invalid, samples, schemas, valid};

const EACH: usize = 200;

#[test]
fn the_validator_agrees_with_every_sample() {
    for (name, schema) in schemas::all() {
        let judge = jsonschema::validator_for(&schema).unwrap();
        let samples = samples(&schema, 7, EACH).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!((samples.valid.len(), samples.invalid.len()), (EACH, EACH), "{name}");
        for value in &samples.valid {
            assert!(judge.is_valid(value), "{name}: refused {value}: {:?}", judge.validate(value));
        }
        for sample in &samples.invalid {
            assert!(!judge.is_valid(&sample.value), "{name}: accepted {} although {}", sample.value, sample.why);
        }
    }
}

/// Where no alternatives are involved, the validator must find the mutation we named at the place we named, and nothing elsewhere.
#[test]
fn the_validator_finds_the_mutation_where_we_say() {
    for (name, schema) in schemas::all() {
        let text = schema.to_string();
        if text.contains("anyOf") || text.contains("oneOf") {
            continue;
        }
        let judge = jsonschema::validator_for(&schema).unwrap();
        for sample in samples(&schema, 11, EACH).unwrap().invalid {
            for error in judge.iter_errors(&sample.value) {
                let found = error.instance_path().as_str().to_owned();
                assert!(found.starts_with(sample.why.at()), "{name}: {} but {error} at {found}", sample.why);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_samples_and_another_seed_others() {
    let schema = schemas::swap();
    assert_eq!(samples(&schema, 1, 50), samples(&schema, 1, 50));
    assert_ne!(samples(&schema, 1, 50), samples(&schema, 2, 50));
}

#[test]
fn every_mutation_is_shown() {
    let mut seen = BTreeSet::new();
    for (_, schema) in schemas::all() {
        seen.extend(samples(&schema, 3, 100).unwrap().invalid.iter().map(|sample| sample.why.mutation()));
    }
    assert_eq!(seen.len(), 13, "{seen:?}");
    let swap = samples(&schemas::swap(), 3, 10).unwrap().invalid;
    let of_swap: BTreeSet<_> = swap.iter().map(|sample| sample.why.mutation()).collect();
    assert!(
        of_swap.is_superset(&BTreeSet::from([
            "missing key",
            "extra key",
            "wrong type",
            "below the minimum",
            "above the maximum",
            "outside the enum",
            "breaks the pattern"
        ])),
        "{of_swap:?}"
    );
}

#[test]
fn every_wrong_type_is_shown() {
    let samples = samples(&schemas::swap(), 5, 200).unwrap();
    let got = samples.invalid.iter().filter_map(|sample| {
        let Why::WrongType { at, got, .. } = &sample.why else { return None };
        (at == "/slippage_bps").then(|| got.name())
    });
    let got: BTreeSet<_> = got.collect();
    assert_eq!(got, BTreeSet::from(["array", "boolean", "null", "number", "object", "string"]));
}

#[test]
fn valid_values_visit_the_boundaries() {
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

fn least(strategy: &impl proptest::strategy::Strategy<Value = Value>, fails: impl Fn(&Value) -> bool) -> Value {
    let mut runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, super::dice::rng(4));
    let outcome = runner.run(strategy, |value| if fails(&value) { Err(TestCaseError::fail("planted")) } else { Ok(()) });
    match outcome {
        Err(TestError::Fail(_, value)) => value,
        other => panic!("no counterexample: {other:?}"),
    }
}

#[test]
fn a_failing_value_shrinks_to_the_least_one() {
    let strategy = valid(&schemas::swap()).unwrap();
    let over = least(&strategy, |v| v["slippage_bps"].as_f64().is_some_and(|bps| bps > 300.0));
    assert_eq!(over, json!({"token_in": "", "amount": "0", "slippage_bps": 301}));
    let paid = least(&strategy, |v| v.get("recipient").is_some());
    let zero = "0x0000000000000000000000000000000000000000";
    assert_eq!(paid, json!({"token_in": "", "amount": "0", "slippage_bps": 1, "recipient": zero}));
}

#[test]
fn shrinking_an_invalid_value_keeps_its_mutation() {
    use proptest::strategy::{Strategy, ValueTree};
    let schema = schemas::swap();
    let judge = jsonschema::validator_for(&schema).unwrap();
    let strategy = invalid(&schema).unwrap();
    let mut runner = TestRunner::new_with_rng(Config::default(), super::dice::rng(6));
    for _ in 0..50 {
        let mut tree = strategy.new_tree(&mut runner).unwrap();
        let why = tree.current().why;
        while tree.simplify() {
            let now = tree.current();
            assert!(now.why == why && !judge.is_valid(&now.value), "{why}: {}", now.value);
        }
    }
}

#[test]
fn what_cannot_be_generated_is_named() {
    let refused = |x: Value| {
        let schema = json!({"type": "object", "properties": {"x": x}});
        let why = samples(&schema, 0, 1).unwrap_err();
        (why.keyword, why.path)
    };
    let at_x = |keyword: &str| (keyword.to_owned(), String::from("/properties/x"));
    assert_eq!(refused(json!({"$ref": "#/$defs/x"})), at_x("$ref"));
    assert_eq!(refused(json!({"allOf": [{}]})), at_x("allOf"));
    assert_eq!(refused(json!({"type": "number", "multipleOf": 2})), at_x("multipleOf"));
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
    assert_eq!(samples(&json!({"type": "array"}), 0, 1).unwrap_err().keyword, "type");
    let closed = json!({"type": "object", "required": ["a"], "additionalProperties": false});
    let message = samples(&closed, 0, 1).unwrap_err().to_string();
    assert_eq!(message, "cannot generate values for `required` in the schema: a is required but not among the properties");
}
