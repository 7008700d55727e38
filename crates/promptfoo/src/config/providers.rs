//! Providers of a config, simulated users and judges.

use super::ConfigReader;
use crate::assertion_spec::fields;
use crate::js_yaml::{field, js_value};
use crate::known_keys::{PROVIDER_KEYS, USER_KEYS, check_keys, number};
use crate::script_answer::{module_body, response_body, transform_body};
use crate::suite::{ProviderSpec, ProviderTarget, SimulatedUser};
use model::OpenAiApi;
use model::yaml::{YamlNode, YamlShape};
use serde_json::Value;
use std::sync::Arc;

impl ConfigReader<'_> {
    pub(super) fn providers(&mut self, node: &YamlNode) {
        let (providers, targets) = (field(node, "providers"), field(node, "targets"));
        let given = match (providers, targets) {
            (Some(given), None) | (None, Some(given)) => given,
            (Some(_), Some(targets)) => return self.here.add(targets.line, "a config has providers or targets, not both", "keep one"),
            (None, None) => return self.here.add(node.line, "a config lacks \"providers\"", "add providers: [echo]"),
        };
        let entries: Vec<&YamlNode> = match &given.shape {
            YamlShape::List(items) => items.iter().collect(),
            YamlShape::Scalar { .. } | YamlShape::Map(_) => vec![given],
        };
        for entry in entries {
            self.provider_entry(&js_value(entry), entry.line);
        }
    }

    /// Returns the id of a provider and its options.
    fn provider_id(&self, value: &Value, line: u32) -> Option<(String, Value)> {
        match value {
            Value::String(id) => Some((id.clone(), Value::Null)),
            Value::Object(fields) => match (fields.get("id").and_then(Value::as_str), fields.iter().next()) {
                (Some(id), _) => Some((id.to_owned(), value.clone())),
                // { "openai:gpt-4": { config } }
                (None, Some((id, options))) if fields.len() == 1 && options.is_object() && id != "config" => {
                    Some((id.clone(), options.clone()))
                }
                (None, _) => {
                    let remedy = "write id: echo, exec:…, http…, openai:…, anthropic:…, ollama:… or file://x.js";
                    self.here.add(line, "a provider has no id", remedy);
                    None
                }
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                self.here.add(line, "a provider is a text or a mapping", "write its id, or { id, config }");
                None
            }
        }
    }

    fn provider_entry(&mut self, value: &Value, line: u32) {
        let Some((id, options)) = self.provider_id(value, line) else { return };
        if let Some(path) = id.strip_prefix("file://").filter(|path| [".yaml", ".yml", ".json"].iter().any(|ending| path.ends_with(ending)))
        {
            let Some(content) = self.read_file(path, line) else { return };
            let Some(node) = self.yaml_file(path, &content) else { return };
            let value = js_value(&node);
            match value.as_array() {
                Some(items) => items.iter().for_each(|item| self.provider_entry(item, line)),
                None => self.provider_entry(&value, line),
            }
            return;
        }
        if let Value::Object(fields) = &options {
            check_keys(&self.here, line, "a provider", fields, PROVIDER_KEYS);
            for key in ["delay", "env", "inputs"].iter().filter(|key| fields.contains_key(**key)) {
                self.here.add(line, format!("{key} of a provider is not supported"), "see docs/guide/promptfoo.md");
            }
        }
        let mut config = options.get("config").cloned().unwrap_or_default();
        self.read_settings(&mut config, line);
        let Some(target) = self.target(&id, &config, line) else { return };
        let text = |key: &str| options.get(key).and_then(Value::as_str).map(str::to_owned);
        let prompts = options
            .get("prompts")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect());
        if let Some(source) = text("transform") {
            self.check_syntax("transform", &transform_body(&source), line);
        }
        for key in ["transformResponse", "responseParser"] {
            if let Some(source) = config.get(key).and_then(Value::as_str) {
                self.check_syntax(key, &response_body(source), line);
            }
        }
        let provider =
            ProviderSpec { label: text("label"), target, prompts, transform: text("transform"), at: self.here.location(line), config, id };
        self.suite.providers.push(Arc::new(provider));
    }

    fn target(&mut self, id: &str, config: &Value, line: u32) -> Option<ProviderTarget> {
        let unknown = |reader: &Self| {
            let remedy = "supported: echo, exec:COMMAND, http(s)://…, openai:[chat:|responses:]MODEL, anthropic:[messages:]MODEL, ollama:[chat:]MODEL, file://x.js";
            reader.here.add(line, format!("the provider {id:?} is not supported"), remedy);
            None
        };
        let model = |rest: &str, kind: &str| rest.strip_prefix(kind).and_then(|rest| rest.strip_prefix(':')).unwrap_or(rest).to_owned();
        match id.split_once(':') {
            None if id == "echo" => Some(ProviderTarget::Echo),
            None if matches!(id, "http" | "https") => match config.get("url").and_then(Value::as_str) {
                Some(url) => Some(ProviderTarget::Http { url: url.to_owned() }),
                None => {
                    self.here.add(line, "an http provider needs config.url", "add config: { url }");
                    None
                }
            },
            Some(("http" | "https", rest)) if rest.starts_with("//") => Some(ProviderTarget::Http { url: id.to_owned() }),
            Some(("exec", command)) => match shlex::split(command).filter(|parts| !parts.is_empty()) {
                Some(command) => Some(ProviderTarget::Exec { command }),
                None => {
                    self.here.add(line, "the command of exec: cannot be split into words", "check its quotes");
                    None
                }
            },
            Some(("openai", rest)) if rest.starts_with("responses:") => {
                Some(ProviderTarget::OpenAi { model: model(rest, "responses"), api: OpenAiApi::Responses })
            }
            Some(("openai", rest))
                if !["responses", "embedding", "assistant", "image", "realtime", "moderation", "agents", "codex"]
                    .iter()
                    .any(|kind| rest.starts_with(kind)) =>
            {
                Some(ProviderTarget::OpenAi { model: model(rest, "chat"), api: OpenAiApi::Chat })
            }
            Some(("anthropic", rest)) if !rest.starts_with("claude-agent") => {
                Some(ProviderTarget::AnthropicMessages { model: model(rest, "messages") })
            }
            Some(("ollama", rest)) if !rest.starts_with("embeddings") => {
                Some(ProviderTarget::OllamaChat { model: model(rest, "chat").trim_start_matches("completion:").to_owned() })
            }
            Some(("file", path)) => {
                let path = path.trim_start_matches("//");
                let (path, function) = path.rsplit_once(':').map_or((path, None), |(path, function)| (path, Some(function.to_owned())));
                if ![".js", ".cjs", ".mjs"].iter().any(|ending| path.ends_with(ending)) {
                    return unknown(&*self);
                }
                let source = self.read_file(path, line)?;
                self.check_syntax(path, &module_body(&source), line);
                Some(ProviderTarget::Script { source: source.into(), function })
            }
            Some(("promptfoo", "simulated-user")) => self.simulated_user(config, line),
            Some(_) | None => unknown(&*self),
        }
    }

    /// Reads settings that are written as files: tools and formats of replies.
    fn read_settings(&mut self, config: &mut Value, line: u32) {
        for key in ["tools", "functions", "response_format"] {
            let Some(path) = config.get(key).and_then(Value::as_str).and_then(|text| text.strip_prefix("file://")).map(str::to_owned)
            else {
                continue;
            };
            let Some(content) = self.read_file(&path, line) else { continue };
            if let Some(node) = self.yaml_file(&path, &content) {
                config[key] = js_value(&node);
            }
        }
    }

    fn simulated_user(&mut self, config: &Value, line: u32) -> Option<ProviderTarget> {
        check_keys(&self.here, line, "promptfoo:simulated-user", &fields(config), USER_KEYS);
        let texts = |key: &str| -> Vec<String> {
            config.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let turns = texts("turns");
        let user = match config.get("userProvider") {
            Some(named) => self.judge(named, line),
            None => None,
        };
        if user.is_none() && turns.is_empty() && config.get("userProvider").is_none() {
            let what = "promptfoo:simulated-user has no model that plays the user; promptfoo's own service is not asked";
            self.here.add(line, what, "add config.userProvider, or config.turns with the messages of the user");
            return None;
        }
        let initial = config.get("initialMessages").cloned().unwrap_or_default();
        let initial = match initial {
            Value::Array(messages) => messages,
            Value::Null => vec![],
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                self.here.add(line, "initialMessages is a list of messages", "write [{ role, content }]");
                return None;
            }
        };
        let instructions = config.get("instructions").and_then(Value::as_str).unwrap_or("{{instructions}}").to_owned();
        let max_turns = number(&self.here, line, config, "maxTurns").map_or(10, |turns| turns.clamp(1.0, 100.0) as usize);
        Some(ProviderTarget::SimulatedUser(Box::new(SimulatedUser { instructions, user, turns, initial, max_turns })))
    }

    /// Reads a provider that is not one of the tests; the same text is read once.
    pub(super) fn judge(&mut self, named: &Value, line: u32) -> Option<Arc<ProviderSpec>> {
        let key = named.to_string();
        if let Some(known) = self.judges.get(&key) {
            return known.clone();
        }
        let before = self.suite.providers.len();
        self.provider_entry(named, line);
        let found = self.suite.providers.drain(before..).next();
        self.judges.insert(key, found.clone());
        found
    }
}
