//! Assertions of a test, checked before anything runs.

use crate::js_yaml::{LINE_KEY, without_lines};
use crate::judged::{JUDGED_TYPES, JudgedType};
use crate::known_keys::{ASSERTION_KEYS, check_keys, number};
use crate::script_answer::{is_script_type, module_body, transform_body};
use crate::template::is_template;
use model::suite::{AssertionType, CaseAssertion};
use model::{Problem, ProblemReport, did_you_mean};
use score::assertions::{AssertionMode, function_body};
use script::SyntaxChecker;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::sync::Arc;

/// Assertion, or a set of them with an aggregate of its own.
#[derive(Debug, Clone)]
pub enum AssertionSpec {
    Single(Arc<SingleAssertion>),
    Set { assertions: Vec<Arc<SingleAssertion>>, threshold: Option<f64>, weight: f64, metric: Option<String>, json: Arc<Value> },
}

impl AssertionSpec {
    /// Returns whether a failure fails the test. An assertion with weight 0 only measures.
    pub(crate) fn decides(&self) -> bool {
        match self {
            AssertionSpec::Single(assertion) => assertion.weight != 0.0,
            AssertionSpec::Set { assertions, weight, .. } => *weight != 0.0 && assertions.iter().any(|assertion| assertion.weight != 0.0),
        }
    }

    /// Returns the assertion, or those of the set.
    pub(crate) fn singles(&self) -> &[Arc<SingleAssertion>] {
        match self {
            AssertionSpec::Single(assertion) => std::slice::from_ref(assertion),
            AssertionSpec::Set { assertions, .. } => assertions,
        }
    }
}

#[derive(Debug, Clone)]
pub struct SingleAssertion {
    pub type_name: String,
    pub value: Option<Value>,
    pub threshold: Option<f64>,
    pub weight: f64,
    pub metric: Option<String>,
    pub transform: Option<String>,
    pub config: Option<Value>,
    /// Source of the file that decides it, and the name of its function.
    pub script: Option<(Arc<str>, Option<String>)>,
    /// Read once, if the value has no template.
    pub parsed: Option<CaseAssertion>,
    /// Provider that judges it, if it names its own.
    pub judge: Option<Value>,
    /// Prompt for the judge in place of ours.
    pub rubric_prompt: Option<String>,
    pub json: Arc<Value>,
    /// Line in the file of its test.
    pub line: u32,
}

/// Types of promptfoo that a language model, another service or another language decides. They are refused before anything runs.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("agent-rubric", "an agent that judges"),
    ("answer-relevance", "an embedding"),
    ("conversation-relevance", "a history of the conversation"),
    ("search-rubric", "a search of the web"),
    ("pi", "a service"),
    ("select-best", "a comparison of outputs"),
    ("max-score", "a comparison of outputs"),
    ("similar", "an embedding"),
    ("similar:cosine", "an embedding"),
    ("similar:dot", "an embedding"),
    ("similar:euclidean", "an embedding"),
    ("classifier", "a classifier"),
    ("moderation", "a moderation service"),
    ("webhook", "a service"),
    ("python", "Python"),
    ("ruby", "Ruby"),
    ("human", "a person"),
    ("meteor", "WordNet"),
    ("is-sql", "a parser of SQL dialects"),
    ("contains-sql", "a parser of SQL dialects"),
    ("is-valid-function-call", "the validator of a provider"),
    ("is-valid-openai-function-call", "the validator of a provider"),
];

/// Reads the assertions of a test, and reports every mistake at its line.
pub(crate) struct AssertionReader<'r> {
    pub report: &'r ProblemReport,
    pub mode: AssertionMode,
    pub files: &'r dyn crate::SuiteFiles,
    pub syntax: &'r RefCell<SyntaxChecker>,
}

