//! Assertions on a text of a trial. Each type, or small family of types, has its own file; all are pure functions of a text and options.

mod contains;
mod equals;
mod json_path;
mod json_text;
mod levenshtein;
mod regex;
mod starts_with;
mod usage;

use model::suite::{AssertionType, CaseAssertion};

/// Maximum bytes of a text. A longer one misses.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Input of an assertion.
#[derive(Debug, Clone, Copy, Default)]
pub struct AssertionInput<'a> {
    pub text: &'a str,
    /// Response time of the subject's model, as stored with its replies.
    pub latency_ms: Option<f64>,
    /// Cost in US dollars, as stored with the replies.
    pub cost_usd: Option<f64>,
}

/// Result of an assertion. The score is between 0 and 1.
#[derive(Debug, Clone, PartialEq)]
pub struct AssertionResult {
    pub pass: bool,
    pub score: f64,
    pub reason: String,
}

/// Result before `not-` is applied.
#[derive(Debug, Clone, PartialEq)]
enum AssertionFinding {
    Holds {
        score: f64,
        found: String,
    },
    Fails {
        score: f64,
        found: String,
    },
    /// The text is not what the assertion can look into. A miss, with `not-` too.
    Unreadable(String),
}

/// Reason why an assertion cannot be decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MissingEvidence(String);

