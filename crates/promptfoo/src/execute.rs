//! Execution of cells: prompt, provider, transforms, grading. Rows come out in the order of the cells.

use crate::expand::{TestCell, columns, expand};
use crate::filters::TestFilters;
use crate::grade::{GradedOutput, OutputGrader};
use crate::providers::{ProviderAnswer, ProviderCaller, texts_of, with_texts};
use crate::suite::{PromptSpec, PromptfooSuite, ProviderSpec};
use crate::template::{is_template, render, render_all};
use futures::StreamExt;
use indexmap::IndexMap;
use score::assertions::AssertionMode;
use script::{ScriptPool, ScriptReply, ScriptRequest};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const DEFAULT_CONCURRENCY: usize = 4;
const DEFAULT_TIMEOUT_MS: u64 = 300_000;
/// Most passes in which variables of promptfoo's mode name other variables.
const MAX_VAR_PASSES: usize = 5;

/// Client, scripts and environment for calls of providers.
#[derive(Debug)]
pub struct ProviderEnvironment {
    pub client: reqwest::Client,
    pub pool: ScriptPool,
    /// Environment of programs.
    pub env: BTreeMap<String, String>,
    /// Keys and addresses of APIs, by the name of their variable.
    pub keys: BTreeMap<String, String>,
}

/// A suite with everything that its run needs.
#[derive(Debug)]
pub struct SuiteRunner<'a> {
    pub suite: &'a PromptfooSuite,
    pub mode: AssertionMode,
    pub environment: &'a ProviderEnvironment,
    pub filters: TestFilters,
    pub concurrency: Option<usize>,
    pub repeat: Option<usize>,
    /// Variables for every test that does not set them.
    pub vars: Map<String, Value>,
}

/// Result of one cell.
#[derive(Debug, Clone)]
pub struct TestRow {
    pub cell: TestCell,
    pub prompt: String,
    pub vars: Map<String, Value>,
    pub answer: Value,
    pub success: bool,
    pub score: f64,
    /// The test could not be decided.
    pub error: Option<String>,
    /// Reason of the verdict.
    pub reason: String,
    pub named: IndexMap<String, (f64, f64)>,
    pub components: Vec<Value>,
    pub latency_ms: u64,
    pub cost: f64,
    pub token_usage: Value,
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
    pub tokens: [u64; 4],
    pub duration_ms: u64,
}

impl RunTotals {
    pub fn total(&self) -> usize {
        self.passed + self.failed + self.errors
    }

    fn add(&mut self, row: &TestRow) {
        let (passed, error) = (usize::from(row.success), usize::from(row.error.is_some()));
        let failed = 1 - passed - error;
        self.passed += passed;
        self.failed += failed;
        self.errors += error;
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
        for component in &row.components {
            match component.get("pass").and_then(Value::as_bool) {
                Some(true) => column.asserts_passed += 1,
                Some(false) | None => column.asserts_failed += 1,
            }
        }
    }
}

