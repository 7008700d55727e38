//! Reads a config: prompts, providers, tests, defaults and scenarios. Every mistake is reported at its line, and all of them at once.

use crate::SuiteFiles;
use crate::assertion_spec::{AssertionReader, AssertionSpec, fields};
use crate::csv_tests::csv_tests;
use crate::js_yaml::{field, js_value, js_value_with_lines, without_lines};
use crate::judged::JudgedType;
use crate::known_keys::{
    CONFIG_KEYS, METRIC_KEYS, PROMPT_KEYS, PROVIDER_KEYS, RUN_KEYS, SCENARIO_KEYS, TEST_KEYS, USER_KEYS, check_keys, check_options, number,
};
use crate::script_answer::{module_body, response_body, transform_body, vars_body};
use crate::strict_json::parse_unique;
use crate::suite::{DerivedMetric, PromptSpec, PromptfooSuite, ProviderSpec, ProviderTarget, SimulatedUser, TestSpec};
use model::yaml::{YamlLimits, YamlNode, YamlShape, load};
use model::{Problem, ProblemReport, did_you_mean};
use score::assertions::AssertionMode;
use script::SyntaxChecker;
use serde_json::{Map, Value};
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
    result(read_with(file, text, files, (mode, FilePlaces::Unknown)))
        .or_else(|_| result(read_with(file, text, files, (mode, FilePlaces::Lines))))
}

/// Reads as much of a config as can be read, and what cannot.
pub fn read_for_import(file: &str, text: &str, files: &dyn SuiteFiles) -> (PromptfooSuite, Vec<Problem>) {
    read_with(file, text, files, (AssertionMode::Strict, FilePlaces::Import))
}

/// Knowledge of the lines of JSON files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FilePlaces {
    Unknown,
    Lines,
    /// Lines are known, and attacks are left to the import.
    Import,
}

