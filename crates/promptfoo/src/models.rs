//! Models of a config, through the provider stack of native runs: none can be built without the run's budget and ledger.

use crate::model_request::{ModelChat, answer_of, price_of};
use crate::provider_answer::ProviderAnswer;
use crate::suite::{PromptfooSuite, ProviderSpec, ProviderTarget};
use model::{AgentEndpoint, ContentHash, Location, ModelPrice, Money, Problem, ProviderKind, SubjectFile};
use run::ledger::{CallId, CallRole};
use run::providers::{ApiKey, CassetteMode, ModelCall, ProviderBuildError, ProviderConfig, SharedProvider, build_provider, cost};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Variables with the keys of vendors.
const OPENAI_KEY: &str = "OPENAI_API_KEY";
const ANTHROPIC_KEY: &str = "ANTHROPIC_API_KEY";
/// Variable with the address of Ollama.
pub const OLLAMA_URL: &str = "OLLAMA_BASE_URL";

/// Price of a model that the config does not state.
#[derive(Debug, Clone)]
pub struct KnownPrice {
    pub provider: ProviderKind,
    pub model: String,
    pub price: ModelPrice,
}

/// Everything that models are built with.
pub struct ModelSetup<'a> {
    /// Budget, ledger, cache and retries of the run.
    pub config: ProviderConfig,
    /// Looks up keys and addresses by the name of their variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    pub prices: &'a [KnownPrice],
    /// Opens the recordings of a model by its name.
    pub cassette: &'a dyn Fn(&str) -> Result<CassetteMode, String>,
    /// Recorded replies cost nothing.
    pub is_replay: bool,
}

impl fmt::Debug for ModelSetup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelSetup").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Models of a config, each built once.
#[derive(Debug, Default)]
pub struct SuiteModels {
    models: BTreeMap<String, SuiteModel>,
}

#[derive(Debug)]
struct SuiteModel {
    provider: SharedProvider,
    price: Option<ModelPrice>,
}

/// Place of a call in the run, so that a resumed run finds its reply again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallPlace<'t> {
    pub trial: &'t ContentHash,
    pub role: CallRole,
    pub n: u32,
    /// Repeat of the test: repeats are asked anew.
    pub seed: u64,
}

impl SuiteModels {
    /// Builds the models of a suite: those of its tests, its judges and its simulated users.
    ///
    /// # Errors
    /// Every model without a key, an address, a price or a budget.
    pub fn build(suite: &PromptfooSuite, setup: &ModelSetup<'_>) -> Result<Self, Vec<Problem>> {
        let (mut built, mut problems) = (Self::default(), vec![]);
        for spec in suite.model_providers() {
            let key = spec.model_key();
            if built.models.contains_key(&key) {
                continue;
            }
            match build_model(spec, setup) {
                Ok(model) => drop(built.models.insert(key, model)),
                Err((what, remedy)) => problems.push(Problem { at: spec.at.clone(), what: format!("{}: {what}", spec.id), remedy }),
            }
        }
        problems.sort();
        problems.dedup();
        if problems.is_empty() { Ok(built) } else { Err(problems) }
    }

    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// Asks a model. A failure is an error of the answer.
    pub(crate) async fn ask(&self, spec: &ProviderSpec, options: &Value, prompt: &str, place: CallPlace<'_>) -> ProviderAnswer {
        let Some(model) = self.models.get(&spec.model_key()) else {
            return ProviderAnswer::failed(format!("the model {} was not built", spec.id));
        };
        let request = match (ModelChat { spec, options }).request(prompt) {
            Ok(request) => request,
            Err(why) => return ProviderAnswer::failed(why),
        };
        let call = CallId { trial: place.trial.clone(), role: place.role, n: place.n };
        match model.provider.ask(&ModelCall::new(call, place.seed, request)).await {
            Ok(reply) => {
                let mut answer = answer_of(&spec.target, &reply);
                answer.cost = match (&model.price, &reply.usage) {
                    (Some(price), Some(usage)) => Some(cost(price, usage).as_usd()),
                    (_, _) => None,
                };
                answer
            }
            Err(fault) => ProviderAnswer { fault: Some(fault.kind), ..ProviderAnswer::failed(fault.to_string()) },
        }
    }
}

type BuildMistake = (String, String);

