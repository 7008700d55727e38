//! A config as it is run: prompts, providers and tests.

use crate::assertion_spec::AssertionSpec;
use model::{Location, OpenAiApi};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;

impl PromptfooSuite {
    /// Returns the place of the config as a whole.
    pub(crate) fn at(&self) -> Location {
        Location::new(self.file.as_str(), 1)
    }

    /// Returns the models of the tests, of the judges and of simulated users.
    pub fn model_providers(&self) -> Vec<&ProviderSpec> {
        let own = self.providers.iter();
        let of_tests = self.tests.iter().flat_map(|test| test.provider.iter().chain(test.judges.iter().flatten()));
        let mut seen = HashSet::new();
        let mut found: Vec<&ProviderSpec> = vec![];
        for spec in own.chain(of_tests).filter(|spec| seen.insert(Arc::as_ptr(spec))) {
            let user = match &spec.target {
                ProviderTarget::SimulatedUser(user) => user.user.as_ref(),
                ProviderTarget::Echo
                | ProviderTarget::Exec { .. }
                | ProviderTarget::Http { .. }
                | ProviderTarget::OpenAi { .. }
                | ProviderTarget::AnthropicMessages { .. }
                | ProviderTarget::OllamaChat { .. }
                | ProviderTarget::Script { .. } => None,
            };
            found.extend([Some(spec), user].into_iter().flatten().map(Arc::as_ref).filter(|spec| spec.is_model()));
        }
        found
    }
}

/// Prompts, providers and tests of a config.
#[derive(Debug, Clone, Default)]
pub struct PromptfooSuite {
    /// Name of the config in messages.
    pub file: String,
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
    /// Text read as JSON, if it is a list or a mapping.
    pub chat: Option<Value>,
}

impl PromptSpec {
    /// Returns a prompt; its text is read as JSON once.
    pub(crate) fn new(id: Option<String>, label: String, raw: String, config: Value) -> Self {
        let chat = parsed_chat(&raw);
        Self { id, label, raw, config, chat }
    }
}

/// Returns a text as JSON, if it is a list or a mapping.
pub(crate) fn parsed_chat(text: &str) -> Option<Value> {
    let looks_like_json = text.trim_start().starts_with(['[', '{']);
    looks_like_json.then(|| serde_json::from_str::<Value>(text).ok()).flatten().filter(|chat| chat.is_array() || chat.is_object())
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

impl ProviderSpec {
    /// Returns whether it is a model behind an API.
    pub fn is_model(&self) -> bool {
        match &self.target {
            ProviderTarget::OpenAi { .. } | ProviderTarget::AnthropicMessages { .. } | ProviderTarget::OllamaChat { .. } => true,
            ProviderTarget::Echo
            | ProviderTarget::Exec { .. }
            | ProviderTarget::Http { .. }
            | ProviderTarget::Script { .. }
            | ProviderTarget::SimulatedUser(_) => false,
        }
    }

    /// Returns a key that is the same for the same model with the same settings.
    pub(crate) fn model_key(&self) -> String {
        format!("{} {}", self.id, self.config)
    }

    /// Returns the name in results and reports.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}

/// User that talks with the provider of a test.
#[derive(Debug, Clone)]
pub struct SimulatedUser {
    /// Template of the instructions for the model that plays the user.
    pub instructions: String,
    /// Model that plays the user; `None` if the turns are written down.
    pub user: Option<Arc<ProviderSpec>>,
    /// Turns that are said as they are, one after the other.
    pub turns: Vec<String>,
    /// Messages before the first turn.
    pub initial: Vec<Value>,
    pub max_turns: usize,
}

/// Kind of a provider.
#[derive(Debug, Clone)]
pub enum ProviderTarget {
    Echo,
    Exec {
        command: Vec<String>,
    },
    Http {
        url: String,
    },
    OpenAi {
        model: String,
        api: OpenAiApi,
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
    SimulatedUser(Box<SimulatedUser>),
}

#[derive(Debug, Clone, Default)]
pub struct TestSpec {
    pub description: Option<String>,
    pub vars: Arc<Map<String, Value>>,
    pub assertions: Vec<AssertionSpec>,
    pub threshold: Option<f64>,
    pub options: Map<String, Value>,
    pub metadata: Map<String, Value>,
    /// Provider ids or labels that the test is for.
    pub providers: Option<Vec<String>>,
    pub prompts: Option<Vec<String>>,
    /// Provider that answers in place of those of the config; a simulated user talks with them.
    pub provider: Option<Arc<ProviderSpec>>,
    /// Provider that judges each rubric, in the order of the assertions and of those in sets; `None` for other assertions.
    pub judges: Vec<Option<Arc<ProviderSpec>>>,
    /// Output that is graded without a call.
    pub provider_output: Option<Value>,
    /// Test as written, for the results.
    pub json: Value,
    pub line: u32,
    pub at: Option<Location>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedMetric {
    pub name: String,
    pub value: String,
}
