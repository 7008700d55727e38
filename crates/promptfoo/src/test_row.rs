//! Results of cells, and their sums.

use crate::expand::TestCell;
use crate::model_settings::is_model_setting;
use crate::suite::{PromptSpec, ProviderSpec};
use indexmap::IndexMap;
use model::ContentHash;
use run::SecretRedactor;
use run::providers::FaultKind;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// Result of one cell.
#[derive(Debug, Clone)]
pub struct TestRow {
    pub cell: TestCell,
    pub prompt: String,
    pub vars: Arc<Map<String, Value>>,
    /// Id of the trial, if models are asked.
    pub trial: Option<ContentHash>,
    /// Output after the transforms.
    pub output: Value,
    /// Other fields of the response.
    pub response: Map<String, Value>,
    pub success: bool,
    pub score: f64,
    /// The test could not be decided.
    pub error: Option<String>,
    /// The provider failed, and not the grading.
    pub failed_call: bool,
    /// Kind of the fault, if a model failed.
    pub fault: Option<FaultKind>,
    /// Reason of the verdict.
    pub reason: String,
    pub named: IndexMap<String, (f64, f64)>,
    pub components: Vec<ComponentResult>,
    pub latency_ms: u64,
    pub cost: f64,
    /// Cost of the judges, in US dollars.
    pub judge_cost: f64,
    pub token_usage: Value,
}

/// Result of one assertion, in promptfoo's shape.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComponentResult {
    pub pass: bool,
    pub score: f64,
    pub reason: String,
    pub assertion: Arc<Value>,
}

impl TestRow {
    pub(crate) fn new(cell: TestCell) -> Self {
        Self {
            prompt: String::new(),
            vars: Arc::clone(&cell.vars),
            trial: None,
            output: Value::Null,
            response: Map::new(),
            success: false,
            score: 0.0,
            error: None,
            failed_call: false,
            fault: None,
            reason: String::new(),
            named: IndexMap::new(),
            components: vec![],
            latency_ms: 0,
            cost: 0.0,
            judge_cost: 0.0,
            token_usage: Value::Null,
            cell,
        }
    }

    pub(crate) fn fail(&mut self, why: String) {
        if self.prompt.is_empty() {
            self.prompt.clone_from(&self.cell.prompt.raw);
        }
        self.reason.clone_from(&why);
        self.error = Some(why);
        self.success = false;
    }

    /// Returns the row without secrets.
    #[must_use]
    pub fn redacted(&self, secrets: &SecretRedactor) -> Self {
        let mut row = self.clone();
        let clean = |text: &mut String| {
            if let Cow::Owned(redacted) = secrets.redact(text) {
                *text = redacted;
            }
        };
        clean(&mut row.prompt);
        clean(&mut row.reason);
        row.error.as_mut().map(clean);
        row.components.iter_mut().for_each(|component| clean(&mut component.reason));
        secrets.redact_value(&mut row.output);
        row.response.values_mut().for_each(|value| secrets.redact_value(value));
        if row.vars.values().any(|value| secrets.finds(&value.to_string())) {
            Arc::make_mut(&mut row.vars).values_mut().for_each(|value| secrets.redact_value(value));
        }
        if secrets.finds(&row.cell.test.json.to_string()) {
            let mut test = (*row.cell.test).clone();
            secrets.redact_value(&mut test.json);
            row.cell.test = Arc::new(test);
        }
        row
    }

    /// Returns the name of the test in reports: its description, or its number.
    pub fn name(&self) -> String {
        let repeat = if self.cell.repeat > 0 { format!(" repeat {}", self.cell.repeat + 1) } else { String::new() };
        match &self.cell.test.description {
            Some(description) => format!("{description}{repeat}"),
            None => format!("test {}{repeat}", self.cell.test_index + 1),
        }
    }

    /// Returns the settings for the model: those of the prompt, then those of the test.
    pub(crate) fn call_options(&self) -> Value {
        let of_test = self.cell.test.options.iter().filter(|(name, _)| is_model_setting(name));
        let of_prompt = self.cell.prompt.config.as_object().into_iter().flatten();
        let all: Map<String, Value> = of_prompt.chain(of_test).map(|(name, value)| (name.clone(), value.clone())).collect();
        Value::Object(all)
    }
}

/// Sums of one pair of provider and prompt.
#[derive(Debug, Clone)]
pub struct ColumnTotals {
    pub provider: Arc<ProviderSpec>,
    pub prompt: Arc<PromptSpec>,
    pub passed: usize,
    pub failed: usize,
    pub errors: usize,
    pub score: f64,
    pub latency_ms: u64,
    pub cost: f64,
    pub named: IndexMap<String, f64>,
    pub named_counts: IndexMap<String, usize>,
    pub asserts_passed: usize,
    pub asserts_failed: usize,
}

/// Sums of a run.
#[derive(Debug, Clone, Default)]
pub struct RunTotals {
    pub columns: Vec<ColumnTotals>,
    pub passed: usize,
    pub failed: usize,
    pub errors: usize,
    /// Errors for lack of money.
    pub unfunded: usize,
    pub tokens: [u64; 4],
    pub duration_ms: u64,
    /// Reason why the results are not complete, such as a derived metric that cannot be computed.
    pub fault: Option<String>,
}

impl RunTotals {
    pub(crate) fn of_columns(columns: Vec<(Arc<ProviderSpec>, Arc<PromptSpec>)>) -> Self {
        let columns = columns.into_iter().map(|(provider, prompt)| ColumnTotals {
            provider,
            prompt,
            passed: 0,
            failed: 0,
            errors: 0,
            score: 0.0,
            latency_ms: 0,
            cost: 0.0,
            named: IndexMap::new(),
            named_counts: IndexMap::new(),
            asserts_passed: 0,
            asserts_failed: 0,
        });
        Self { columns: columns.collect(), ..Self::default() }
    }

    pub fn total(&self) -> usize {
        self.passed + self.failed + self.errors
    }

    pub(crate) fn add(&mut self, row: &TestRow) {
        let (passed, error) = (usize::from(row.success), usize::from(row.error.is_some()));
        let failed = 1 - passed - error;
        self.passed += passed;
        self.failed += failed;
        self.errors += error;
        self.unfunded += usize::from(row.fault == Some(FaultKind::Unfunded));
        for (sum, key) in self.tokens.iter_mut().zip(["total", "prompt", "completion", "numRequests"]) {
            *sum += row.token_usage.get(key).and_then(Value::as_u64).unwrap_or_default();
        }
        let Some(column) = self.columns.get_mut(row.cell.prompt_index) else { return };
        column.passed += passed;
        column.failed += failed;
        column.errors += error;
        column.score += row.score;
        column.latency_ms += row.latency_ms;
        column.cost += row.cost;
        for (name, (score, _)) in &row.named {
            *column.named.entry(name.clone()).or_default() += score;
            *column.named_counts.entry(name.clone()).or_default() += 1;
        }
        column.asserts_passed += row.components.iter().filter(|component| component.pass).count();
        column.asserts_failed += row.components.iter().filter(|component| !component.pass).count();
    }
}
