//! Models of a config behind the budget, the cache and the recordings of the run, and the secrets that nothing may repeat.

use crate::args::PromptfooArgs;
use crate::env;
use crate::workspace_source::WorkspaceSource;
use ::run::providers::cassette::{CassetteStore, FileCassette};
use ::run::providers::{CassetteMode, ProviderConfig};
use ::run::{Clock, SecretRedactor};
use campaign::{RunFunds, cache_ttl_s};
use model::{CaseTexts, Location, Problem};
use promptfoo::{KnownPrice, ModelSetup, OLLAMA_URL, PromptfooSuite, SuiteModels, TestRow, key_variable};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Models of a config, with the money that they may spend.
pub(super) struct ConfigModels {
    pub models: Arc<SuiteModels>,
    pub funds: RunFunds,
    pub clock: Clock,
    pub secrets: SecretRedactor,
    has_secrets: bool,
}

impl ConfigModels {
    /// Builds the models of a suite. `own` are the variables of the config and of `--env-file`.
    pub(super) fn build(
        source: &WorkspaceSource,
        args: &PromptfooArgs,
        suite: &PromptfooSuite,
        own: &BTreeMap<String, String>,
    ) -> Result<Self, Vec<Problem>> {
        let variable = |name: &str| own.get(name).cloned().or_else(|| env::var(name));
        let place = || Location::new(args.config.display().to_string(), 0);
        let ttl = cache_ttl_s(&variable).map_err(|why| vec![Problem { at: place(), what: why.to_string(), remedy: String::new() }])?;
        let clock = Clock::system();
        let funds = RunFunds::new(args.budget, clock, ttl);
        let values = secret_values(suite, own, &variable);
        let secrets = SecretRedactor::new(values.iter().map(String::as_str));
        let providers = suite.model_providers();
        if providers.is_empty() {
            let (models, has_secrets) = (Arc::default(), !values.is_empty());
            return Ok(Self { models, funds, clock, secrets, has_secrets });
        }
        let config = ProviderConfig {
            secrets: secrets.clone(),
            cache: !args.no_cache,
            max_concurrent: args.max_concurrency.map(|n| n as usize).or(suite.max_concurrency).unwrap_or(4),
            time_limit: suite.timeout_ms.map(Duration::from_millis),
            ..ProviderConfig::new(funds.budget.clone(), funds.ledger.clone(), clock)
        };
        let folder = args.config.parent().unwrap_or(Path::new("")).join("cassettes");
        let cassette = |name: &str| cassette(args, &folder, name);
        let prices = known_prices(source);
        let setup = ModelSetup { config, variable: &variable, prices: &prices, cassette: &cassette, is_replay: args.replay };
        let models = Arc::new(SuiteModels::build(suite, &setup)?);
        Ok(Self { models, funds, clock, secrets, has_secrets: !values.is_empty() })
    }

    /// Returns a row without secrets.
    pub(super) fn redacted<'r>(&self, row: &'r TestRow) -> Cow<'r, TestRow> {
        if self.has_secrets { Cow::Owned(row.redacted(&self.secrets)) } else { Cow::Borrowed(row) }
    }

    /// Returns a line on the money spent; none if no model costs money.
    pub(super) fn spending(&self) -> Option<String> {
        self.funds.budget.has_limit().then(|| format!("spent {} USD", self.funds.budget.spent()))
    }
}

fn cassette(args: &PromptfooArgs, folder: &Path, name: &str) -> Result<CassetteMode, String> {
    if !(args.record || args.replay || args.record_missing) {
        return Ok(CassetteMode::Off);
    }
    let file: Arc<dyn CassetteStore> = Arc::new(FileCassette::open(folder, name).map_err(|why| why.to_string())?);
    Ok(if args.record {
        CassetteMode::Record(file)
    } else if args.replay {
        CassetteMode::Replay(file)
    } else {
        CassetteMode::RecordMissing(file)
    })
}

/// Returns the prices of the models of the workspace.
fn known_prices(source: &WorkspaceSource) -> Vec<KnownPrice> {
    let subjects = source.open(CaseTexts::Dropped).map(|workspace| workspace.subjects).unwrap_or_default();
    let known = subjects
        .iter()
        .filter_map(|file| Some(KnownPrice { provider: file.provider, model: file.model.clone()?, price: file.price.clone()? }));
    known.collect()
}

/// Returns whether the name of a setting or a variable says that its value is a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    ["apikey", "api_key", "api-key", "token", "secret", "password", "authorization", "_key", "-key"].iter().any(|part| name.contains(part))
        && !name.contains("tokens")
        && name != "apikeyenvar"
}

/// Returns the values that no result may repeat: keys of models, and what is named like a secret in the config and its variables.
fn secret_values(suite: &PromptfooSuite, own: &BTreeMap<String, String>, variable: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut found: Vec<String> = own.iter().filter(|(name, _)| is_secret_name(name)).map(|(_, value)| value.clone()).collect();
    found.extend(
        suite.model_providers().into_iter().filter_map(key_variable).filter(|name| name != OLLAMA_URL).filter_map(|name| variable(&name)),
    );
    for provider in &suite.providers {
        collect_secrets(&provider.config, &mut found);
    }
    for provider in suite.model_providers() {
        collect_secrets(&provider.config, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

fn collect_secrets(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(text) if is_secret_name(name) && !text.contains("{{") => {
                        found.push(text.strip_prefix("Bearer ").unwrap_or(text).to_owned());
                    }
                    Some(_) | None => collect_secrets(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_secrets(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
