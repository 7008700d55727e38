//! Builds the provider stack of a subject: cassette → settled replies → cache → forced call → outage → retry → rate limit → HTTP.

use super::anthropic::AnthropicWire;
use super::api_key::ApiKey;
use super::cache::CachingProvider;
use super::cassette::{CassetteMode, CassetteProvider};
use super::forced_call::ForcedCallProvider;
use super::http_provider::HttpProvider;
use super::offline::OfflineProvider;
use super::ollama::OllamaWire;
use super::openai_chat::OpenAiChatWire;
use super::openai_responses::OpenAiResponsesWire;
use super::outage::{MonitoredProvider, OutageMonitor};
use super::rate_limit::RateLimitedProvider;
use super::retry::{RetryPolicy, RetryingProvider};
use super::settled_reply::SettledReplyProvider;
use super::tool_names::VendorLimits;
use super::wire::WireFormat;
use super::{Provider, SharedProvider};
use crate::budget::Budget;
use crate::clock::Clock;
use crate::ledger::Ledger;
use crate::secrets::SecretRedactor;
use model::{AgentEndpoint, OpenAiApi, ProviderKind, SubjectFile, UserError};
use reqwest::Url;
use std::sync::Arc;
use std::time::Duration;

/// Settings shared by all providers of a run. Providers cannot be built without its budget.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    pub budget: Arc<Budget>,
    pub ledger: Arc<dyn Ledger>,
    pub clock: Clock,
    pub outages: Arc<OutageMonitor>,
    /// Secrets that replies must not repeat. The provider's own key is always one.
    pub secrets: SecretRedactor,
    /// Reuses cached replies and stores new ones.
    pub cache: bool,
    pub retry_policy: RetryPolicy,
    /// Maximum concurrent requests of one provider.
    pub max_concurrent: usize,
    /// Time limit of a reply. Defaults to the trial time limit of the subject file, but at least a minute.
    pub time_limit: Option<Duration>,
}

impl ProviderConfig {
    pub fn new(budget: Arc<Budget>, ledger: Arc<dyn Ledger>, clock: Clock) -> Self {
        Self {
            budget,
            ledger,
            clock,
            outages: Arc::default(),
            secrets: SecretRedactor::default(),
            cache: false,
            retry_policy: RetryPolicy::default(),
            max_concurrent: 64,
            time_limit: None,
        }
    }
}

/// Reason why a provider cannot be built. Detected before any spending.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderBuildError {
    #[error("LLM calls are disabled in this run")]
    Offline,
    #[error("{0} is not an LLM provider")]
    NotAModel(&'static str),
    #[error("the subject file has no model")]
    NoModel,
    #[error("the environment variable {0} holds no key")]
    NoKey(String),
    #[error("cannot enforce the budget: the subject file has no price")]
    NoPrice,
    #[error("invalid base_url: {0}")]
    BadUrl(&'static str),
    #[error("cannot create an HTTP client: {0}")]
    Client(String),
}

impl ProviderBuildError {
    /// Returns a remedy for the user; empty if none is known.
    pub fn remedy(&self) -> &'static str {
        match self {
            ProviderBuildError::NoPrice => "add price: { input_per_mtok, output_per_mtok, as_of }",
            ProviderBuildError::Offline
            | ProviderBuildError::NotAModel(_)
            | ProviderBuildError::NoModel
            | ProviderBuildError::NoKey(_)
            | ProviderBuildError::BadUrl(_)
            | ProviderBuildError::Client(_) => "",
        }
    }
}

impl From<ProviderBuildError> for UserError {
    fn from(error: ProviderBuildError) -> Self {
        UserError::new(error.to_string(), error.remedy())
    }
}

/// Returns the tool limits of a subject's vendor. Needs no key and no connection.
///
/// # Errors
/// Fails if the subject is not an LLM.
pub fn vendor_limits(file: &SubjectFile) -> Result<VendorLimits, ProviderBuildError> {
    Ok(wire_format(file)?.vendor_limits())
}

/// Builds the provider stack of a subject. In replay mode it needs no key and cannot open a connection.
///
/// # Errors
/// Fails if the subject file lacks a model, key, price or valid URL.
pub fn build_provider(
    file: &SubjectFile,
    key: Option<ApiKey>,
    config: &ProviderConfig,
    cassette: CassetteMode,
) -> Result<SharedProvider, ProviderBuildError> {
    let wire = wire_format(file)?;
    if file.model.is_none() {
        return Err(ProviderBuildError::NoModel);
    }
    if !cassette.allows_network() {
        let inner = OfflineProvider(wire.vendor_limits());
        return Ok(Arc::new(CassetteProvider { inner, cassette }));
    }
    let http = http_provider(file, wire, key, config)?;
    let retrying = RetryingProvider { inner: RateLimitedProvider::new(http, config.max_concurrent), policy: config.retry_policy };
    let monitored = MonitoredProvider::new(retrying, file.name.value.clone(), config.outages.clone());
    let forced = ForcedCallProvider { inner: monitored };
    // Record mode bypasses the cache.
    Ok(match config.cache && !matches!(cassette, CassetteMode::Record(_)) {
        true => wrap_provider(CachingProvider::new(forced, config.ledger.clone()), config, cassette),
        false => wrap_provider(forced, config, cassette),
    })
}

