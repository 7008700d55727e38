//! Sources of tests: the config itself, files and scenarios.

use super::{ConfigReader, FilePlaces, TEST_LIMITS, items};
use crate::assertion_spec::fields;
use crate::csv_tests::csv_tests;
use crate::js_yaml::{field, js_value, js_value_with_lines};
use crate::known_keys::{SCENARIO_KEYS, check_keys};
use crate::strict_json::parse_unique;
use crate::suite::TestSpec;
use model::ProblemReport;
use model::yaml::{YamlNode, load};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Test as written, with its place.
struct WrittenTest {
    file: Arc<str>,
    line: u32,
    value: Value,
}

impl ConfigReader<'_> {
    pub(super) fn tests(&mut self, node: &YamlNode) {
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
        for path in self.glob_files(pattern, line) {
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
