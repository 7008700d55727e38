//! Reads a config: prompts, providers, tests, defaults and scenarios. Every mistake is reported at its line, and all of them at once.

mod prompts;
mod providers;
mod test_sources;
mod test_spec;

use crate::SuiteFiles;
use crate::assertion_spec::fields;
use crate::js_yaml::{field, js_value, js_value_with_lines};
use crate::known_keys::{CONFIG_KEYS, METRIC_KEYS, RUN_KEYS, check_keys};
use crate::suite::{DerivedMetric, PromptfooSuite, ProviderSpec};
use model::yaml::{YamlLimits, YamlNode, YamlShape, load};
use model::{Problem, ProblemReport, did_you_mean};
use score::assertions::AssertionMode;
use script::SyntaxChecker;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Limits of a file of tests, which may be far larger than a file of a workspace.
const TEST_LIMITS: YamlLimits = YamlLimits { bytes: 64 << 20, depth: 48, nodes: 5_000_000, copied: 64 << 20 };

/// Reads a config and the files that it names. `file` is its name in messages.
///
/// # Errors
/// Every mistake in the config and in the files.
pub fn read_suite(file: &str, text: &str, files: &dyn SuiteFiles, mode: AssertionMode) -> Result<PromptfooSuite, Vec<Problem>> {
    // Places cost as much as all else, and only mistakes need them.
    let result = |(suite, problems): (PromptfooSuite, Vec<Problem>)| if problems.is_empty() { Ok(suite) } else { Err(problems) };
    result(read_with(file, text, files, ReadOptions { mode, places: FilePlaces::Unknown }))
        .or_else(|_| result(read_with(file, text, files, ReadOptions { mode, places: FilePlaces::Lines })))
}

/// Reads as much of a config as can be read, and what cannot.
pub fn read_for_import(file: &str, text: &str, files: &dyn SuiteFiles) -> (PromptfooSuite, Vec<Problem>) {
    read_with(file, text, files, ReadOptions { mode: AssertionMode::Strict, places: FilePlaces::Import })
}

/// Knowledge of the lines of JSON files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FilePlaces {
    Unknown,
    Lines,
    /// Lines are known, and attacks are left to the import.
    Import,
}

#[derive(Debug, Clone, Copy)]
struct ReadOptions {
    mode: AssertionMode,
    places: FilePlaces,
}

fn read_with(file: &str, text: &str, files: &dyn SuiteFiles, options: ReadOptions) -> (PromptfooSuite, Vec<Problem>) {
    let ReadOptions { mode, places } = options;
    let report = ProblemReport::new(file);
    let Some(node) = load(text, TEST_LIMITS, &report) else { return (PromptfooSuite::default(), report.into_problems()) };
    let mut reader = ConfigReader {
        here: report,
        file: file.to_owned(),
        files,
        mode,
        places,
        in_tests: false,
        judges: BTreeMap::new(),
        syntax: RefCell::default(),
        problems: vec![],
        suite: PromptfooSuite::default(),
    };
    reader.read(&node);
    reader.enter(file);
    let ConfigReader { mut problems, suite, .. } = reader;
    problems.sort();
    problems.dedup();
    (suite, problems)
}

struct ConfigReader<'r> {
    /// Mistakes in the file that is being read.
    here: ProblemReport,
    /// Name of the config.
    file: String,
    files: &'r dyn SuiteFiles,
    mode: AssertionMode,
    places: FilePlaces,
    /// Judges that were read before, by their text.
    judges: BTreeMap<String, Option<Arc<ProviderSpec>>>,
    /// Compiles code of the config to find its mistakes.
    syntax: RefCell<SyntaxChecker>,
    /// The tests are being read, and no longer the default test.
    in_tests: bool,
    /// Mistakes in files that were read before.
    problems: Vec<Problem>,
    suite: PromptfooSuite,
}