fn build_model(spec: &ProviderSpec, setup: &ModelSetup<'_>) -> Result<SuiteModel, BuildMistake> {
    let mut file = subject_file(spec, setup.variable);
    let known = || {
        let own_server = file.base_url.is_some();
        let found =
            setup.prices.iter().find(|known| !own_server && known.provider == file.provider && Some(&known.model) == file.model.as_ref());
        found.map(|known| known.price.clone())
    };
    let stated = price_of(&spec.config).map_err(|what| (what, "write US dollars per token".to_owned()))?;
    let free = || {
        is_free(&file).then(|| ModelPrice {
            input_per_mtok: Money::ZERO,
            output_per_mtok: Money::ZERO,
            cache_read_per_mtok: None,
            cache_write_per_mtok: None,
            as_of: String::new(),
        })
    };
    file.price = stated.or_else(known).or_else(free);
    let costs = file.price.as_ref().is_none_or(|price| price.input_per_mtok > Money::ZERO || price.output_per_mtok > Money::ZERO);
    if file.price.is_none() && !setup.is_replay {
        let remedy = "add config: { inputCost, outputCost } in US dollars per token";
        return Err(("its price is not known, so no budget can be kept".to_owned(), remedy.to_owned()));
    }
    if costs && !setup.config.budget.has_limit() && !setup.is_replay {
        return Err(("it costs money".to_owned(), "set a spending limit, such as --budget 2.50".to_owned()));
    }
    let key = literal_key(&spec.config).or_else(|| file.key_env.as_deref().and_then(setup.variable)).as_deref().and_then(ApiKey::new);
    let cassette = (setup.cassette)(&file.name.value).map_err(|why| (why, String::new()))?;
    let price = file.price.clone();
    let provider = build_provider(&file, key, &setup.config, cassette).map_err(|why| {
        let remedy = if let ProviderBuildError::NoKey(name) = &why { format!("set {name}") } else { why.remedy().to_owned() };
        (why.to_string(), remedy)
    })?;
    Ok(SuiteModel { provider, price })
}

/// Returns whether a model runs on this machine.
fn is_free(file: &SubjectFile) -> bool {
    let url = file.base_url.as_deref().unwrap_or("http://localhost:11434");
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let is_local = ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|local| host.strip_prefix(local).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/'])));
    file.provider == ProviderKind::Ollama && is_local
}

/// Returns the key that is written in a config, unless it names a variable.
fn literal_key(config: &Value) -> Option<String> {
    config.get("apiKey").and_then(Value::as_str).filter(|key| env_name(key).is_none()).map(str::to_owned)
}

/// Returns the name in `{{ env.NAME }}` or `${NAME}`.
fn env_name(text: &str) -> Option<String> {
    let inner = text.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")).and_then(|inner| inner.trim().strip_prefix("env."));
    let inner = inner.or_else(|| text.trim().strip_prefix("${").and_then(|rest| rest.strip_suffix('}')));
    inner.map(|name| name.trim().to_owned())
}

/// Returns the variable with the key of a model.
pub fn key_variable(spec: &ProviderSpec) -> Option<String> {
    let text = |key: &str| spec.config.get(key).and_then(Value::as_str);
    let named = text("apiKeyEnvar").map(str::to_owned).or_else(|| text("apiKey").and_then(env_name));
    match &spec.target {
        ProviderTarget::OpenAi { .. } => Some(named.unwrap_or_else(|| OPENAI_KEY.to_owned())),
        ProviderTarget::AnthropicMessages { .. } => Some(named.unwrap_or_else(|| ANTHROPIC_KEY.to_owned())),
        ProviderTarget::OllamaChat { .. } => named,
        ProviderTarget::Echo
        | ProviderTarget::Exec { .. }
        | ProviderTarget::Http { .. }
        | ProviderTarget::Script { .. }
        | ProviderTarget::SimulatedUser(_) => None,
    }
}

/// Returns the settings of a provider as those of a subject, which the provider stack is built from.
fn subject_file(spec: &ProviderSpec, variable: &dyn Fn(&str) -> Option<String>) -> SubjectFile {
    let text = |key: &str| spec.config.get(key).and_then(Value::as_str).map(str::to_owned);
    let base = text("apiBaseUrl").or_else(|| text("apiHost").map(|host| format!("https://{host}/v1")));
    let (provider, model, base_url, api) = match &spec.target {
        ProviderTarget::OpenAi { model, api } if base.is_some() => (ProviderKind::OpenAiCompatible, model.clone(), base, Some(*api)),
        ProviderTarget::OpenAi { model, api } => (ProviderKind::OpenAi, model.clone(), None, Some(*api)),
        ProviderTarget::AnthropicMessages { model } => (ProviderKind::Anthropic, model.clone(), base, None),
        ProviderTarget::OllamaChat { model } => (ProviderKind::Ollama, model.clone(), base.or_else(|| variable(OLLAMA_URL)), None),
        ProviderTarget::Echo
        | ProviderTarget::Exec { .. }
        | ProviderTarget::Http { .. }
        | ProviderTarget::Script { .. }
        | ProviderTarget::SimulatedUser(_) => (ProviderKind::Echo, String::new(), None, None),
    };
    let name = spec.label.clone().unwrap_or_else(|| spec.id.clone());
    let mut file = SubjectFile::from_command_line(&name, provider, AgentEndpoint::Command(vec![]));
    file.external = None;
    file.at = Location::new(&*spec.at.file, spec.at.line);
    // A key in the config takes the place of a variable.
    file.key_env = if literal_key(&spec.config).is_some() { None } else { key_variable(spec) };
    file.model = Some(model);
    file.base_url = base_url;
    file.api = api;
    file
}
