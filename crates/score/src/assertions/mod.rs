//! Assertions on a text of a trial, its steps, or a reply. Each type, or small family of types, has its own file; all are pure functions
//! of an input and options.

mod aggregate;
mod contains;
mod equals;
mod html;
mod js_space;
mod json_path;
mod json_text;
mod levenshtein;
mod n_grams;
mod refusal;
mod regex;
mod reply;
mod script;
mod span_skills;
mod starts_with;
mod tool_call_f1;
mod trace_spans;
mod trajectory;
mod treebank;
mod usage;
mod word_count;
mod xml;
mod xml_candidates;

pub use aggregate::{AssertionAggregate, AssertionTotals};
pub use script::{ScriptAnswer, ScriptGrade, function_body};
pub use span_skills::skills_of_spans;
pub use tool_call_f1::tool_calls;
pub use trace_spans::{TraceSpan, matches_glob};
pub use trajectory::{TrajectoryStep, steps_of_spans};

use model::suite::{AssertionType, CaseAssertion};
use serde_json::Value;

/// Maximum bytes of a text. A longer one misses.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Meaning of assertions where promptfoo passes what it did not decide, or does not invert with `not-`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AssertionMode {
    /// No verdict is an error, and `not-` inverts.
    #[default]
    Strict,
    /// Verdict and score of promptfoo.
    Compat,
}

/// Input of an assertion.
#[derive(Debug, Clone, Copy, Default)]
pub struct AssertionInput<'a> {
    pub text: &'a str,
    pub mode: AssertionMode,
    /// Output of a provider as it was returned; the text is derived from it.
    pub output: Option<&'a Value>,
    /// Response of a provider: `finishReason`, `logProbs`, `guardrails`, `metadata`.
    pub response: Option<&'a Value>,
    /// Tools of the provider's configuration.
    pub tools: Option<&'a Value>,
    pub spans: Option<&'a [TraceSpan]>,
    pub steps: Option<&'a [TrajectoryStep]>,
    /// Skills that the agent activated, from a transcript or a trace.
    pub skills: Option<&'a [String]>,
    /// Answer of the JavaScript of this assertion.
    pub script: Option<&'a ScriptAnswer>,
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
    /// Result that `not-` has been applied to already.
    Final {
        pass: bool,
        score: f64,
        found: String,
    },
}

/// Reason why an assertion cannot be decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MissingEvidence(pub(crate) String);

impl MissingEvidence {
    /// Returns the reason why an assertion cannot be decided.
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    fn of<T>(why: impl Into<String>) -> Result<T, Self> {
        Err(Self(why.into()))
    }
}

/// Finding of an assertion, or the evidence that it lacks.
type FindingResult = Result<AssertionFinding, MissingEvidence>;

type AssertionFn = fn(&CaseAssertion, &AssertionInput<'_>) -> FindingResult;

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
    (AssertionType::WordCount, word_count::word_count),
    (AssertionType::RougeN, n_grams::rouge_n),
    (AssertionType::Bleu, n_grams::bleu),
    (AssertionType::Gleu, n_grams::gleu),
    (AssertionType::IsXml, xml::is_xml),
    (AssertionType::ContainsXml, xml::contains_xml),
    (AssertionType::IsHtml, html::is_html),
    (AssertionType::ContainsHtml, html::contains_html),
    (AssertionType::IsRefusal, refusal::is_refusal),
    (AssertionType::ToolCallF1, tool_call_f1::tool_call_f1),
    (AssertionType::ToolUsed, trajectory::tool_used),
    (AssertionType::ToolSequence, trajectory::tool_sequence),
    (AssertionType::ToolArguments, trajectory::tool_arguments),
    (AssertionType::StepCount, trajectory::step_count),
    (AssertionType::SpanCount, trace_spans::span_count),
    (AssertionType::SpanDuration, trace_spans::span_duration),
    (AssertionType::ErrorSpans, trace_spans::error_spans),
    (AssertionType::FinishReason, reply::finish_reason),
    (AssertionType::Perplexity, reply::perplexity),
    (AssertionType::PerplexityScore, reply::perplexity_score),
    (AssertionType::Guardrails, reply::guardrails),
    (AssertionType::SkillUsed, reply::skill_used),
    (AssertionType::ValidToolsCall, reply::valid_tools_call),
    (AssertionType::Javascript, script::javascript),
];

impl AssertionFinding {
    /// Returns a finding of an assertion that either holds or does not.
    fn of(holds: bool, found: impl Into<String>) -> Self {
        let found = found.into();
        if holds { AssertionFinding::Holds { score: 1.0, found } } else { AssertionFinding::Fails { score: 0.0, found } }
    }

    /// Returns a finding with a score between 0 and 1, which holds from a threshold on.
    fn scored(score: f64, threshold: f64, found: String) -> Self {
        if score >= threshold { AssertionFinding::Holds { score, found } } else { AssertionFinding::Fails { score, found } }
    }

    /// Returns a finding whose `not-` is already applied.
    fn decided(pass: bool, found: impl Into<String>) -> Self {
        AssertionFinding::Final { pass, score: f64::from(u8::from(pass)), found: found.into() }
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
        AssertionFinding::Final { pass, score, found } => return Ok(AssertionResult { pass, score, reason: found }),
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
            (json!({"type": "word-count", "value": {"min": 2, "max": 3}}), "two words", "one"),
            (json!({"type": "rouge-n", "value": "hello there"}), "Hello there", "no"),
            (json!({"type": "bleu", "value": ["no", "the cat sat on the mat"]}), "the cat sat on the mat", ""),
            (json!({"type": "gleu", "value": "the cat sat."}), "The cat sat", "dogs"),
            (json!({"type": "is-xml", "value": "a.b"}), "<a><b/></a>", "<a><b></a>"),
            (json!({"type": "contains-xml"}), "see <a>1</a>.", "1 < 2"),
            (json!({"type": "is-html"}), "<p>a <b>b</b></p>", "a <p>b</p>"),
            (json!({"type": "contains-html"}), "see <div>a</div>", "1 < 2"),
            (json!({"type": "is-refusal"}), "I\u{2019}m sorry, no", "here it is"),
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
        let used = |latency_ms, cost_usd| AssertionInput { latency_ms, cost_usd, ..AssertionInput::default() };
        let (latency, cost) = (json!({"type": "latency", "threshold": 800}), json!({"type": "not-cost", "threshold": 0.01}));
        assert_eq!(decide(latency.clone(), used(Some(800.0), None)), Some(true));
        assert_eq!(decide(latency.clone(), used(Some(801.0), None)), Some(false));
        assert_eq!(decide(latency, used(None, Some(0.0))), None);
        assert_eq!(decide(cost.clone(), used(None, Some(0.02))), Some(true));
        assert_eq!(decide(cost.clone(), used(None, Some(0.01))), Some(false));
        assert_eq!(decide(cost, used(Some(1.0), None)), None);
    }
}
