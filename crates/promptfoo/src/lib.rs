//! Configs of promptfoo: `config` reads them with all mistakes at once, `expand` makes the tests, `execute` calls the providers and grades,
//! `output` writes results in promptfoo's formats. Files are read through [`SuiteFiles`]; scripts run in [`script::ScriptPool`]; models are
//! asked through [`SuiteModels`], which cannot be built without a budget.

mod assertion_spec;
mod config;
mod csv_tests;
mod execute;
mod exit_code;
mod expand;
mod filters;
mod grade;
mod graded_output;
mod import;
mod import_reference;
mod js_yaml;
mod judge_calls;
mod judged;
mod known_keys;
mod model_request;
mod model_settings;
mod models;
mod output;
mod provider_answer;
mod providers;
mod red_team_map;
mod render_prompt;
mod response_transform;
mod results;
mod rubric;
mod script_answer;
mod simulated_user;
mod stored_trial;
mod strict_json;
mod suite;
mod suite_files;
mod template;
mod test_row;
#[cfg(test)]
mod tests;

pub use assertion_spec::{AssertionSpec, SingleAssertion};
pub use config::{read_for_import, read_suite};
pub use execute::{ProviderEnvironment, SuiteRunner};
pub use exit_code::promptfoo_exit_code;
pub use expand::{TestCell, expand};
pub use filters::{RangeFilter, SampleFilter, TestFilters};
pub use import::{ImportedSuite, import_suite};
pub use models::{KnownPrice, ModelSetup, OLLAMA_URL, SuiteModels, key_variable};
pub use output::{JsonResults, JunitCases, RowView, junit};
pub use providers::LazyClient;
pub use results::{EarlierTest, ResultRow, read_results};
pub use stored_trial::StoredRow;
pub use suite::{DerivedMetric, PromptSpec, PromptfooSuite, ProviderSpec, ProviderTarget, SimulatedUser, TestSpec};
pub use suite_files::SuiteFiles;
pub use test_row::{ColumnTotals, ComponentResult, RunTotals, TestRow};