impl AssertionReader<'_> {
    /// Reads one assertion. `line` is that of the test, for assertions without a line of their own.
    pub(crate) fn read(&self, json: &Value, line: u32) -> Option<AssertionSpec> {
        let line = own_line(json, line);
        let type_name = json.get("type").and_then(Value::as_str);
        if type_name != Some("assert-set") {
            return self.single(json, None, line).map(|single| AssertionSpec::Single(Arc::new(single)));
        }
        let Some(items) = json.get("assert").and_then(Value::as_array).filter(|items| !items.is_empty()) else {
            self.report.add(line, "an assert-set has no assertions", "add assert: with a list");
            return None;
        };
        if let Value::Object(fields) = json {
            check_keys(self.report, line, "an assert-set", fields, ASSERTION_KEYS);
        }
        let config = json.get("config");
        let assertions: Vec<_> = items.iter().map(|item| self.single(item, config, line).map(Arc::new)).collect();
        Some(AssertionSpec::Set {
            assertions: assertions.into_iter().collect::<Option<_>>()?,
            threshold: number(self.report, line, json, "threshold"),
            weight: self.weight(json, line),
            metric: text(json, "metric"),
            json: Arc::new(without_lines(json)),
        })
    }

    fn single(&self, json: &Value, set_config: Option<&Value>, line: u32) -> Option<SingleAssertion> {
        let line = own_line(json, line);
        let Some(type_name) = json.get("type").and_then(Value::as_str) else {
            self.report.add(line, "an assertion has no type", "add type:");
            return None;
        };
        self.check_type(type_name, line)?;
        if let Value::Object(fields) = json {
            check_keys(self.report, line, "an assertion", fields, ASSERTION_KEYS);
        }
        for unsupported in ["contextTransform"].iter().filter(|key| json.get(**key).is_some_and(|value| !value.is_null())) {
            self.report.add(line, format!("{unsupported} of an assertion is not supported"), "see docs/guide/promptfoo.md");
        }
        let threshold = number(self.report, line, json, "threshold");
        if self.mode == AssertionMode::Strict && threshold.is_some_and(|threshold| threshold <= 0.0) && has_least_score(type_name) {
            self.report.add(
                line,
                format!("{type_name} with threshold {} cannot fail", threshold.unwrap_or_default()),
                "write a threshold above 0",
            );
        }
        let mut value = json.get("value").filter(|value| !value.is_null()).cloned();
        let mut script = None;
        if let Some(path) = value.as_ref().and_then(Value::as_str).and_then(|value| value.strip_prefix("file://")).map(str::to_owned) {
            match self.file_value(&path, line)? {
                FileValue::Script(source, function) => script = Some((source, function)),
                FileValue::Data(data) => value = Some(data),
            }
        }
        let is_empty_list = value.as_ref().and_then(Value::as_array).is_some_and(Vec::is_empty);
        if self.mode == AssertionMode::Strict && is_empty_list && type_name.contains("contains-a") {
            self.report.add(line, format!("{type_name} has an empty list, so that its verdict is fixed"), "add a text to value:");
        }
        let judged = JudgedType::of(type_name);
        if let Some(defect) = judged.filter(|_| script.is_none()).and_then(|kind| kind.value_defect(value.as_ref())) {
            self.report.add(line, format!("{type_name} {defect}"), "add value: and a text");
            return None;
        }
        let transform = text(json, "transform");
        let inline = value.as_ref().and_then(Value::as_str).filter(|_| script.is_none() && is_script_type(type_name));
        let bodies = inline.filter(|source| !is_template(source)).map(function_body).into_iter();
        let bodies = bodies.chain(transform.as_deref().map(transform_body)).chain(script.as_ref().map(|(source, _)| module_body(source)));
        for body in bodies {
            self.check_syntax(type_name, &body, line);
        }
        let is_static = script.is_none() && judged.is_none() && !value.as_ref().is_some_and(has_template);
        let parsed = is_static.then(|| CaseAssertion::from_promptfoo(type_name, value.as_ref(), threshold));
        let parsed = match parsed {
            // promptfoo finds the mistake when it grades, after the provider was paid.
            Some(Err(what)) if self.mode == AssertionMode::Strict => {
                self.report.add(line, what, "");
                return None;
            }
            Some(Err(_)) | None => None,
            Some(Ok(parsed)) => Some(parsed),
        };
        Some(SingleAssertion {
            type_name: type_name.to_owned(),
            value,
            threshold,
            weight: self.weight(json, line),
            metric: text(json, "metric"),
            transform,
            config: json.get("config").or(set_config).map(without_lines),
            script,
            parsed,
            rubric_prompt: json
                .get("rubricPrompt")
                .filter(|prompt| !prompt.is_null())
                .map(|prompt| prompt.as_str().map_or_else(|| without_lines(prompt).to_string(), str::to_owned)),
            judge: json.get("provider").filter(|provider| !provider.is_null()).map(without_lines),
            json: Arc::new(without_lines(json)),
            line,
        })
    }

    /// Reads the weight. A negative one would make a failure a gain.
    fn weight(&self, json: &Value, line: u32) -> f64 {
        let weight = number(self.report, line, json, "weight").unwrap_or(1.0);
        if weight < 0.0 && self.mode == AssertionMode::Strict {
            self.report.add(line, format!("weight is {weight}"), "write a weight of 0 or more");
        }
        weight
    }

    /// Reports code that cannot be compiled. promptfoo finds it when it grades, after the provider was paid.
    fn check_syntax(&self, type_name: &str, body: &str, line: u32) {
        if self.mode == AssertionMode::Strict
            && let Err(why) = self.syntax.borrow_mut().check(body)
        {
            self.report.add(line, format!("the code of {type_name} cannot be read: {why}"), "check its brackets and quotes");
        }
    }

    fn check_type(&self, type_name: &str, line: u32) -> Option<()> {
        let base = type_name.strip_prefix("not-").unwrap_or(type_name);
        if let Some((_, decided_by)) = UNSUPPORTED.iter().find(|(name, _)| *name == base) {
            self.report.add(
                line,
                format!("{type_name} is decided by {decided_by}, which is not supported here"),
                "see docs/guide/promptfoo.md",
            );
            return None;
        }
        if base.starts_with("promptfoo:redteam:") {
            self.report.add(
                line,
                format!("{type_name} is graded by promptfoo's service"),
                "use bardo-eval redteam; see docs/guide/promptfoo.md",
            );
            return None;
        }
        if JudgedType::of(type_name).is_some() {
            return Some(());
        }
        let judged = || JUDGED_TYPES.iter().map(|(word, _)| *word);
        let known = || AssertionType::ALL.iter().map(|(word, _)| *word).filter(|word| *word != "json_path").chain(judged());
        if known().any(|word| word == base) || (self.mode == AssertionMode::Compat) {
            return Some(());
        }
        self.report.add(line, format!("there is no assertion of type {type_name:?}"), did_you_mean(base, known()));
        None
    }

    fn file_value(&self, reference: &str, line: u32) -> Option<FileValue> {
        let (path, function) = reference.split_once(':').map_or((reference, None), |(path, function)| (path, Some(function.to_owned())));
        let text = match self.files.read(path) {
            Ok(text) => text,
            Err(why) => {
                self.report.add(line, format!("{path}: {why}"), "check the path");
                return None;
            }
        };
        match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "js" | "cjs" | "mjs" => Some(FileValue::Script(text.into(), function)),
            "json" => match serde_json::from_str(&text) {
                Ok(value) => Some(FileValue::Data(value)),
                Err(why) => {
                    self.report.add(line, format!("{path} is not JSON: {why}"), "");
                    None
                }
            },
            "yaml" | "yml" => {
                let inner = ProblemReport::new(path);
                let node = model::yaml::load(&text, model::yaml::YamlLimits::default(), &inner);
                let problems: Vec<Problem> = inner.into_problems();
                problems.iter().for_each(|problem| self.report.add(line, format!("{path}: {}", problem.what), problem.remedy.clone()));
                node.map(|node| FileValue::Data(crate::js_yaml::js_value(&node)))
            }
            "py" | "rb" | "ts" => {
                self.report.add(
                    line,
                    format!("{path} is not JavaScript, which is the only language that runs here"),
                    "rewrite it in JavaScript",
                );
                None
            }
            _ => Some(FileValue::Data(Value::String(text))),
        }
    }
}

enum FileValue {
    Script(Arc<str>, Option<String>),
    Data(Value),
}

/// Returns whether an assertion passes from a least score on, which every output has if it is 0.
fn has_least_score(type_name: &str) -> bool {
    let scored = ["rouge-n", "bleu", "gleu", "tool-call-f1", "perplexity-score"];
    let judged = ["g-eval", "context-recall", "context-relevance", "context-faithfulness"];
    scored.contains(&type_name) || judged.contains(&type_name)
}

fn own_line(json: &Value, line: u32) -> u32 {
    json.get(LINE_KEY).and_then(Value::as_u64).map_or(line, |own| own as u32)
}

fn text(json: &Value, key: &str) -> Option<String> {
    json.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// Returns whether a value, or an item of a list, is a template.
pub(crate) fn has_template(value: &Value) -> bool {
    match value {
        Value::String(text) => crate::template::is_template(text),
        Value::Array(items) => items.iter().any(|item| item.as_str().is_some_and(crate::template::is_template)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Returns the fields of a mapping; none for any other value.
pub(crate) fn fields(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}
