//! Results in promptfoo's formats: JSON of version 3, written row by row, JSON lines, and JUnit.

use crate::test_row::{ColumnTotals, ComponentResult, RunTotals, TestRow};
use indexmap::IndexMap;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Writer of results as one JSON document. Rows are written as they come, so that a run needs no memory for them.
#[derive(Debug)]
pub struct JsonResults<W: Write> {
    out: W,
    rows: usize,
    line: Vec<u8>,
    eval_id: String,
    timestamp: String,
}

impl<W: Write> JsonResults<W> {
    /// Begins the document.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(mut out: W, eval_id: &str, timestamp: &str) -> io::Result<Self> {
        write!(out, "{{\"evalId\":{},\"results\":{{\"version\":3,\"timestamp\":{},\"results\":[", json!(eval_id), json!(timestamp))?;
        Ok(Self { out, rows: 0, line: vec![], eval_id: eval_id.to_owned(), timestamp: timestamp.to_owned() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn row(&mut self, row: &TestRow) -> io::Result<()> {
        if self.rows > 0 {
            self.out.write_all(b",")?;
        }
        self.rows += 1;
        self.line.clear();
        serde_json::to_writer(&mut self.line, &RowView::of(row, &self.eval_id))?;
        self.out.write_all(&self.line)
    }

    /// Ends the document with the sums.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end(mut self, config: &Value, totals: &RunTotals) -> io::Result<()> {
        let prompts: Vec<Value> = totals.columns.iter().map(column_json).collect();
        let [total, prompt, completion, requests] = totals.tokens;
        let stats = json!({
            "successes": totals.passed, "failures": totals.failed, "errors": totals.errors, "durationMs": totals.duration_ms,
            "tokenUsage": { "total": total, "prompt": prompt, "completion": completion, "cached": 0, "numRequests": requests },
        });
        let metadata = json!({ "exportedAt": self.timestamp, "evaluationCreatedAt": self.timestamp, "generatedBy": "bardo-eval" });
        write!(
            self.out,
            "],\"prompts\":{},\"stats\":{stats}}},\"config\":{},\"shareableUrl\":null,\"metadata\":{metadata},\"vars\":[],\"runtimeOptions\":{{}}}}",
            Value::Array(prompts),
            config
        )?;
        self.out.flush()
    }
}

/// Row in promptfoo's shape.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RowView<'r> {
    id: String,
    test_idx: usize,
    prompt_idx: usize,
    prompt_id: &'r str,
    provider: ProviderView<'r>,
    prompt: PromptView<'r>,
    vars: &'r Map<String, Value>,
    test_case: &'r Value,
    response: ResponseView<'r>,
    success: bool,
    score: f64,
    failure_reason: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'r str>,
    grading_result: Option<GradingView<'r>>,
    named_scores: NamedScores<'r>,
    latency_ms: u64,
    cost: f64,
    token_usage: &'r Value,
    metadata: &'r Map<String, Value>,
}

#[derive(Serialize)]
struct ProviderView<'r> {
    id: &'r str,
    label: &'r str,
}

#[derive(Serialize)]
struct PromptView<'r> {
    raw: &'r str,
    label: &'r str,
    config: &'r Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GradingView<'r> {
    pass: bool,
    score: f64,
    reason: &'r str,
    named_scores: NamedScores<'r>,
    component_results: &'r [ComponentResult],
}

/// Fields of a response with the transformed output.
pub(crate) struct ResponseView<'r> {
    pub response: &'r Map<String, Value>,
    pub output: &'r Value,
}

impl Serialize for ResponseView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.response.iter().filter(|(name, _)| *name != "output") {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("output", self.output)?;
        map.end()
    }
}

#[derive(Clone, Copy)]
struct NamedScores<'r>(&'r IndexMap<String, (f64, f64)>);

impl Serialize for NamedScores<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, (score, _))| (name, score)))
    }
}

impl std::fmt::Debug for RowView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowView").field("id", &self.id).finish_non_exhaustive()
    }
}

impl<'r> RowView<'r> {
    pub fn of(row: &'r TestRow, eval_id: &str) -> Self {
        let cell = &row.cell;
        let grading = GradingView {
            pass: row.success,
            score: row.score,
            reason: &row.reason,
            named_scores: NamedScores(&row.named),
            component_results: &row.components,
        };
        Self {
            id: format!("{eval_id}-{}-{}", cell.test_index, cell.prompt_index),
            test_idx: cell.test_index,
            prompt_idx: cell.prompt_index,
            prompt_id: cell.prompt.id.as_deref().unwrap_or(&cell.prompt.label),
            provider: ProviderView { id: &cell.provider.id, label: cell.provider.label.as_deref().unwrap_or_default() },
            prompt: PromptView { raw: &row.prompt, label: &cell.prompt.label, config: &cell.prompt.config },
            vars: &row.vars,
            test_case: &cell.test.json,
            response: ResponseView { response: &row.response, output: &row.output },
            success: row.success,
            score: row.score,
            failure_reason: match (row.success, &row.error) {
                (true, _) => 0,
                (false, Some(_)) => 2,
                (false, None) => 1,
            },
            error: row.error.as_deref().or((!row.success).then_some(row.reason.as_str())),
            grading_result: row.error.is_none().then_some(grading),
            named_scores: NamedScores(&row.named),
            latency_ms: row.latency_ms,
            cost: row.cost,
            token_usage: &row.token_usage,
            metadata: &cell.test.metadata,
        }
    }
}

fn column_json(column: &ColumnTotals) -> Value {
    json!({
        "raw": column.prompt.raw,
        "label": column.prompt.label,
        "id": column.prompt.id,
        "provider": column.provider.label.as_deref().unwrap_or(&column.provider.id),
        "metrics": {
            "score": column.score, "testPassCount": column.passed, "testFailCount": column.failed, "testErrorCount": column.errors,
            "assertPassCount": column.asserts_passed, "assertFailCount": column.asserts_failed, "totalLatencyMs": column.latency_ms,
            "namedScores": column.named, "namedScoresCount": column.named_counts, "cost": column.cost,
        },
    })
}

/// Writer of results as JUnit, one test case a row.
#[derive(Debug, Default)]
pub struct JunitCases {
    cases: String,
}

impl JunitCases {
    pub fn row(&mut self, row: &TestRow) {
        let name = row.cell.test.description.clone().unwrap_or_else(|| format!("test {}", row.cell.test_index + 1));
        let head = format!(
            "  <testcase name=\"{}\" classname=\"{}\" time=\"{:.3}\"",
            escaped(&name),
            escaped(&row.cell.provider.id),
            row.latency_ms as f64 / 1000.0
        );
        self.cases.push_str(&match (row.success, &row.error) {
            (true, _) => format!("{head}/>\n"),
            (false, Some(error)) => format!("{head}><error message=\"{}\"/></testcase>\n", escaped(error)),
            (false, None) => format!("{head}><failure message=\"{}\"/></testcase>\n", escaped(&row.reason)),
        });
    }
}

/// Returns the JUnit document of a run.
pub fn junit(cases: &JunitCases, name: &str, totals: &RunTotals) -> String {
    let counts = format!("tests=\"{}\" failures=\"{}\" errors=\"{}\"", totals.total(), totals.failed, totals.errors);
    let name = escaped(name);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite name=\"{name}\" {counts}>\n{}</testsuite>\n</testsuites>\n",
        cases.cases
    )
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            c if c < ' ' && c != '\t' => {}
            c => out.push(c),
        }
    }
    out
}
