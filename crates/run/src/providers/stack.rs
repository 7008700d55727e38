//! The whole way to a model, built from a subject file: recordings, settled replies, cache, retry, rate, and the funded line.

use super::anthropic::Anthropic;
use super::cache::Cache;
use super::cassette::{Cassette, Recorder};
use super::insist::Insist;
use super::key::Key;
use super::line::Line;
use super::names::Accepts;
use super::ollama::Ollama;
use super::openai_chat::Chat;
use super::openai_responses::Responses;
use super::rate::Rate;
use super::retry::{Patience, Retry};
use super::settled::SettledFirst;
use super::unplugged::Unplugged;
use super::wire::Wire;
use super::{Provider, SharedProvider};
use crate::budget::Budget;
use crate::clock::Clock;
use crate::ledger::Ledger;
use model::{Api, ProviderKind, SubjectFile, UserError};
use reqwest::Url;
use std::sync::Arc;
use std::time::Duration;

/// What all models of a run share. There is one budget in a run, and no way to a model without it.
#[derive(Debug, Clone)]
pub struct Terms {
    pub budget: Arc<Budget>,
    pub ledger: Arc<dyn Ledger>,
    pub clock: Clock,
    /// Whether replies of earlier runs may be used and replies of this one kept.
    pub cache: bool,
    pub patience: Patience,
    /// Requests one vendor gets at once.
    pub at_once: usize,
    /// How long a reply may take; without it, as long as the subject file lets a trial last.
    pub time_limit: Option<Duration>,
}

impl Terms {
    pub fn new(budget: Arc<Budget>, ledger: Arc<dyn Ledger>, clock: Clock) -> Self {
        Self { budget, ledger, clock, cache: false, patience: Patience::default(), at_once: 64, time_limit: None }
    }
}

/// Why there is no way to a model. Found out before anything is spent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoProvider {
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

impl NoProvider {
    /// Returns what the user can do; empty where nothing is known to help.
    pub fn remedy(&self) -> &'static str {
        match self {
            NoProvider::NoPrice => "add price: { input_per_mtok, output_per_mtok, as_of }",
            NoProvider::Offline
            | NoProvider::NotAModel(_)
            | NoProvider::NoModel
            | NoProvider::NoKey(_)
            | NoProvider::BadUrl(_)
            | NoProvider::Client(_) => "",
        }
    }
}

impl From<NoProvider> for UserError {
    fn from(error: NoProvider) -> Self {
        UserError::new(error.to_string(), error.remedy())
    }
}

/// What the vendor of a subject takes; known without a key or a connection.
pub fn accepts(file: &SubjectFile) -> Result<Accepts, NoProvider> {
    Ok(wire(file)?.accepts())
}

/// The stack of a subject. With recordings alone it needs no key and can open no connection.
pub fn provider(file: &SubjectFile, key: Option<Key>, terms: &Terms, cassette: Cassette) -> Result<SharedProvider, NoProvider> {
    let wire = wire(file)?;
    if file.model.is_none() {
        return Err(NoProvider::NoModel);
    }
    if !cassette.may_ask() {
        let nobody = Unplugged(wire.accepts());
        return Ok(Arc::new(Recorder { inner: nobody, cassette }));
    }
    let line = line(file, wire, key, terms)?;
    let patient = Insist { inner: Retry { inner: Rate::new(line, terms.at_once), patience: terms.patience } };
    // Recording anew means asking anew.
    Ok(match terms.cache && !matches!(cassette, Cassette::Record(_)) {
        true => finished(Cache::new(patient, terms.ledger.clone()), terms, cassette),
        false => finished(patient, terms, cassette),
    })
}

fn finished(inner: impl Provider + 'static, terms: &Terms, cassette: Cassette) -> SharedProvider {
    Arc::new(Recorder { inner: SettledFirst { inner, ledger: terms.ledger.clone() }, cassette })
}

fn wire(file: &SubjectFile) -> Result<Box<dyn Wire>, NoProvider> {
    Ok(match (file.provider, file.api) {
        (ProviderKind::Anthropic, _) => Box::new(Anthropic),
        (ProviderKind::OpenAi, None | Some(Api::Responses)) | (ProviderKind::OpenAiCompatible, Some(Api::Responses)) => Box::new(Responses),
        (ProviderKind::OpenAi, Some(Api::Chat)) => Box::new(Chat::OpenAi),
        (ProviderKind::OpenAiCompatible, None | Some(Api::Chat)) => Box::new(Chat::Compatible),
        (ProviderKind::Ollama, _) => Box::new(Ollama),
        (other, _) => return Err(NoProvider::NotAModel(other.word())),
    })
}

/// A reply that takes longer than the trial may last helps nobody, but a minute is not long for a vendor under load.
const SHORTEST_LIMIT_S: u64 = 60;

fn line(file: &SubjectFile, wire: Box<dyn Wire>, key: Option<Key>, terms: &Terms) -> Result<Line, NoProvider> {
    if let (Some(name), None) = (&file.key_env, &key) {
        return Err(NoProvider::NoKey(name.clone()));
    }
    if file.price.is_none() && terms.budget.has_limit() {
        return Err(NoProvider::NoPrice);
    }
    let url = url(file, wire.path(), key.is_some())?;
    super::choose_tls();
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .build()
        .map_err(|error| NoProvider::Client(error.to_string()))?;
    Ok(Line {
        wire,
        client,
        url,
        key,
        price: file.price.clone(),
        stream: file.stream,
        time_limit: terms.time_limit.unwrap_or(Duration::from_secs(file.limits.seconds.max(SHORTEST_LIMIT_S))),
        budget: terms.budget.clone(),
        clock: terms.clock,
        ledger: terms.ledger.clone(),
    })
}

fn url(file: &SubjectFile, path: &str, has_key: bool) -> Result<Url, NoProvider> {
    let base = match (&file.base_url, file.provider) {
        (Some(base), _) => base.as_str(),
        (None, ProviderKind::Anthropic) => "https://api.anthropic.com",
        (None, ProviderKind::OpenAi) => "https://api.openai.com/v1",
        (None, ProviderKind::Ollama) => "http://127.0.0.1:11434",
        (None, _) => return Err(NoProvider::BadUrl("there is none")),
    };
    let mut url = Url::parse(base).map_err(|_| NoProvider::BadUrl("it is no URL"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(NoProvider::BadUrl("it begins with neither http:// nor https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(NoProvider::BadUrl("it holds a user or password; keys come from the environment"));
    }
    let loopback = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if has_key && url.scheme() == "http" && !loopback {
        return Err(NoProvider::BadUrl("it would send the key unencrypted; use https://"));
    }
    let joined = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&joined);
    Ok(url)
}
