//! The whole way to a model, built from a subject file: recordings, settled replies, cache, retry, rate, and the funded line.

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
use super::rate_limit::RateLimitedProvider;
use super::retry::{RetryPolicy, RetryingProvider};
use super::settled_reply::SettledReplyProvider;
use super::tool_names::VendorLimits;
use super::wire::WireFormat;
use super::{Provider, SharedProvider};
use crate::budget::Budget;
use crate::clock::Clock;
use crate::ledger::Ledger;
use model::{OpenAiApi, ProviderKind, SubjectFile, UserError};
use reqwest::Url;
use std::sync::Arc;
use std::time::Duration;

/// What all models of a run share. There is one budget in a run, and no way to a model without it.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    pub budget: Arc<Budget>,
    pub ledger: Arc<dyn Ledger>,
    pub clock: Clock,
    /// Whether replies of earlier runs may be used and replies of this one kept.
    pub cache: bool,
    pub retry_policy: RetryPolicy,
    /// Requests one vendor gets at once.
    pub max_concurrent: usize,
    /// How long a reply may take; without it, as long as the subject file lets a trial last.
    pub time_limit: Option<Duration>,
}

impl ProviderConfig {
    pub fn new(budget: Arc<Budget>, ledger: Arc<dyn Ledger>, clock: Clock) -> Self {
        Self { budget, ledger, clock, cache: false, retry_policy: RetryPolicy::default(), max_concurrent: 64, time_limit: None }
    }
}

/// Why there is no way to a model. Found out before anything is spent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderBuildError {
    #[error("no model may be asked in this run")]
    Offline,
    #[error("{0} is no model")]
    NotAModel(&'static str),
    #[error("the subject file names no model")]
    NoModel,
    #[error("the environment variable {0} holds no key")]
    NoKey(String),
    #[error("there is a budget, but the subject file has no price")]
    NoPrice,
    #[error("base_url cannot be used: {0}")]
    BadUrl(&'static str),
    #[error("no HTTP client: {0}")]
    Client(String),
}

impl ProviderBuildError {
    /// Returns what the user can do; empty where nothing is known to help.
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

/// What the vendor of a subject takes; known without a key or a connection.
pub fn vendor_limits(file: &SubjectFile) -> Result<VendorLimits, ProviderBuildError> {
    Ok(wire_format(file)?.vendor_limits())
}

/// The stack of a subject. With recordings alone it needs no key and can open no connection.
pub fn build_provider(
    file: &SubjectFile,
    key: Option<ApiKey>,
    terms: &ProviderConfig,
    cassette: CassetteMode,
) -> Result<SharedProvider, ProviderBuildError> {
    let wire = wire_format(file)?;
    if file.model.is_none() {
        return Err(ProviderBuildError::NoModel);
    }
    if !cassette.allows_network() {
        let nobody = OfflineProvider(wire.vendor_limits());
        return Ok(Arc::new(CassetteProvider { inner: nobody, cassette }));
    }
    let line = http_provider(file, wire, key, terms)?;
    let patient = ForcedCallProvider {
        inner: RetryingProvider { inner: RateLimitedProvider::new(line, terms.max_concurrent), policy: terms.retry_policy },
    };
    // Recording anew means asking anew.
    Ok(match terms.cache && !matches!(cassette, CassetteMode::Record(_)) {
        true => wrap_provider(CachingProvider::new(patient, terms.ledger.clone()), terms, cassette),
        false => wrap_provider(patient, terms, cassette),
    })
}

fn wrap_provider(inner: impl Provider + 'static, terms: &ProviderConfig, cassette: CassetteMode) -> SharedProvider {
    Arc::new(CassetteProvider { inner: SettledReplyProvider { inner, ledger: terms.ledger.clone() }, cassette })
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

/// A reply that takes longer than the trial may last helps nobody, but a minute is not long for a vendor under load.
const MIN_TIME_LIMIT_S: u64 = 60;

fn http_provider(
    file: &SubjectFile,
    wire: Box<dyn WireFormat>,
    key: Option<ApiKey>,
    terms: &ProviderConfig,
) -> Result<HttpProvider, ProviderBuildError> {
    if let (Some(name), None) = (&file.key_env, &key) {
        return Err(ProviderBuildError::NoKey(name.clone()));
    }
    if file.price.is_none() && terms.budget.has_limit() {
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
        url,
        key,
        price: file.price.clone(),
        stream: file.stream,
        time_limit: terms.time_limit.unwrap_or(Duration::from_secs(file.limits.seconds.max(MIN_TIME_LIMIT_S))),
        budget: terms.budget.clone(),
        clock: terms.clock,
        ledger: terms.ledger.clone(),
    })
}

fn endpoint_url(file: &SubjectFile, path: &str, has_key: bool) -> Result<Url, ProviderBuildError> {
    let base = match (&file.base_url, file.provider) {
        (Some(base), _) => base.as_str(),
        (None, ProviderKind::Anthropic) => "https://api.anthropic.com",
        (None, ProviderKind::OpenAi) => "https://api.openai.com/v1",
        (None, ProviderKind::Ollama) => "http://127.0.0.1:11434",
        (None, _) => return Err(ProviderBuildError::BadUrl("there is none")),
    };
    let mut url = Url::parse(base).map_err(|_| ProviderBuildError::BadUrl("it is no URL"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(ProviderBuildError::BadUrl("it begins with neither http:// nor https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ProviderBuildError::BadUrl("it holds a user or password; keys come from the environment"));
    }
    let loopback = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if has_key && url.scheme() == "http" && !loopback {
        return Err(ProviderBuildError::BadUrl("it would send the key unencrypted; use https://"));
    }
    let joined = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&joined);
    Ok(url)
}
