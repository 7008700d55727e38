//! Result files of promptfoo, version 3, as they are read back: which test passed with which provider.

use crate::suite::TestSpec;
use model::ContentHash;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Most rows of a file.
const MAX_ROWS: usize = 2_000_000;

#[derive(Deserialize)]
struct ResultFile {
    results: ResultTable,
}

#[derive(Deserialize)]
struct ResultTable {
    version: u64,
    results: Vec<ResultRow>,
}

/// Row of a result file. Unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultRow {
    pub test_idx: usize,
    #[serde(default)]
    pub prompt_idx: usize,
    pub provider: ResultProvider,
    #[serde(default)]
    pub prompt: ResultPrompt,
    #[serde(default)]
    pub vars: Map<String, Value>,
    #[serde(default)]
    pub test_case: Value,
    #[serde(default)]
    pub response: Value,
    pub success: bool,
    pub score: f64,
    #[serde(default)]
    pub failure_reason: u8,
    #[serde(default)]
    pub error: Option<String>,
    #[serde(default)]
    pub latency_ms: f64,
    #[serde(default)]
    pub cost: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct ResultProvider {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub label: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct ResultPrompt {
    #[serde(default)]
    pub label: String,
}

/// Test of an earlier run.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierTest {
    description: Option<String>,
    vars: Value,
}

impl EarlierTest {
    /// Returns whether a test is this one: it has its description and its variables.
    pub(crate) fn is_of(&self, test: &TestSpec) -> bool {
        let written = test.json.get("vars").cloned().unwrap_or_default();
        self.description == test.description && (self.vars == written || self.vars == Value::Object((*test.vars).clone()))
    }
}

impl ResultRow {
    /// Returns whether the test could not be decided.
    pub fn is_error(&self) -> bool {
        self.failure_reason == 2
    }

    /// Returns the test of the row.
    pub fn test(&self) -> EarlierTest {
        let part = |key: &str| self.test_case.get(key).cloned().unwrap_or_default();
        EarlierTest { description: part("description").as_str().map(str::to_owned), vars: part("vars") }
    }

    /// Returns the name of the provider.
    pub fn subject(&self) -> &str {
        self.provider.label.as_deref().filter(|label| !label.is_empty()).unwrap_or(&self.provider.id)
    }

    /// Returns the name under which the test is paired with that of another run: its description, else its variables.
    pub fn case_name(&self) -> String {
        const MAX_CHARS: usize = 80;
        let test = match self.test_case.get("description").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            Some(description) => description.to_owned(),
            None if self.vars.is_empty() => format!("test {}", self.test_idx.saturating_add(1)),
            None => {
                let whole = Value::Object(self.vars.clone()).to_string();
                let start: String = whole.chars().take(MAX_CHARS).collect();
                if start.len() == whole.len() { whole } else { format!("{start}… {}", ContentHash::of_text(&whole).short()) }
            }
        };
        if self.prompt_idx == 0 { test } else { format!("{test} prompt {}", self.prompt_idx.saturating_add(1)) }
    }

    /// Returns the output as a text.
    pub fn output(&self) -> String {
        let output = self.response.get("output").unwrap_or(&Value::Null);
        output.as_str().map_or_else(|| output.to_string(), str::to_owned)
    }
}

/// Reads a result file.
///
/// # Errors
/// A message without the path, if it is not a result file of version 3.
pub fn read_results(text: &str) -> Result<Vec<ResultRow>, String> {
    let file: ResultFile = serde_json::from_str(text).map_err(|why| format!("it is not a result file of promptfoo: {why}"))?;
    match (file.results.version, file.results.results.len()) {
        (3, 0) => Err("it has no results".to_owned()),
        (3, 1..=MAX_ROWS) => Ok(file.results.results),
        (3, _) => Err(format!("it has more than {MAX_ROWS} results")),
        (version, _) => Err(format!("it has version {version}, and only version 3 is read")),
    }
}
