//! Result files, in promptfoo's formats and without secrets.

use crate::args::ReportFormat;
use crate::files;
use crate::io::CliOutput;
use ::run::{REDACTED, SecretRedactor};
use promptfoo::{JsonResults, JunitCases, PromptfooSuite, RowView, RunTotals, TestRow, junit};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Failed tests that are listed.
const MAX_LISTED: usize = 50;

/// Result files, written while the run goes on.
pub(super) struct ResultFiles {
    json: Vec<JsonResults<Box<dyn Write>>>,
    lines: Vec<Box<dyn Write>>,
    junit: Vec<PathBuf>,
    cases: JunitCases,
    /// First tests that did not pass.
    pub listed: Vec<String>,
    config: Value,
}

impl ResultFiles {
    pub(super) fn open(io: &CliOutput, suite: &PromptfooSuite, secrets: &SecretRedactor) -> Result<Self, String> {
        let mut config = suite.config.clone();
        hide_keys(&mut config);
        secrets.redact_value(&mut config);
        let mut found = Self { json: vec![], lines: vec![], junit: vec![], cases: JunitCases::default(), listed: vec![], config };
        let (id, timestamp) = (format!("eval-{}", now().replace([':', '.'], "")), now());
        let mut paths: Vec<PathBuf> = suite.output_paths.iter().map(PathBuf::from).collect();
        paths.extend(io.output_file().map(Path::to_owned));
        for path in paths {
            let open = || {
                files::create(&path)
                    .map(|file| Box::new(file) as Box<dyn Write>)
                    .map_err(|why| format!("{} cannot be written: {why}", path.display()))
            };
            match path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).as_deref() {
                Some("json") => found.json.push(JsonResults::begin(open()?, &id, &timestamp).map_err(|why| why.to_string())?),
                Some("jsonl") => found.lines.push(open()?),
                Some("xml") => found.junit.push(path),
                _ => return Err(format!("{}: results are written as .json, .jsonl or .xml", path.display())),
            }
        }
        if io.format == ReportFormat::Json && io.output_file().is_none() {
            let out: Box<dyn Write> = Box::new(std::io::BufWriter::new(std::io::stdout()));
            found.json.push(JsonResults::begin(out, &id, &timestamp).map_err(|why| why.to_string())?);
        }
        Ok(found)
    }

    pub(super) fn row(&mut self, row: &TestRow) -> Result<(), String> {
        for json in &mut self.json {
            json.row(row).map_err(|why| why.to_string())?;
        }
        for lines in &mut self.lines {
            serde_json::to_writer(&mut *lines, &RowView::of(row, "eval")).map_err(|why| why.to_string())?;
            writeln!(lines).map_err(|why| why.to_string())?;
        }
        if !self.junit.is_empty() {
            self.cases.row(row);
        }
        if !row.success && self.listed.len() < MAX_LISTED {
            let kind = if row.error.is_some() { "error" } else { "failed" };
            let reason: String = row.reason.chars().take(300).collect();
            self.listed.push(format!("{kind}  {} ({}): {reason}", row.name(), row.cell.provider.id));
        }
        Ok(())
    }

    pub(super) fn end(mut self, suite: &PromptfooSuite, totals: &RunTotals) -> Result<(), String> {
        for json in self.json.drain(..) {
            json.end(&self.config, totals).map_err(|why| why.to_string())?;
        }
        for mut lines in self.lines.drain(..) {
            lines.flush().map_err(|why| why.to_string())?;
        }
        let document = junit(&self.cases, suite.description.as_deref().unwrap_or("promptfoo"), totals);
        for path in &self.junit {
            files::write(path, &document).map_err(|why| format!("{} cannot be written: {why}", path.display()))?;
        }
        Ok(())
    }
}

/// Hides the values of keys that hold secrets: results are passed around.
fn hide_keys(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if value.is_string() && super::config_models::is_secret_name(name) {
                    *value = REDACTED.into();
                } else {
                    hide_keys(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide_keys),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[expect(clippy::disallowed_methods, reason = "results are stamped with the time of the run")]
fn now() -> String {
    humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string()
}
