//! A config as it is run: prompts, providers and tests.

use crate::assertion_spec::AssertionSpec;
use model::Location;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Prompts, providers and tests of a config.
#[derive(Debug, Clone, Default)]
pub struct PromptfooSuite {
    pub description: Option<String>,
    pub prompts: Vec<Arc<PromptSpec>>,
    pub providers: Vec<Arc<ProviderSpec>>,
    pub tests: Vec<Arc<TestSpec>>,
    pub derived_metrics: Vec<DerivedMetric>,
    pub env: Map<String, Value>,
    pub max_concurrency: Option<usize>,
    pub repeat: Option<usize>,
    pub timeout_ms: Option<u64>,
    pub output_paths: Vec<String>,
    /// Config as written, for the results.
    pub config: Value,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct PromptSpec {
    pub id: Option<String>,
    pub label: String,
    pub raw: String,
    pub config: Value,
}

#[derive(Debug, Clone)]
pub struct ProviderSpec {
    pub id: String,
    pub label: Option<String>,
    pub target: ProviderTarget,
    pub config: Value,
    /// Labels or ids of the prompts that it takes; `None` for all.
    pub prompts: Option<Vec<String>>,
    pub transform: Option<String>,
    pub at: Location,
}

/// Kind of a provider.
#[derive(Debug, Clone, PartialEq)]
pub enum ProviderTarget {
    Echo,
    Exec {
        command: Vec<String>,
    },
    Http {
        url: String,
    },
    OpenAiChat {
        model: String,
    },
    AnthropicMessages {
        model: String,
    },
    OllamaChat {
        model: String,
    },
    /// Source of a JavaScript file and the name of its export.
    Script {
        source: Arc<str>,
        function: Option<String>,
    },
}

#[derive(Debug, Clone, Default)]
pub struct TestSpec {
    pub description: Option<String>,
    pub vars: Map<String, Value>,
    pub assertions: Vec<AssertionSpec>,
    pub threshold: Option<f64>,
    pub options: Map<String, Value>,
    pub metadata: Map<String, Value>,
    /// Provider ids or labels that the test is for.
    pub providers: Option<Vec<String>>,
    pub prompts: Option<Vec<String>>,
    /// Provider that judges each rubric, in the order of the assertions and of those in sets; `None` for other assertions.
    pub judges: Vec<Option<Arc<ProviderSpec>>>,
    /// Output that is graded without a call.
    pub provider_output: Option<Value>,
    /// Test as written, for the results.
    pub json: Value,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedMetric {
    pub name: String,
    pub value: String,
}
