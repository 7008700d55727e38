//! Results in promptfoo's formats: JSON of version 3, written row by row, JSON lines, and JUnit.

use crate::execute::{ColumnTotals, RunTotals, TestRow};
use crate::suite::PromptfooSuite;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Writer of results as one JSON document. Rows are written as they come, so that a run needs no memory for them.
#[derive(Debug)]
pub struct JsonResults<W: Write> {
    out: W,
    rows: usize,
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
        Ok(Self { out, rows: 0, eval_id: eval_id.to_owned(), timestamp: timestamp.to_owned() })
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
        serde_json::to_writer(&mut self.out, &row_json(row, &self.eval_id))?;
        Ok(())
    }

    /// Ends the document with the sums.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end(mut self, suite: &PromptfooSuite, totals: &RunTotals) -> io::Result<()> {
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
            suite.config
        )?;
        self.out.flush()
    }
}

/// Returns a row in promptfoo's shape.
pub fn row_json(row: &TestRow, eval_id: &str) -> Value {
    let cell = &row.cell;
    let failure = match (row.success, &row.error) {
        (true, _) => 0,
        (false, Some(_)) => 2,
        (false, None) => 1,
    };
    let named: Map<String, Value> = row.named.iter().map(|(name, (score, _))| (name.clone(), json!(score))).collect();
    let mut json = json!({
        "id": format!("{eval_id}-{}-{}", cell.test_index, cell.prompt_index),
        "testIdx": cell.test_index,
        "promptIdx": cell.prompt_index,
        "promptId": cell.prompt.id.as_deref().unwrap_or(&cell.prompt.label),
        "provider": { "id": cell.provider.id, "label": cell.provider.label.as_deref().unwrap_or_default() },
        "prompt": { "raw": row.prompt, "label": cell.prompt.label, "config": cell.prompt.config },
        "vars": row.vars,
        "testCase": cell.test.json,
        "response": row.answer,
        "success": row.success,
        "score": row.score,
        "failureReason": failure,
        "gradingResult": {
            "pass": row.success, "score": row.score, "reason": row.reason, "namedScores": named, "componentResults": row.components,
        },
        "namedScores": named,
        "latencyMs": row.latency_ms,
        "cost": row.cost,
        "tokenUsage": row.token_usage,
        "metadata": cell.test.metadata,
    });
    if let Some(error) = &row.error {
        json["error"] = error.as_str().into();
        json["gradingResult"] = Value::Null;
    } else if !row.success {
        json["error"] = row.reason.as_str().into();
    }
    json
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
