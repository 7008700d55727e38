//! One test of a config: variables, options, assertions and their judges.

use super::ConfigReader;
use crate::assertion_spec::{AssertionReader, AssertionSpec, fields};
use crate::js_yaml::{js_value, without_lines};
use crate::judged::JudgedType;
use crate::known_keys::{TEST_KEYS, check_keys, check_options, number};
use crate::script_answer::{transform_body, vars_body};
use crate::suite::{ProviderSpec, TestSpec};
use score::assertions::AssertionMode;
use serde_json::{Map, Value};
use std::sync::Arc;

impl ConfigReader<'_> {
    pub(super) fn test(&mut self, value: &Value, line: u32, default: Option<&TestSpec>) -> Option<TestSpec> {
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
            let paths = self.glob_files(&pattern, line);
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
}