/// Builds the connection to a server that is an agent. It is asked once: a retry or a stored reply would hide what the agent does.
///
/// # Errors
/// Fails if the URL is not valid or the key is missing.
pub(crate) fn build_agent_server(
    file: &SubjectFile,
    key: Option<ApiKey>,
    config: &ProviderConfig,
) -> Result<SharedProvider, ProviderBuildError> {
    let wire = Box::new(OpenAiChatWire::Agent);
    let Some(AgentEndpoint::Url(url)) = file.external.as_ref().map(|agent| &agent.endpoint) else {
        return Err(ProviderBuildError::BadUrl("missing"));
    };
    let base = url.trim_end_matches('/').trim_end_matches(wire.path());
    let file = SubjectFile { base_url: Some(base.to_owned()), price: None, ..file.clone() };
    // The budget of the run is for calls that we pay.
    let time_limit = Some(Duration::from_secs(file.limits.seconds));
    let config = ProviderConfig { budget: Budget::new(None), time_limit, ..config.clone() };
    Ok(Arc::new(http_provider(&file, wire, key, &config)?))
}

fn wrap_provider(inner: impl Provider + 'static, config: &ProviderConfig, cassette: CassetteMode) -> SharedProvider {
    Arc::new(CassetteProvider { inner: SettledReplyProvider { inner, ledger: config.ledger.clone() }, cassette })
}

fn wire_format(file: &SubjectFile) -> Result<Box<dyn WireFormat>, ProviderBuildError> {
    Ok(match (file.provider, file.api) {
        (ProviderKind::Anthropic, _) => Box::new(AnthropicWire),
        (ProviderKind::OpenAi, None | Some(OpenAiApi::Responses)) | (ProviderKind::OpenAiCompatible, Some(OpenAiApi::Responses)) => {
            Box::new(OpenAiResponsesWire)
        }
        (ProviderKind::OpenAi, Some(OpenAiApi::Chat)) => Box::new(OpenAiChatWire::OpenAi),
        (ProviderKind::OpenAiCompatible, None | Some(OpenAiApi::Chat)) => Box::new(OpenAiChatWire::Compatible),
        (ProviderKind::Ollama, _) => Box::new(OllamaWire),
        (other, _) => return Err(ProviderBuildError::NotAModel(other.word())),
    })
}

/// Minimum time limit of a reply. Vendors under load may need a minute even if trials are shorter.
const MIN_TIME_LIMIT_S: u64 = 60;

fn http_provider(
    file: &SubjectFile,
    wire: Box<dyn WireFormat>,
    key: Option<ApiKey>,
    config: &ProviderConfig,
) -> Result<HttpProvider, ProviderBuildError> {
    if let (Some(name), None) = (&file.key_env, &key) {
        return Err(ProviderBuildError::NoKey(name.clone()));
    }
    if file.price.is_none() && config.budget.has_limit() {
        return Err(ProviderBuildError::NoPrice);
    }
    let url = endpoint_url(file, wire.path(), key.is_some())?;
    super::install_tls_provider();
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .build()
        .map_err(|error| ProviderBuildError::Client(error.to_string()))?;
    Ok(HttpProvider {
        wire,
        client,
        secrets: config.secrets.including(key.iter().map(ApiKey::expose)),
        vendor: vendor_account(&url, key.as_ref()),
        key,
        price: file.price.clone(),
        stream: file.stream,
        time_limit: config.time_limit.unwrap_or(Duration::from_secs(file.limits.seconds.max(MIN_TIME_LIMIT_S))),
        budget: config.budget.clone(),
        clock: config.clock,
        ledger: config.ledger.clone(),
        url,
    })
}

/// Returns the server, and a fingerprint of the key, which does not reveal it.
fn vendor_account(url: &Url, key: Option<&ApiKey>) -> String {
    let server = url.origin().ascii_serialization();
    key.map_or_else(|| server.clone(), |key| format!("{server} {}", key.fingerprint()))
}

fn endpoint_url(file: &SubjectFile, path: &str, has_key: bool) -> Result<Url, ProviderBuildError> {
    let base = match (&file.base_url, file.provider) {
        (Some(base), _) => base.as_str(),
        (None, ProviderKind::Anthropic) => "https://api.anthropic.com",
        (None, ProviderKind::OpenAi) => "https://api.openai.com/v1",
        (None, ProviderKind::Ollama) => "http://127.0.0.1:11434",
        (None, _) => return Err(ProviderBuildError::BadUrl("missing")),
    };
    let mut url = Url::parse(base).map_err(|_| ProviderBuildError::BadUrl("not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(ProviderBuildError::BadUrl("must start with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ProviderBuildError::BadUrl("must not contain a user or password; set the key in the environment"));
    }
    let loopback = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if has_key && url.scheme() == "http" && !loopback {
        return Err(ProviderBuildError::BadUrl("would send the key unencrypted; use https://"));
    }
    let joined = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&joined);
    Ok(url)
}
