//! Execution of cells: prompt, provider, transforms, grading. Rows come out in the order of the cells.

use crate::expand::{TestCell, columns, expand};
use crate::filters::TestFilters;
use crate::graded_output::{GradedOutput, OutputGrader};
use crate::models::{CallPlace, SuiteModels};
use crate::provider_answer::ProviderAnswer;
use crate::providers::{LazyClient, ProviderCaller};
use crate::script_answer::vars_body;
use crate::suite::{PromptfooSuite, ProviderSpec, ProviderTarget, TestSpec};
use crate::test_row::{RunTotals, TestRow};
use futures::StreamExt;
use model::ContentHash;
use run::ledger::CallRole;
use score::assertions::AssertionMode;
use script::{ScriptPool, ScriptReply, ScriptRequest};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

const DEFAULT_CONCURRENCY: usize = 4;
const DEFAULT_TIMEOUT_MS: u64 = 300_000;
/// Rows whose prompt is rendered, or whose output is graded, at once. `-j` is for calls of providers.
const ROWS_AT_ONCE: usize = 128;
/// Rows that may be ahead of the first one without a result, because rows are written in order.
const ROWS_AHEAD: usize = 4_096;

/// Client, scripts and environment for calls of providers.
#[derive(Debug)]
pub struct ProviderEnvironment {
    pub client: LazyClient,
    pub pool: ScriptPool,
    /// Environment of programs.
    pub env: BTreeMap<String, String>,
    /// Models behind the budget of the run.
    pub models: Arc<SuiteModels>,
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

/// Row with the answer of its provider.
struct AnsweredRow {
    row: TestRow,
    answer: Option<ProviderAnswer>,
}

/// Outputs that later tests use as variables.
type StoredOutputs = Mutex<Map<String, Value>>;

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
        let mut totals = RunTotals::of_columns(columns(self.suite, &self.filters));
        let template_env = Value::Object(self.suite.env.clone());
        // A test that uses the output of another one waits for it.
        let is_serial = cells.iter().any(|cell| is_serial(&cell.test));
        let calls = if is_serial { 1 } else { self.concurrency.or(self.suite.max_concurrency).unwrap_or(DEFAULT_CONCURRENCY).max(1) };
        let stored = StoredOutputs::default();
        if is_serial {
            for cell in cells {
                let row =
                    self.graded(self.answered(self.rendered(cell, &template_env, &stored).await, &template_env).await, &template_env).await;
                keep_output(&row, &stored);
                totals.add(&row);
                write(&row)?;
            }
        } else {
            // A call that ends makes room for the next one at once, whichever it is; rows are put in order at the end.
            let ahead = Semaphore::new(ROWS_AHEAD.max(calls));
            let rendered = futures::stream::iter(cells.into_iter().enumerate()).map(async |(n, cell)| {
                let permit = ahead.acquire().await;
                (n, permit, self.rendered(cell, &template_env, &stored).await)
            });
            let answered =
                rendered.buffered(ROWS_AT_ONCE).map(async |(n, permit, row)| (n, permit, self.answered(row, &template_env).await));
            let graded = answered.buffer_unordered(calls).map(async |(n, permit, row)| (n, permit, self.graded(row, &template_env).await));
            let mut rows = std::pin::pin!(graded.buffer_unordered(ROWS_AT_ONCE));
            let mut waiting = BTreeMap::new();
            let mut next = 0;
            while let Some((n, permit, row)) = rows.next().await {
                waiting.insert(n, (permit, row));
                while let Some((_permit, row)) = waiting.remove(&next) {
                    next += 1;
                    totals.add(&row);
                    write(&row)?;
                }
            }
        }
        // Rows are written already, so a metric that cannot be computed does not take the results with it.
        totals.fault = self.derive_all(&mut totals).await.err();
        totals.duration_ms = begin.elapsed().as_millis() as u64;
        Ok(totals)
    }

    /// Renders the prompt of a cell.
    async fn rendered(&self, cell: TestCell, template_env: &Value, stored: &StoredOutputs) -> TestRow {
        let mut row = TestRow::new(cell);
        if let Err(why) = self.render_row(&mut row, template_env, stored).await {
            row.fail(why);
        }
        row
    }

    async fn render_row(&self, row: &mut TestRow, template_env: &Value, stored: &StoredOutputs) -> Result<(), String> {
        let stored = stored.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !stored.is_empty() {
            let vars = Arc::make_mut(&mut row.vars);
            for (name, value) in stored {
                vars.entry(name).or_insert(value);
            }
        }
        if self.mode == AssertionMode::Strict && row.vars.values().any(Value::is_null) {
            Arc::make_mut(&mut row.vars).retain(|_, value| !value.is_null());
        }
        if row.vars.values().any(|value| value.as_str().is_some_and(|text| text.ends_with('\n'))) {
            for value in Arc::make_mut(&mut row.vars).values_mut() {
                if let Value::String(text) = value
                    && text.ends_with('\n')
                {
                    text.pop();
                }
            }
        }
        self.transform_vars(row).await?;
        row.prompt = self.prompt(row, template_env).await?;
        if !self.environment.models.is_empty() {
            row.trial = Some(trial_id(row));
        }
        Ok(())
    }

    /// Applies `options.transformVars`.
    async fn transform_vars(&self, row: &mut TestRow) -> Result<(), String> {
        let Some(source) = row.cell.test.options.get("transformVars").and_then(Value::as_str) else { return Ok(()) };
        let reply = self
            .environment
            .pool
            .run(ScriptRequest::body(vars_body(source), &row.vars, &json!({})))
            .await
            .map_err(|why| why.to_string())?;
        match reply {
            ScriptReply::Returned { value: Value::Object(fields), .. } => {
                Arc::make_mut(&mut row.vars).extend(fields);
                Ok(())
            }
            ScriptReply::Returned { .. } | ScriptReply::Rendered(_) => Err("transformVars returned no mapping of variables".to_owned()),
            ScriptReply::Threw(why) | ScriptReply::Stopped(why) => Err(format!("transformVars: {why}")),
        }
    }

    fn caller<'s>(&'s self, template_env: &'s Value) -> ProviderCaller<'s> {
        let ProviderEnvironment { client, pool, env, models } = self.environment;
        let timeout = Duration::from_millis(self.suite.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS));
        ProviderCaller { client, pool, env, models, template_env, timeout }
    }

    /// Calls the provider of a row.
    async fn answered(&self, mut row: TestRow, template_env: &Value) -> AnsweredRow {
        if row.error.is_some() {
            return AnsweredRow { row, answer: None };
        }
        let test = Arc::clone(&row.cell.test);
        let begin = now();
        let answer = match &test.provider_output {
            Some(output) => ProviderAnswer { output: output.clone(), ..ProviderAnswer::default() },
            None => self.call(&row, &test, template_env).await,
        };
        row.latency_ms = answer.latency_ms.unwrap_or(begin.elapsed().as_millis() as u64);
        row.cost = answer.cost.unwrap_or_default();
        row.token_usage = answer.token_usage.clone();
        AnsweredRow { row, answer: Some(answer) }
    }

    async fn call(&self, row: &TestRow, test: &TestSpec, template_env: &Value) -> ProviderAnswer {
        let caller = self.caller(template_env);
        let no_trial = ContentHash::of_text("");
        let place =
            CallPlace { trial: row.trial.as_ref().unwrap_or(&no_trial), role: CallRole::Subject, n: 0, seed: row.cell.repeat as u64 };
        let options = row.call_options();
        match test.provider.as_deref() {
            Some(ProviderSpec { target: ProviderTarget::SimulatedUser(user), .. }) => {
                crate::simulated_user::converse(&caller, user, row, &options, place).await
            }
            Some(own) => caller.call_untransformed(own, &row.prompt, &row.vars, &options, place).await,
            None => caller.call_untransformed(&row.cell.provider, &row.prompt, &row.vars, &options, place).await,
        }
    }

    /// Grades the answer of a row.
    async fn graded(&self, answered: AnsweredRow, template_env: &Value) -> TestRow {
        let AnsweredRow { mut row, answer } = answered;
        if let Some(answer) = answer
            && let Err(why) = self.grade(&mut row, answer, template_env).await
        {
            row.fail(why);
        }
        row
    }

    async fn grade(&self, row: &mut TestRow, answer: ProviderAnswer, template_env: &Value) -> Result<(), String> {
        let answer = self.caller(template_env).finished(answer).await;
        if let Some(why) = &answer.error {
            row.fault = answer.fault;
            row.failed_call = true;
            return Err(why.clone());
        }
        if answer.output.is_null() {
            return Err("the provider returned no output".to_owned());
        }
        let (test, provider) = (Arc::clone(&row.cell.test), Arc::clone(&row.cell.provider));
        let caller = self.caller(template_env);
        let grader = OutputGrader { pool: &self.environment.pool, caller: &caller, mode: self.mode, template_env };
        let mut output = answer.output.clone();
        let test_transform = ["transform", "postprocess"].iter().find_map(|key| test.options.get(*key)).and_then(Value::as_str);
        for source in provider.transform.as_deref().into_iter().chain(test_transform) {
            output = grader.transform(source, &output, graded_output(row, &answer, &provider, &output)).await?;
        }
        let grade = grader.grade(&test, graded_output(row, &answer, &provider, &output)).await;
        row.response = answer.response;
        row.output = output;
        let grade = grade.map_err(|fault| {
            row.fault = fault.fault;
            fault.why
        })?;
        row.judge_cost = grade.judge_cost;
        row.success = grade.totals.pass;
        row.score = grade.totals.score;
        row.reason = grade.totals.reason;
        row.named = grade.totals.named;
        row.components = grade.components;
        Ok(())
    }

    /// Computes the derived metrics of all columns.
    async fn derive_all(&self, totals: &mut RunTotals) -> Result<(), String> {
        let mut computed = 0;
        for column in &mut totals.columns {
            computed = self.derive(column).await?.max(computed);
        }
        if computed < self.suite.derived_metrics.len() && self.mode == AssertionMode::Strict && totals.total() > 0 {
            return Err("a derived metric cannot be computed for any provider and prompt; check its names and its arithmetic".to_owned());
        }
        Ok(())
    }

    /// Computes the derived metrics of a column from the sums of its metrics, and returns their number. One that names a metric which the
    /// column does not have is left out; in promptfoo it is 0.
    async fn derive(&self, column: &mut crate::test_row::ColumnTotals) -> Result<usize, String> {
        let mut computed = 0;
        for metric in &self.suite.derived_metrics {
            // Other metrics may have names that are no words of JavaScript.
            let words: Vec<&str> = metric.value.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).collect();
            let named =
                column.named.iter().filter(|(name, _)| words.contains(&name.as_str()) && !name.starts_with(|c: char| c.is_ascii_digit()));
            let mut scope: Map<String, Value> = named.map(|(name, sum)| (name.clone(), json!(sum))).collect();
            scope.insert("__count".to_owned(), (column.passed + column.failed + column.errors).into());
            let body = "const { abs, ceil, exp, floor, log, log10, log2, max, min, pow, round, sqrt, sign } = Math; \
                        const names = Object.keys(output); const f = new Function(...names, 'abs', 'ceil', 'exp', 'floor', 'log', 'log10', \
                        'log2', 'max', 'min', 'pow', 'round', 'sqrt', 'sign', 'return (' + context + ')'); \
                        return f(...names.map(n => output[n]), abs, ceil, exp, floor, log, log10, log2, max, min, pow, round, sqrt, sign);";
            let request = ScriptRequest::body(body, &scope, &metric.value.replace('^', "**"));
            match self.environment.pool.run(request).await.map_err(|why| why.to_string())? {
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

/// Returns whether a test must run alone: it stores its output, or says so.
fn is_serial(test: &TestSpec) -> bool {
    test.options.contains_key("storeOutputAs") || test.options.get("runSerially") == Some(&Value::Bool(true))
}

/// Keeps the output of a test for later ones.
fn keep_output(row: &TestRow, stored: &StoredOutputs) {
    if let Some(name) = row.cell.test.options.get("storeOutputAs").and_then(Value::as_str).filter(|_| row.error.is_none()) {
        stored.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), row.output.clone());
    }
}

/// Returns an id that is the same whenever the same test is run with the same prompt, provider and repeat.
fn trial_id(row: &TestRow) -> ContentHash {
    let cell = &row.cell;
    ContentHash::of_json(&json!({
        "provider": cell.provider.model_key(), "prompt": row.prompt, "vars": *row.vars, "test": cell.test.json,
        "place": [cell.test_index, cell.prompt_index, cell.repeat],
    }))
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
        trial: row.trial.as_ref(),
        repeat: row.cell.repeat,
    }
}

#[expect(clippy::disallowed_methods, reason = "the latency of a provider is real time")]
fn now() -> Instant {
    Instant::now()
}