impl ConfigReader<'_> {
    /// Begins to report mistakes of another file.
    fn enter(&mut self, file: &str) {
        let left = std::mem::replace(&mut self.here, ProblemReport::new(file));
        self.problems.extend(left.into_problems());
    }

    fn read(&mut self, node: &YamlNode) {
        let YamlShape::Map(entries) = &node.shape else {
            return self.here.add(node.line, "a config is a mapping", "write prompts:, providers: and tests:");
        };
        for (key, value) in entries {
            if !CONFIG_KEYS.contains(&key.text.as_str()) {
                self.here.add(
                    key.line,
                    format!("a config has no key {}", key.describe()),
                    did_you_mean(&key.text, CONFIG_KEYS.iter().copied()),
                );
            }
            let unsupported = match key.text.as_str() {
                "extensions" => "hooks of extensions do not run here",
                "nunjucksFilters" => "filters of your own do not run here",
                "redteam" => "attacks are made by bardo-eval redteam; `bardo-eval import promptfoo` says which probes correspond",
                "tracing" => "there is no receiver of traces; trajectory:* reads the calls in the reply, or metadata.trace.spans",
                _ => continue,
            };
            let is_imported = key.text == "redteam" && self.places == FilePlaces::Import;
            if !value.is_null() && !is_imported {
                self.here.add(
                    key.line,
                    format!("{}: {unsupported}", key.text),
                    format!("remove {}; see docs/guide/promptfoo.md", key.text),
                );
            }
        }
        self.suite.config = js_value(node);
        self.suite.file = self.file.clone();
        self.run_options(node);
        self.suite.description = self.suite.config.get("description").and_then(Value::as_str).map(str::to_owned);
        self.suite.env = self.suite.config.get("env").map(fields).unwrap_or_default();
        self.options(node);
        self.prompts(node);
        self.providers(node);
        self.tests(node);
    }

    fn options(&mut self, node: &YamlNode) {
        let of = |key: &str| field(node, key).map(js_value).unwrap_or_default();
        let (options, typed) = (of("evaluateOptions"), of("commandLineOptions"));
        let number = |key: &str| typed.get(key).or_else(|| options.get(key)).and_then(Value::as_u64);
        self.suite.max_concurrency = number("maxConcurrency").map(|number| number as usize);
        self.suite.repeat = number("repeat").map(|number| number as usize);
        self.suite.timeout_ms = number("timeoutMs").filter(|ms| *ms > 0);
        self.suite.output_paths = match field(node, "outputPath").map(js_value) {
            Some(Value::String(path)) => vec![path],
            Some(Value::Array(paths)) => paths.iter().filter_map(|path| path.as_str().map(str::to_owned)).collect(),
            Some(_) | None => vec![],
        };
        for (line, metric) in items(field(node, "derivedMetrics")) {
            check_keys(&self.here, line, "a derived metric", &fields(&metric), METRIC_KEYS);
            let part = |key: &str| metric.get(key).and_then(Value::as_str).map(str::to_owned);
            match (part("name"), part("value")) {
                (Some(name), Some(value)) => self.suite.derived_metrics.push(DerivedMetric { name, value }),
                (_, _) => self.here.add(line, "a derived metric needs name and value", "write { name, value }"),
            }
        }
    }

    /// Reports options of a run that have no effect.
    fn run_options(&self, node: &YamlNode) {
        for key in ["evaluateOptions", "commandLineOptions"] {
            let Some(options) = field(node, key) else { continue };
            match js_value(options) {
                Value::Object(fields) if self.mode == AssertionMode::Strict => check_keys(&self.here, options.line, key, &fields, RUN_KEYS),
                Value::Object(_) => {}
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    self.here.add(options.line, format!("{key} is a mapping"), "write { maxConcurrency: 8 }");
                }
            }
        }
    }

    /// Reports code that cannot be compiled.
    fn check_syntax(&self, what: &str, body: &str, line: u32) {
        if self.mode == AssertionMode::Strict
            && let Err(why) = self.syntax.borrow_mut().check(body)
        {
            self.here.add(line, format!("the code of {what} cannot be read: {why}"), "check its brackets and quotes");
        }
    }

    /// Returns the files of a pattern, and reports if there is none.
    fn glob_files(&mut self, pattern: &str, line: u32) -> Vec<String> {
        let paths = self.files.glob(pattern);
        if paths.is_empty() {
            self.here.add(line, format!("there is no file {pattern}"), "check the path; it is relative to the config");
        }
        paths
    }

    fn read_file(&mut self, path: &str, line: u32) -> Option<String> {
        self.files.read(path).map_err(|why| self.here.add(line, format!("{path}: {why}"), "check the path")).ok()
    }

    fn yaml_file(&mut self, path: &str, content: &str) -> Option<YamlNode> {
        let there = ProblemReport::new(path);
        let node = load(content, TEST_LIMITS, &there);
        self.problems.extend(there.into_problems());
        node
    }
}

/// Returns the items of a list with their lines, or a single value.
fn items(node: Option<&YamlNode>) -> Vec<(u32, Value)> {
    match node {
        Some(YamlNode { shape: YamlShape::List(items), .. }) => items.iter().map(|item| (item.line, js_value_with_lines(item))).collect(),
        Some(one) => vec![(one.line, js_value_with_lines(one))],
        None => vec![],
    }
}
