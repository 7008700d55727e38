use super::*;
use crate::yaml::test_support::{assert_problems, assert_required_keys, read_ok};

const GATES: &str = r#"gates:
  - why: A correct tool is useless if the model does not pick it.
    id: hit_rate
    spec: "2.1 Hit rate"
    scorer: hit
    slice: { each: profile, except: [full] }
    tiers: [2, 3]
    min_cases: 10
    aggregate: rate
    at_least: 0.85
"#;

fn with_slice(slice: &str) -> SliceSpec {
    read_ok(&GATES.replace("{ each: profile, except: [full] }", slice), read_gates).gates.remove(0).slice
}

#[test]
fn a_gate_is_read() {
    let gates = read_ok(GATES, read_gates).gates;
    let [gate] = gates.as_slice() else { panic!("{gates:?}") };
    assert_eq!((gate.id.as_str(), gate.id.at.line, gate.at.line), ("hit_rate", 3, 2));
    assert_eq!((&gate.spec, gate.spec.as_str()), (&GateOrigin::Spec("2.1 Hit rate".into()), "2.1 Hit rate"));
    assert_eq!((gate.scorer.as_str(), gate.tiers.as_slice(), gate.min_cases), ("hit", [2, 3].as_slice(), 10));
    assert_eq!((gate.aggregate, gate.bound), (GateAggregate::Rate, GateBound::AtLeast(0.85)));
    assert_eq!(gate.why, "A correct tool is useless if the model does not pick it.");
    assert_eq!((gate.slice.each, gate.slice.except[0].as_str()), (Some(SliceAxis::Profile), "full"));
    assert!(gate.slice.only.is_none());
}

#[test]
fn gate_parses_origin_bound_and_aggregate() {
    let ours = read_ok(&GATES.replace("\"2.1 Hit rate\"", "ours").replace("at_least: 0.85", "at_most: 0"), read_gates).gates.remove(0);
    assert_eq!((&ours.spec, ours.spec.as_str(), ours.bound), (&GateOrigin::Ours, "ours", GateBound::AtMost(0.0)));
    assert!(ours.bound.holds(0.0) && !ours.bound.holds(0.1));
    assert!(GateBound::AtLeast(0.5).holds(0.5) && !GateBound::AtLeast(0.5).holds(0.4));
    for (word, aggregate) in AGGREGATES {
        assert_eq!(read_ok(&GATES.replace("aggregate: rate", &format!("aggregate: {word}")), read_gates).gates[0].aggregate, *aggregate);
    }
}

#[test]
fn slice_is_pooled_per_axis_or_filtered() {
    let pooled = with_slice("pooled");
    assert!(pooled.each.is_none() && pooled.only.is_none() && pooled.except.is_empty());
    for (word, axis) in AXES {
        assert_eq!((with_slice(&format!("{{ each: {word} }}")).each, axis.word()), (Some(*axis), *word));
    }
    assert!(matches!(with_slice("{ only: { profile: a } }").only, Some(SliceFilter::Profile(name)) if *name == "a"));
    assert!(matches!(with_slice("{ only: { agent: a } }").only, Some(SliceFilter::Agent(name)) if *name == "a"));
    assert!(matches!(with_slice("{ only: { skill: a } }").only, Some(SliceFilter::Skill(name)) if *name == "a"));
    assert!(matches!(with_slice("{ only: { tag: a } }").only, Some(SliceFilter::Tag(name)) if *name == "a"));
    assert!(matches!(with_slice("{ only: { writes: true } }").only, Some(SliceFilter::Writes)));
    assert!(matches!(with_slice("{ only: { suites: [skills] } }").only, Some(SliceFilter::Suites(kinds)) if kinds == [SuiteKind::Skills]));
}

#[test]
fn a_gate_needs_all_its_keys() {
    assert_required_keys(GATES, read_gates, "a gate", 2, &["id", "spec", "scorer", "slice", "tiers", "min_cases", "aggregate"]);
}

#[test]
fn broken_gates_say_what_is_wrong() {
    let slice = "{ each: profile, except: [full] }";
    assert_problems(
        GATES,
        read_gates,
        &[
            (
                "gates:\n",
                "gate:\n",
                "1: gates.yaml lacks \"gates\" | add gates: …\n1: gates.yaml has no key \"gate\" | did you mean \"gates\"?",
            ),
            (
                "scorer: hit",
                "scorre: hit",
                "2: a gate lacks \"scorer\" | add scorer: …\n5: a gate has no key \"scorre\" | did you mean \"scorer\"?",
            ),
            ("    at_least: 0.85\n", "", "2: a gate needs one bound | write at_least or at_most"),
            ("at_least: 0.85", "at_least: 0.85\n    at_most: 0.9", "2: a gate needs one bound | write at_least or at_most"),
            (
                "at_least: 0.85",
                "at_least: most",
                "10: expected a number, found \"most\"\n2: a gate needs one bound | write at_least or at_most",
            ),
            ("min_cases: 10", "min_cases: 0", "2: min_cases is 0, so the gate would pass without evidence | write at least 1"),
            (
                "aggregate: rate",
                "aggregate: rate\n    k: 3",
                "2: k is the number of trials of pass_hat_k | write k of at least 1 with aggregate: pass_hat_k, or remove it",
            ),
            ("min_cases: 10", "min_cases: many", "8: expected a whole number, found \"many\""),
            ("aggregate: rate", "aggregate: rates", "9: \"rates\" is not a known value | did you mean \"rate\"?"),
            (slice, "all", "6: a slice (or the word pooled) must be a mapping, found \"all\" | write key: value lines"),
            (slice, "{ except: [full] }", "6: a slice needs each or only | or write slice: pooled"),
            (
                slice,
                "{ each: colour }",
                "6: \"colour\" is not a known value | one of: profile, agent, skill, asi\n6: a slice needs each or only | or write slice: pooled",
            ),
            (
                slice,
                "{ only: { profile: a, tag: b } }",
                "6: only must have exactly one key | one of profile, agent, skill, tag, suites, writes: true\n6: a slice needs each or only | or write slice: pooled",
            ),
            (
                slice,
                "{ only: { writes: false } }",
                "6: only must have exactly one key | one of profile, agent, skill, tag, suites, writes: true\n6: a slice needs each or only | or write slice: pooled",
            ),
        ],
    );
}