fn read_with(
    file: &str,
    text: &str,
    files: &dyn SuiteFiles,
    (mode, places): (AssertionMode, FilePlaces),
) -> (PromptfooSuite, Vec<Problem>) {
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

/// Test as written, with its place.
struct WrittenTest {
    file: Arc<str>,
    line: u32,
    value: Value,
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

    fn prompts(&mut self, node: &YamlNode) {
        let Some(prompts) = field(node, "prompts") else {
            let text = || "{{prompt}}".to_owned();
            return self.suite.prompts.push(Arc::new(PromptSpec::new(None, text(), text(), Value::Null)));
        };
        let entries: Vec<&YamlNode> = match &prompts.shape {
            YamlShape::List(items) => items.iter().collect(),
            YamlShape::Scalar { .. } | YamlShape::Map(_) => vec![prompts],
        };
        for entry in entries {
            match js_value(entry) {
                Value::String(text) => self.prompt_text(&text, &Value::Null, entry.line),
                Value::Object(fields) => {
                    check_keys(&self.here, entry.line, "a prompt", &fields, PROMPT_KEYS);
                    let raw = fields.get("raw").or_else(|| fields.get("id")).and_then(Value::as_str);
                    match raw {
                        Some(raw) => self.prompt_text(raw, &Value::Object(fields.clone()), entry.line),
                        None => self.here.add(entry.line, "a prompt has no raw text", "write raw: or id: file://…"),
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                    self.here.add(
                        entry.line,
                        format!("a prompt cannot be {}", entry.describe()),
                        "write a text, file://… or { raw, label }",
                    );
                }
            }
        }
    }

    fn prompt_text(&mut self, text: &str, options: &Value, line: u32) {
        let label = options.get("label").and_then(Value::as_str);
        let id = options.get("id").and_then(Value::as_str).filter(|id| !id.starts_with("file://")).map(str::to_owned);
        let config = options.get("config").cloned().unwrap_or_default();
        let known = [".txt", ".md", ".j2", ".json", ".yaml", ".yml", ".jsonl"];
        let looks_like_path = !text.contains(['\n', ' ']) && known.iter().any(|ending| text.ends_with(ending));
        let Some(pattern) = text.strip_prefix("file://").or_else(|| looks_like_path.then_some(text)) else {
            let label = label.unwrap_or(text).to_owned();
            return self.add_prompt(PromptSpec::new(id, label, text.to_owned(), config), line);
        };
        let paths = self.files.glob(pattern);
        if paths.is_empty() {
            return self.here.add(line, format!("there is no file {pattern}"), "check the path; it is relative to the config");
        }
        for path in paths {
            let Some(content) = self.read_file(&path, line) else { continue };
            let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
            let parts: Vec<String> = match ending {
                "txt" | "j2" => content.split("\n---\n").map(|part| part.trim().to_owned()).collect(),
                "jsonl" => content.lines().filter(|row| !row.trim().is_empty()).map(str::to_owned).collect(),
                "yaml" | "yml" => match self.yaml_file(&path, &content) {
                    Some(node) => vec![serde_json::to_string(&js_value(&node)).unwrap_or_default()],
                    None => continue,
                },
                "js" | "cjs" | "mjs" | "ts" | "py" | "csv" => {
                    self.here.add(
                        line,
                        format!("{path}: prompts in .{ending} files are not supported"),
                        "write the prompt as text or JSON",
                    );
                    continue;
                }
                _ => vec![content.trim().to_owned()],
            };
            for raw in parts {
                let label = label.map_or_else(|| format!("{path}: {raw}"), str::to_owned);
                self.add_prompt(PromptSpec::new(id.clone(), label, raw, config.clone()), line);
            }
        }
    }

    fn add_prompt(&mut self, prompt: PromptSpec, line: u32) {
        if prompt.raw.contains("_conversation") {
            self.here.add(
                line,
                "a prompt names _conversation, which does not exist here",
                "use promptfoo:simulated-user, or write the turns into the prompt",
            );
        }
        self.suite.prompts.push(Arc::new(prompt));
    }

    fn providers(&mut self, node: &YamlNode) {
        let (providers, targets) = (field(node, "providers"), field(node, "targets"));
        let given = match (providers, targets) {
            (Some(given), None) | (None, Some(given)) => given,
            (Some(_), Some(targets)) => return self.here.add(targets.line, "a config has providers or targets, not both", "keep one"),
            (None, None) => return self.here.add(node.line, "a config lacks \"providers\"", "add providers: [echo]"),
        };
        let entries: Vec<&YamlNode> = match &given.shape {
            YamlShape::List(items) => items.iter().collect(),
            YamlShape::Scalar { .. } | YamlShape::Map(_) => vec![given],
        };
        for entry in entries {
            self.provider_entry(&js_value(entry), entry.line);
        }
    }

    fn provider_entry(&mut self, value: &Value, line: u32) {
        let (id, options) = match value {
            Value::String(id) => (id.clone(), Value::Null),
            Value::Object(fields) => match fields.get("id").and_then(Value::as_str) {
                Some(id) => (id.to_owned(), value.clone()),
                None => match fields.iter().next() {
                    // { "openai:gpt-4": { config } }
                    Some((id, options)) if fields.len() == 1 && options.is_object() && id != "config" => (id.clone(), options.clone()),
                    _ => {
                        return self.here.add(
                            line,
                            "a provider has no id",
                            "write id: echo, exec:…, http…, openai:…, anthropic:…, ollama:… or file://x.js",
                        );
                    }
                },
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                return self.here.add(line, "a provider is a text or a mapping", "write its id, or { id, config }");
            }
        };
        if let Some(path) = id.strip_prefix("file://").filter(|path| [".yaml", ".yml", ".json"].iter().any(|ending| path.ends_with(ending)))
        {
            let Some(content) = self.read_file(path, line) else { return };
            let Some(node) = self.yaml_file(path, &content) else { return };
            let value = js_value(&node);
            match value.as_array() {
                Some(items) => items.iter().for_each(|item| self.provider_entry(item, line)),
                None => self.provider_entry(&value, line),
            }
            return;
        }
        if let Value::Object(fields) = &options {
            check_keys(&self.here, line, "a provider", fields, PROVIDER_KEYS);
            for key in ["delay", "env", "inputs"].iter().filter(|key| fields.contains_key(**key)) {
                self.here.add(line, format!("{key} of a provider is not supported"), "see docs/guide/promptfoo.md");
            }
        }
        let mut config = options.get("config").cloned().unwrap_or_default();
        self.read_settings(&mut config, line);
        let Some(target) = self.target(&id, &config, line) else { return };
        let text = |key: &str| options.get(key).and_then(Value::as_str).map(str::to_owned);
        let prompts = options
            .get("prompts")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect());
        if let Some(source) = text("transform") {
            self.check_syntax("transform", &transform_body(&source), line);
        }
        for key in ["transformResponse", "responseParser"] {
            if let Some(source) = config.get(key).and_then(Value::as_str) {
                self.check_syntax(key, &response_body(source), line);
            }
        }
        let provider =
            ProviderSpec { label: text("label"), target, prompts, transform: text("transform"), at: self.here.location(line), config, id };
        self.suite.providers.push(Arc::new(provider));
    }

    /// Reports code that cannot be compiled.
    fn check_syntax(&self, what: &str, body: &str, line: u32) {
        if self.mode == AssertionMode::Strict
            && let Err(why) = self.syntax.borrow_mut().check(body)
        {
            self.here.add(line, format!("the code of {what} cannot be read: {why}"), "check its brackets and quotes");
        }
    }

    fn target(&mut self, id: &str, config: &Value, line: u32) -> Option<ProviderTarget> {
        let unknown = |reader: &Self| {
            let remedy = "supported: echo, exec:COMMAND, http(s)://…, openai:[chat:]MODEL, anthropic:[messages:]MODEL, ollama:[chat:]MODEL, file://x.js";
            reader.here.add(line, format!("the provider {id:?} is not supported"), remedy);
            None
        };
        let model = |rest: &str, kind: &str| rest.strip_prefix(kind).and_then(|rest| rest.strip_prefix(':')).unwrap_or(rest).to_owned();
        match id.split_once(':') {
            None if id == "echo" => Some(ProviderTarget::Echo),
            None if matches!(id, "http" | "https") => match config.get("url").and_then(Value::as_str) {
                Some(url) => Some(ProviderTarget::Http { url: url.to_owned() }),
                None => {
                    self.here.add(line, "an http provider needs config.url", "add config: { url }");
                    None
                }
            },
            Some(("http" | "https", rest)) if rest.starts_with("//") => Some(ProviderTarget::Http { url: id.to_owned() }),
            Some(("exec", command)) => match shlex::split(command).filter(|parts| !parts.is_empty()) {
                Some(command) => Some(ProviderTarget::Exec { command }),
                None => {
                    self.here.add(line, "the command of exec: cannot be split into words", "check its quotes");
                    None
                }
            },
            Some(("openai", rest))
                if !["responses", "embedding", "assistant", "image", "realtime", "moderation", "agents", "codex"]
                    .iter()
                    .any(|kind| rest.starts_with(kind)) =>
            {
                Some(ProviderTarget::OpenAiChat { model: model(rest, "chat") })
            }
            Some(("anthropic", rest)) if !rest.starts_with("claude-agent") => {
                Some(ProviderTarget::AnthropicMessages { model: model(rest, "messages") })
            }
            Some(("ollama", rest)) if !rest.starts_with("embeddings") => {
                Some(ProviderTarget::OllamaChat { model: model(rest, "chat").trim_start_matches("completion:").to_owned() })
            }
            Some(("file", path)) => {
                let path = path.trim_start_matches("//");
                let (path, function) = path.rsplit_once(':').map_or((path, None), |(path, function)| (path, Some(function.to_owned())));
                if ![".js", ".cjs", ".mjs"].iter().any(|ending| path.ends_with(ending)) {
                    return unknown(&*self);
                }
                let source = self.read_file(path, line)?;
                self.check_syntax(path, &module_body(&source), line);
                Some(ProviderTarget::Script { source: source.into(), function })
            }
            Some(("promptfoo", "simulated-user")) => self.simulated_user(config, line),
            Some(_) | None => unknown(&*self),
        }
    }

    /// Reads settings that are written as files: tools and formats of replies.
    fn read_settings(&mut self, config: &mut Value, line: u32) {
        for key in ["tools", "functions", "response_format"] {
            let Some(path) = config.get(key).and_then(Value::as_str).and_then(|text| text.strip_prefix("file://")).map(str::to_owned)
            else {
                continue;
            };
            let Some(content) = self.read_file(&path, line) else { continue };
            if let Some(node) = self.yaml_file(&path, &content) {
                config[key] = js_value(&node);
            }
        }
    }

    fn simulated_user(&mut self, config: &Value, line: u32) -> Option<ProviderTarget> {
        check_keys(&self.here, line, "promptfoo:simulated-user", &fields(config), USER_KEYS);
        let texts = |key: &str| -> Vec<String> {
            config.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let turns = texts("turns");
        let user = match config.get("userProvider") {
            Some(named) => self.judge(named, line),
            None => None,
        };
        if user.is_none() && turns.is_empty() && config.get("userProvider").is_none() {
            let what = "promptfoo:simulated-user has no model that plays the user; promptfoo's own service is not asked";
            self.here.add(line, what, "add config.userProvider, or config.turns with the messages of the user");
            return None;
        }
        let initial = config.get("initialMessages").cloned().unwrap_or_default();
        let initial = match initial {
            Value::Array(messages) => messages,
            Value::Null => vec![],
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                self.here.add(line, "initialMessages is a list of messages", "write [{ role, content }]");
                return None;
            }
        };
        let instructions = config.get("instructions").and_then(Value::as_str).unwrap_or("{{instructions}}").to_owned();
        let max_turns = number(&self.here, line, config, "maxTurns").map_or(10, |turns| turns.clamp(1.0, 100.0) as usize);
        Some(ProviderTarget::SimulatedUser(Box::new(SimulatedUser { instructions, user, turns, initial, max_turns })))
    }

    /// Reads a provider that is not one of the tests; the same text is read once.
    fn judge(&mut self, named: &Value, line: u32) -> Option<Arc<ProviderSpec>> {
        let key = named.to_string();
        if let Some(known) = self.judges.get(&key) {
            return known.clone();
        }
        let before = self.suite.providers.len();
        self.provider_entry(named, line);
        let found = self.suite.providers.drain(before..).next();
        self.judges.insert(key, found.clone());
        found
    }

    fn tests(&mut self, node: &YamlNode) {
        let default = match field(node, "defaultTest") {
            Some(default) => match js_value(default).as_str() {
                Some(path) => self.default_file(path, default.line),
                None => self.test(&js_value_with_lines(default), default.line, None),
            },
            None => None,
        };
        self.in_tests = true;
        let mut found: Vec<WrittenTest> = vec![];
        for (line, value) in items(field(node, "tests")) {
            self.test_entry(&value, line, &mut found);
        }
        for (line, scenario) in items(field(node, "scenarios")) {
            self.scenario(&scenario, line, &mut found);
        }
        if field(node, "tests").is_none() && field(node, "scenarios").is_none() {
            // promptfoo runs a config without tests once.
            found.push(WrittenTest { file: self.file.as_str().into(), line: node.line, value: Value::Object(Map::new()) });
        }
        for WrittenTest { file, line, value } in found {
            if *self.here.location(1).file != *file {
                self.enter(&file);
            }
            if let Some(test) = self.test(&value, line, default.as_ref()) {
                self.suite.tests.push(Arc::new(test));
            }
        }
    }

    fn default_file(&mut self, reference: &str, line: u32) -> Option<TestSpec> {
        let path = reference.strip_prefix("file://").unwrap_or(reference);
        let content = self.read_file(path, line)?;
        let node = self.yaml_file(path, &content)?;
        self.test(&js_value(&node), line, None)
    }

    /// Adds a test, or the tests of a file.
    fn test_entry(&mut self, value: &Value, line: u32, found: &mut Vec<WrittenTest>) {
        let Some(reference) = value.as_str() else {
            return found.push(WrittenTest { file: self.file.as_str().into(), line, value: value.clone() });
        };
        let pattern = reference.strip_prefix("file://").unwrap_or(reference);
        let paths = self.files.glob(pattern);
        if paths.is_empty() {
            return self.here.add(line, format!("there is no file {pattern}"), "check the path; it is relative to the config");
        }
        for path in paths {
            let Some(content) = self.read_file(&path, line) else { continue };
            self.test_file(&path, &content, line, found);
        }
    }

    fn test_file(&mut self, path: &str, content: &str, line: u32, found: &mut Vec<WrittenTest>) {
        let there = ProblemReport::new(path);
        let file: Arc<str> = path.into();
        let mut add = |line: u32, value: Value| found.push(WrittenTest { file: Arc::clone(&file), line, value });
        match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "csv" => match csv_tests(content) {
                Ok(tests) => tests.into_iter().for_each(|(line, test)| add(line, test)),
                Err((at, what)) => there.add(at, what, "check the columns"),
            },
            "jsonl" => {
                for (n, row) in content.lines().enumerate().filter(|(_, row)| !row.trim().is_empty()) {
                    match serde_json::from_str(row) {
                        Ok(test) => add(n as u32 + 1, test),
                        Err(why) => there.add(n as u32 + 1, format!("this line is not JSON: {why}"), "write one test a line"),
                    }
                }
            }
            "json" if self.places == FilePlaces::Unknown => match parse_unique(content) {
                Some(Value::Array(tests)) => tests.into_iter().for_each(|test| add(0, test)),
                Some(test) => add(0, test),
                None => there.add(1, "this is not JSON", "check the commas and the quotes"),
            },
            "json" if serde_json::from_str::<Value>(content).is_ok() && parse_unique(content).is_none() => {
                there.add(1, "an object has the same key twice", "keep one of them");
            }
            "yaml" | "yml" | "json" => {
                if let Some(node) = load(content, TEST_LIMITS, &there) {
                    items(Some(&node)).into_iter().for_each(|(line, test)| add(line, test));
                }
            }
            ending => self.here.add(line, format!("tests in .{ending} files are not supported"), "write YAML, JSON, JSONL or CSV"),
        }
        self.problems.extend(there.into_problems());
    }

    /// Adds the cross product of the configurations and the tests of a scenario.
    fn scenario(&mut self, scenario: &Value, line: u32, found: &mut Vec<WrittenTest>) {
        let mut parts = |key: &str| {
            let mut parts = vec![];
            match scenario.get(key) {
                Some(Value::Array(items)) => items.iter().for_each(|item| self.test_entry(item, line, &mut parts)),
                Some(one @ Value::String(_)) => self.test_entry(one, line, &mut parts),
                Some(_) | None => {}
            }
            parts
        };
        let (configs, tests) = (parts("config"), parts("tests"));
        check_keys(&self.here, line, "a scenario", &fields(scenario), SCENARIO_KEYS);
        if configs.is_empty() {
            return self.here.add(line, "a scenario has no config", "write config: [{ vars }] and tests:");
        }
        let empty = vec![WrittenTest { file: self.file.as_str().into(), line, value: Value::Object(Map::new()) }];
        for config in &configs {
            for test in if tests.is_empty() { &empty } else { &tests } {
                found.push(WrittenTest { file: Arc::clone(&test.file), line: test.line, value: merged(&config.value, &test.value) });
            }
        }
    }

    fn test(&mut self, value: &Value, line: u32, default: Option<&TestSpec>) -> Option<TestSpec> {
        let Value::Object(test) = value else {
            self.here.add(line, "a test is a mapping", "write vars: and assert:");
            return None;
        };
        check_keys(&self.here, line, "a test", test, TEST_KEYS);
        if test.get("assertScoringFunction").is_some_and(|function| !function.is_null()) {
            self.here.add(line, "assertScoringFunction is not supported", "use weights and thresholds");
        }
        let mut spec = default.cloned().unwrap_or_default();
        let options = test.get("options").map(fields).unwrap_or_default();
        if options.get("disableDefaultAsserts") == Some(&Value::Bool(true)) {
            spec.assertions.clear();
        }
        if self.mode == AssertionMode::Strict {
            check_options(&self.here, line, &options);
        }
        for key in ["transform", "postprocess", "transformVars", "storeOutputAs", "prefix", "suffix"] {
            if options.get(key).is_some_and(|value| !value.is_string() && !value.is_null()) {
                self.here.add(line, format!("options.{key} is not a text"), format!("write {key}: and a text"));
            }
        }
        for (key, body) in
            [("transform", transform_body as fn(&str) -> String), ("postprocess", transform_body), ("transformVars", vars_body)]
        {
            if let Some(source) = options.get(key).and_then(Value::as_str).filter(|source| !source.starts_with("file://")) {
                self.check_syntax(&format!("options.{key}"), &body(source), line);
            }
        }
        let options = self.option_files(options, line);
        let vars = self.vars(test.get("vars"), line);
        if !vars.is_empty() {
            Arc::make_mut(&mut spec.vars).extend(vars);
        }
        spec.options.extend(options);
        spec.metadata.extend(test.get("metadata").map(fields).unwrap_or_default());
        spec.description = test.get("description").and_then(Value::as_str).map(str::to_owned);
        spec.threshold = number(&self.here, line, value, "threshold").or(spec.threshold);
        spec.provider_output = test.get("providerOutput").cloned().or(spec.provider_output);
        let names = |key: &str| {
            test.get(key).and_then(Value::as_array).map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
        };
        spec.providers = names("providers").or(spec.providers);
        spec.prompts = names("prompts").or(spec.prompts);
        if let Some(own) = test.get("provider").filter(|own| !own.is_null()) {
            spec.provider = self.judge(own, line);
        }
        let inherited = spec.assertions.iter().map(|assertion| assertion.singles().len()).sum();
        spec.assertions.extend(self.assertions(test.get("assert"), line));
        if self.in_tests {
            spec.judges = self.judges(&spec, line, inherited);
        }
        spec.json = without_lines(value);
        spec.line = line;
        spec.at = Some(self.here.location(line));
        Some(spec)
    }

    /// Returns the provider that judges each assertion that a model decides: its own, or that of the options.
    /// The first `inherited` assertions are those of the default test, which has other lines.
    fn judges(&mut self, spec: &TestSpec, line: u32, inherited: usize) -> Vec<Option<Arc<ProviderSpec>>> {
        let singles = spec.assertions.iter().flat_map(AssertionSpec::singles).cloned().collect::<Vec<_>>();
        let mut found = vec![];
        for (n, assertion) in singles.into_iter().enumerate() {
            let line = if n < inherited { line } else { assertion.line };
            if JudgedType::of(&assertion.type_name).is_none() {
                found.push(None);
                continue;
            }
            let Some(named) = assertion.judge.as_ref().or_else(|| spec.options.get("provider")) else {
                self.here.add(
                    line,
                    format!("{} has no provider that judges", assertion.type_name),
                    "add provider: to it, or defaultTest.options.provider",
                );
                continue;
            };
            let named = named.clone();
            found.push(self.judge(&named, line));
        }
        found
    }

    /// Reads options that are written as files: scripts and prompts for judges.
    fn option_files(&mut self, mut options: Map<String, Value>, line: u32) -> Map<String, Value> {
        for key in ["transform", "postprocess", "transformVars", "rubricPrompt"] {
            let Some(value) = options.get(key) else { continue };
            match value {
                Value::String(text) => {
                    let Some(path) = text.strip_prefix("file://").map(str::to_owned) else { continue };
                    if key != "rubricPrompt" {
                        self.here.add(line, format!("options.{key} in a file is not supported"), "write the expression into the config");
                    } else if let Some(content) = self.read_file(&path, line) {
                        options.insert(key.to_owned(), Value::String(content));
                    }
                }
                // A chat is rendered as a text.
                Value::Array(_) if key == "rubricPrompt" => drop(options.insert(key.to_owned(), Value::String(value.to_string()))),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {}
            }
        }
        options
    }

    /// Returns the variables; texts of files are read, and nothing of a file is executed.
    fn vars(&mut self, vars: Option<&Value>, line: u32) -> Map<String, Value> {
        let mut read = vars.map(fields).unwrap_or_default();
        for value in read.values_mut() {
            let Some(pattern) = value.as_str().and_then(|text| text.strip_prefix("file://")).map(str::to_owned) else { continue };
            let paths = self.files.glob(&pattern);
            if paths.is_empty() {
                self.here.add(line, format!("there is no file {pattern}"), "check the path; it is relative to the config");
            }
            let texts: Vec<Value> = paths.iter().filter_map(|path| self.var_file(path, line)).collect();
            *value = if texts.len() == 1 { texts.into_iter().next().unwrap_or_default() } else { Value::Array(texts) };
        }
        read
    }

    fn var_file(&mut self, path: &str, line: u32) -> Option<Value> {
        let content = self.read_file(path, line)?;
        match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "js" | "cjs" | "mjs" | "ts" | "py" => {
                self.here.add(line, format!("{path}: a variable is data and is not executed"), "write its value to a text file");
                None
            }
            "yaml" | "yml" => self.yaml_file(path, &content).map(|node| Value::String(js_value(&node).to_string())),
            _ => Some(Value::String(content.trim().to_owned())),
        }
    }

    fn assertions(&mut self, asserts: Option<&Value>, line: u32) -> Vec<AssertionSpec> {
        let reader = AssertionReader { report: &self.here, mode: self.mode, files: self.files, syntax: &self.syntax };
        match asserts {
            Some(Value::Array(items)) => items.iter().filter_map(|item| reader.read(item, line)).collect(),
            None | Some(Value::Null) => vec![],
            Some(_) => {
                self.here.add(line, "assert is a list", "write assert: [{ type, value }]");
                vec![]
            }
        }
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

/// Returns a test with the fields of a scenario's configuration: vars, options and metadata are joined, assertions come first.
fn merged(config: &Value, test: &Value) -> Value {
    let mut result = fields(config);
    for (key, value) in fields(test) {
        match (result.get_mut(&key), value) {
            (Some(Value::Object(had)), Value::Object(more)) => had.extend(more),
            (Some(Value::Array(had)), Value::Array(more)) if key == "assert" => had.extend(more),
            (_, value) => drop(result.insert(key, value)),
        }
    }
    Value::Object(result)
}
