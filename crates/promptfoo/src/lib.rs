//! Configs of promptfoo: `config` reads them with all mistakes at once, `expand` makes the tests, `execute` calls the providers and grades,
//! `output` writes results in promptfoo's formats. Files are read through [`SuiteFiles`]; scripts run in [`script::ScriptPool`].

mod assertion_spec;
mod config;
mod csv_tests;
mod execute;
mod expand;
mod filters;
mod grade;
mod js_yaml;
mod output;
mod providers;
mod rubric;
mod script_answer;
mod suite;
mod suite_files;
mod template;
#[cfg(test)]
mod tests;

pub use assertion_spec::{AssertionSpec, SingleAssertion};
pub use config::read_suite;
pub use execute::{ColumnTotals, ProviderEnvironment, RunTotals, SuiteRunner, TestRow};
pub use expand::{TestCell, expand};
pub use filters::{RangeFilter, TestFilters};
pub use output::{JsonResults, JunitCases, junit, row_json};
pub use suite::{DerivedMetric, PromptSpec, PromptfooSuite, ProviderSpec, ProviderTarget, TestSpec};
pub use suite_files::SuiteFiles;