impl SuiteRunner<'_> {
    /// Returns the cells of the run; none if nothing is selected.
    ///
    /// # Errors
    /// If there are too many.
    pub fn cells(&self) -> Result<Vec<TestCell>, String> {
        expand(self.suite, &self.filters, self.repeat.or(self.suite.repeat).unwrap_or(1), &self.vars)
    }

    /// Runs all cells, and hands each row over as soon as those before it are done.
    ///
    /// # Errors
    /// If a row cannot be written.
    pub async fn run(&self, cells: Vec<TestCell>, mut write: impl FnMut(&TestRow) -> Result<(), String>) -> Result<RunTotals, String> {
        let begin = now();
        let columns = columns(self.suite, &self.filters).into_iter().map(|(provider, prompt)| ColumnTotals {
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
        let mut totals = RunTotals { columns: columns.collect(), ..RunTotals::default() };
        let template_env = Value::Object(self.suite.env.clone());
        let concurrency = self.concurrency.or(self.suite.max_concurrency).unwrap_or(DEFAULT_CONCURRENCY).max(1);
        let mut rows = futures::stream::iter(cells).map(|cell| self.row(cell, &template_env)).buffered(concurrency);
        while let Some(row) = rows.next().await {
            totals.add(&row);
            write(&row)?;
        }
        drop(rows);
        let mut computed = 0;
        for column in &mut totals.columns {
            computed = self.derive(column).await?.max(computed);
        }
        if computed < self.suite.derived_metrics.len() && self.mode == AssertionMode::Strict && totals.total() > 0 {
            return Err("a derived metric cannot be computed for any provider and prompt; check its names and its arithmetic".to_owned());
        }
        totals.duration_ms = begin.elapsed().as_millis() as u64;
        Ok(totals)
    }

    async fn row(&self, cell: TestCell, template_env: &Value) -> TestRow {
        let mut row = TestRow {
            prompt: cell.prompt.raw.clone(),
            vars: (*cell.vars).clone(),
            answer: Value::Null,
            success: false,
            score: 0.0,
            error: None,
            reason: String::new(),
            named: IndexMap::new(),
            components: vec![],
            latency_ms: 0,
            cost: 0.0,
            token_usage: Value::Null,
            cell,
        };
        if let Err(why) = self.fill(&mut row, template_env).await {
            row.error = Some(why.clone());
            row.reason = why;
            row.success = false;
        }
        row
    }

    async fn fill(&self, row: &mut TestRow, template_env: &Value) -> Result<(), String> {
        let ProviderEnvironment { client, pool, env, keys } = self.environment;
        let (test, provider) = (Arc::clone(&row.cell.test), Arc::clone(&row.cell.provider));
        row.vars.retain(|_, value| !value.is_null() || self.mode == AssertionMode::Compat);
        for value in row.vars.values_mut() {
            if let Value::String(text) = value
                && text.ends_with('\n')
            {
                text.pop();
            }
        }
        row.prompt = self.prompt(&row.cell.prompt.raw, &mut row.vars, &test.options, template_env).await?;
        let timeout = Duration::from_millis(self.suite.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS));
        let caller = ProviderCaller { client, pool, env, keys, template_env, timeout };
        let begin = now();
        let answer = match &test.provider_output {
            Some(output) => ProviderAnswer { output: output.clone(), ..ProviderAnswer::default() },
            None => caller.call(&provider, &row.prompt, &row.vars).await,
        };
        row.latency_ms = begin.elapsed().as_millis() as u64;
        row.cost = answer.cost.unwrap_or_default();
        row.token_usage = answer.token_usage.clone();
        if let Some(why) = &answer.error {
            return Err(why.clone());
        }
        let grader = OutputGrader { pool, caller: &caller, mode: self.mode, template_env };
        let mut output = answer.output.clone();
        let test_transform = ["transform", "postprocess"].iter().find_map(|key| test.options.get(*key)).and_then(Value::as_str);
        for source in provider.transform.as_deref().into_iter().chain(test_transform) {
            output = grader.transform(source, &output, graded_output(row, &answer, &provider, &output)).await?;
        }
        let mut response = Value::Object(answer.response.clone());
        response["output"] = output.clone();
        let grade = grader.grade(&test, graded_output(row, &answer, &provider, &output)).await;
        row.answer = response;
        let grade = grade?;
        row.success = grade.totals.pass;
        row.score = grade.totals.score;
        row.reason = grade.totals.reason;
        row.named = grade.totals.named;
        row.components = grade.components;
        Ok(())
    }

    /// Renders a prompt. Variables are data, except in promptfoo's mode, where they are templates too.
    async fn prompt(&self, raw: &str, vars: &mut Map<String, Value>, options: &Map<String, Value>, env: &Value) -> Result<String, String> {
        let pool = &self.environment.pool;
        let part = |key: &str| options.get(key).and_then(Value::as_str).unwrap_or_default();
        let raw = format!("{}{raw}{}", part("prefix"), part("suffix"));
        if self.mode == AssertionMode::Compat {
            self.render_vars(vars, env).await?;
        }
        if let Ok(chat) = serde_json::from_str::<Value>(&raw)
            && (chat.is_array() || chat.is_object())
        {
            let texts = render_all(pool, texts_of(&chat), vars, env).await?;
            let rendered = with_texts(&chat, &mut texts.into_iter());
            return serde_json::to_string_pretty(&rendered).map_err(|why| why.to_string());
        }
        render(pool, &raw, vars, env).await
    }

    /// Renders variables that name other variables, as promptfoo does; those with names that do not exist stay as they are.
    async fn render_vars(&self, vars: &mut Map<String, Value>, env: &Value) -> Result<(), String> {
        for _ in 0..MAX_VAR_PASSES {
            let names: Vec<String> = vars
                .iter()
                .filter(|(_, value)| value.as_str().is_some_and(|text| is_template(text) && !names_undefined(text, vars)))
                .map(|(name, _)| name.clone())
                .collect();
            if names.is_empty() {
                return Ok(());
            }
            let templates = names.iter().filter_map(|name| vars[name].as_str().map(str::to_owned)).collect();
            let rendered = render_all(&self.environment.pool, templates, vars, env).await?;
            for (name, text) in names.into_iter().zip(rendered) {
                vars.insert(name, Value::String(text));
            }
        }
        Ok(())
    }

    /// Computes the derived metrics of a column from the sums of its metrics, and returns their number. One that names a metric which the
    /// column does not have is left out; in promptfoo it is 0.
    async fn derive(&self, column: &mut ColumnTotals) -> Result<usize, String> {
        let mut computed = 0;
        for metric in &self.suite.derived_metrics {
            let mut scope: Map<String, Value> = column.named.iter().map(|(name, sum)| (name.clone(), json!(sum))).collect();
            scope.insert("__count".to_owned(), (column.passed + column.failed + column.errors).into());
            let body = "const { abs, ceil, exp, floor, log, log10, log2, max, min, pow, round, sqrt, sign } = Math; \
                        const names = Object.keys(output); const f = new Function(...names, 'abs', 'ceil', 'exp', 'floor', 'log', 'log10', \
                        'log2', 'max', 'min', 'pow', 'round', 'sqrt', 'sign', 'return (' + context + ')'); \
                        return f(...names.map(n => output[n]), abs, ceil, exp, floor, log, log10, log2, max, min, pow, round, sqrt, sign);";
            let expression = metric.value.replace('^', "**");
            let request = ScriptRequest::Body { source: body.to_owned(), output: Value::Object(scope), context: expression.into() };
            let reply = self.environment.pool.run(request).await.map_err(|why| why.to_string())?;
            match reply {
                ScriptReply::Returned { value, .. } if value.is_number() => {
                    column.named.insert(metric.name.clone(), value.as_f64().unwrap_or_default());
                    computed += 1;
                }
                ScriptReply::Returned { .. } | ScriptReply::Rendered(_) | ScriptReply::Threw(_) | ScriptReply::Stopped(_) => {
                    if self.mode == AssertionMode::Compat {
                        column.named.entry(metric.name.clone()).or_default();
                    }
                }
            }
        }
        Ok(computed)
    }
}

fn graded_output<'a>(row: &'a TestRow, answer: &'a ProviderAnswer, provider: &'a ProviderSpec, output: &'a Value) -> GradedOutput<'a> {
    GradedOutput {
        answer,
        output,
        prompt: &row.prompt,
        vars: &row.vars,
        provider_id: &provider.id,
        provider_config: &provider.config,
        latency_ms: row.latency_ms as f64,
    }
}

/// Returns whether a template names a variable that does not exist.
fn names_undefined(text: &str, vars: &Map<String, Value>) -> bool {
    let mut rest = text;
    while let Some((_, inner)) = rest.split_once("{{") {
        let Some((expression, after)) = inner.split_once("}}") else { return true };
        let name: String = expression.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if is_name && !vars.contains_key(&name) && !["env", "range", "true", "false", "none"].contains(&name.as_str()) {
            return true;
        }
        rest = after;
    }
    false
}

#[expect(clippy::disallowed_methods, reason = "the latency of a provider is real time")]
fn now() -> Instant {
    Instant::now()
}