type AssertionFn = fn(&CaseAssertion, &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence>;

/// All types with their function.
static ASSERTIONS: &[(AssertionType, AssertionFn)] = &[
    (AssertionType::Contains, contains::contains),
    (AssertionType::Icontains, contains::contains),
    (AssertionType::ContainsAny, contains::contains_any),
    (AssertionType::IcontainsAny, contains::contains_any),
    (AssertionType::ContainsAll, contains::contains_all),
    (AssertionType::IcontainsAll, contains::contains_all),
    (AssertionType::Equals, equals::equals),
    (AssertionType::StartsWith, starts_with::starts_with),
    (AssertionType::Regex, regex::regex),
    (AssertionType::IsJson, json_text::is_json),
    (AssertionType::ContainsJson, json_text::contains_json),
    (AssertionType::JsonPath, json_path::json_path),
    (AssertionType::Levenshtein, levenshtein::levenshtein),
    (AssertionType::Latency, usage::latency),
    (AssertionType::Cost, usage::cost),
];

impl AssertionFinding {
    /// Returns a finding of an assertion that either holds or does not.
    fn of(holds: bool, found: impl Into<String>) -> Self {
        let found = found.into();
        if holds { AssertionFinding::Holds { score: 1.0, found } } else { AssertionFinding::Fails { score: 0.0, found } }
    }
}

/// Decides an assertion. `not-` is applied here, for all types alike.
///
/// # Errors
/// Fails if the trial has no number that the assertion measures.
pub fn decide(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionResult, MissingEvidence> {
    let length = input.text.len();
    if length > MAX_TEXT_BYTES {
        return Ok(AssertionResult {
            pass: false,
            score: 0.0,
            reason: format!("the text has {length} bytes, at most {MAX_TEXT_BYTES} are read"),
        });
    }
    let Some((_, function)) = ASSERTIONS.iter().find(|(kind, _)| *kind == assertion.kind) else {
        return Err(MissingEvidence(format!("{} is not implemented", assertion.kind)));
    };
    let (holds, score, reason) = match function(assertion, input)? {
        AssertionFinding::Holds { score, found } => (true, score, found),
        AssertionFinding::Fails { score, found } => (false, score, found),
        AssertionFinding::Unreadable(reason) => return Ok(AssertionResult { pass: false, score: 0.0, reason }),
    };
    Ok(AssertionResult { pass: holds != assertion.negated, score: if assertion.negated { 1.0 - score } else { score }, reason })
}

/// Returns the beginning of a text, on one line and quoted.
fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 100;
    let short: String = text.chars().take(MAX_CHARS).collect();
    format!("{short:?}{}", if text.chars().nth(MAX_CHARS).is_some() { " …" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_assertion_type_is_in_table_once() {
        for (word, kind) in AssertionType::ALL {
            assert_eq!(ASSERTIONS.iter().filter(|(other, _)| other == kind).count(), 1, "{word}");
        }
    }

    /// One assertion of every type, a text that it accepts and one that it rejects.
    #[test]
    fn assertions_accept_good_and_reject_bad_texts() {
        let examples = [
            (json!({"type": "contains", "value": "b"}), "abc", "ABC"),
            (json!({"type": "icontains", "value": "É"}), "café", "cafe"),
            (json!({"type": "contains-any", "value": ["x", "b"]}), "abc", "a"),
            (json!({"type": "icontains-any", "value": "x, B"}), "abc", "a"),
            (json!({"type": "contains-all", "value": ["a", "b"]}), "ab", "a"),
            (json!({"type": "icontains-all", "value": ["A", "b"]}), "ab", "a"),
            (json!({"type": "equals", "value": {"a": 1}}), "{\"a\": 1.0}", "{\"a\": 2}"),
            (json!({"type": "equals", "value": 1.0}), "1", "1.0"),
            (json!({"type": "starts-with", "value": "a"}), "ab", "ba"),
            (json!({"type": "regex", "value": "^\\d+$"}), "42", "42 "),
            (json!({"type": "is-json", "value": {"required": ["a"]}}), "{\"a\": 1}", "{}"),
            (json!({"type": "contains-json"}), "see {\"a\": {\"b\": 1}}.", "see {a}."),
            (json!({"type": "json_path", "path": "$.a[0]", "equals": "x"}), "{\"a\": [\"x\"]}", "{\"a\": [\"y\", \"x\"]}"),
            (json!({"type": "levenshtein", "value": "kitten", "threshold": 3}), "sitting", "sitting down"),
        ];
        for (assertion, good, bad) in examples {
            let pass = |assertion: &serde_json::Value, text| {
                let assertion = CaseAssertion::from_json(assertion).unwrap_or_else(|why| panic!("{assertion}: {why:?}"));
                let result = decide(&assertion, &AssertionInput { text, ..AssertionInput::default() }).expect("a result");
                assert_eq!(result.score, f64::from(u8::from(result.pass)), "{assertion}");
                assert!(!result.reason.is_empty(), "{assertion}");
                result.pass
            };
            assert!(pass(&assertion, good), "{assertion} rejects {good:?}");
            assert!(!pass(&assertion, bad), "{assertion} accepts {bad:?}");
            let mut negated = assertion.clone();
            negated["type"] = format!("not-{}", assertion["type"].as_str().unwrap_or_default()).into();
            assert!(!pass(&negated, good), "{negated} accepts {good:?}");
            assert!(pass(&negated, bad), "{negated} rejects {bad:?}");
        }
    }

    #[test]
    fn unreadable_or_long_text_misses_in_both_polarities() {
        let long = "a".repeat(MAX_TEXT_BYTES + 1);
        for (assertion, text) in [
            (json!({"type": "json_path", "path": "$.a", "equals": 1}), "no JSON"),
            (json!({"type": "json_path", "path": "$.a", "equals": 1}), "{\"b\": 1}"),
            (json!({"type": "contains", "value": "a"}), long.as_str()),
        ] {
            for prefix in ["", "not-"] {
                let mut assertion = assertion.clone();
                assertion["type"] = format!("{prefix}{}", assertion["type"].as_str().unwrap_or_default()).into();
                let assertion = CaseAssertion::from_json(&assertion).expect("an assertion");
                let result = decide(&assertion, &AssertionInput { text, ..AssertionInput::default() }).expect("a result");
                assert!(!result.pass && result.score == 0.0, "{assertion}");
            }
        }
    }

    #[test]
    fn usage_without_a_stored_number_is_no_evidence() {
        let decide = |assertion: serde_json::Value, input: AssertionInput<'_>| {
            decide(&CaseAssertion::from_json(&assertion).expect("an assertion"), &input).map(|result| result.pass).ok()
        };
        let used = |latency_ms, cost_usd| AssertionInput { text: "", latency_ms, cost_usd };
        let (latency, cost) = (json!({"type": "latency", "threshold": 800}), json!({"type": "not-cost", "threshold": 0.01}));
        assert_eq!(decide(latency.clone(), used(Some(800.0), None)), Some(true));
        assert_eq!(decide(latency.clone(), used(Some(801.0), None)), Some(false));
        assert_eq!(decide(latency, used(None, Some(0.0))), None);
        assert_eq!(decide(cost.clone(), used(None, Some(0.02))), Some(true));
        assert_eq!(decide(cost.clone(), used(None, Some(0.01))), Some(false));
        assert_eq!(decide(cost, used(Some(1.0), None)), None);
    }
}
