//! Keys of configs. A key that is not known is a mistake: what is misspelt would otherwise have no effect, and a check without effect passes.

use crate::model_settings::is_model_setting;
use model::{ProblemReport, did_you_mean};
use serde_json::{Map, Value};

#[rustfmt::skip]
pub(crate) const CONFIG_KEYS: &[&str] = &[
    "description", "prompts", "providers", "targets", "tests", "defaultTest", "scenarios", "derivedMetrics", "evaluateOptions",
    "commandLineOptions", "env", "outputPath", "sharing", "tags", "metadata", "nunjucksFilters", "writeLatestResults", "tracing",
    "extensions", "redteam", "$schema", "id",
];
#[rustfmt::skip]
pub(crate) const TEST_KEYS: &[&str] = &[
    "description", "vars", "provider", "providers", "prompts", "providerOutput", "assert", "assertScoringFunction", "options", "threshold",
    "metadata",
];
#[rustfmt::skip]
pub(crate) const ASSERTION_KEYS: &[&str] = &[
    "type", "value", "threshold", "weight", "metric", "provider", "rubricPrompt", "transform", "contextTransform", "config", "assert",
];
pub(crate) const PROVIDER_KEYS: &[&str] = &["id", "label", "config", "prompts", "transform", "delay", "env", "inputs"];
pub(crate) const PROMPT_KEYS: &[&str] = &["id", "label", "raw", "config"];
pub(crate) const SCENARIO_KEYS: &[&str] = &["description", "config", "tests"];
pub(crate) const METRIC_KEYS: &[&str] = &["name", "value"];
pub(crate) const USER_KEYS: &[&str] = &["instructions", "maxTurns", "initialMessages", "userProvider", "turns"];
/// Options of a run that are read, or have no effect on a verdict.
#[rustfmt::skip]
pub(crate) const RUN_KEYS: &[&str] = &[
    "maxConcurrency", "repeat", "timeoutMs", "showProgressBar", "cache", "generateSuggestions", "verbose", "progressBar", "share", "write", "table",
];
#[rustfmt::skip]
const OPTION_KEYS: &[&str] = &[
    "transform", "postprocess", "transformVars", "storeOutputAs", "prefix", "suffix", "rubricPrompt", "provider", "disableVarExpansion",
    "disableConversationVar", "disableDefaultAsserts", "runSerially", "factuality",
];

/// Key under which lines are kept.
const LINE_MARK: char = '\0';

/// Reports the keys of a mapping that are not among `known`.
pub(crate) fn check_keys(report: &ProblemReport, line: u32, what: &str, fields: &Map<String, Value>, known: &[&str]) {
    for key in fields.keys().filter(|key| !known.contains(&key.as_str()) && !key.starts_with(LINE_MARK)) {
        report.add(line, format!("{what} has no key {key:?}"), did_you_mean(key, known.iter().copied()));
    }
}

/// Reports the options of a test that have no effect.
pub(crate) fn check_options(report: &ProblemReport, line: u32, options: &Map<String, Value>) {
    for key in options.keys().filter(|key| !OPTION_KEYS.contains(&key.as_str()) && !is_model_setting(key)) {
        report.add(line, format!("options.{key} has no effect here"), did_you_mean(key, OPTION_KEYS.iter().copied()));
    }
}

/// Reads a number that may be absent.
pub(crate) fn number(report: &ProblemReport, line: u32, fields: &Value, key: &str) -> Option<f64> {
    let value = fields.get(key).filter(|value| !value.is_null())?;
    let number = value.as_f64();
    if number.is_none() {
        report.add(line, format!("{key} is {value}"), format!("write {key}: and a number without quotes"));
    }
    number
}
