//! Subject files: the evaluated agent with its model and limits. API keys are referenced by environment variable, never stored.

mod external;

pub use external::{AgentEndpoint, ExternalAgent};

use crate::hash::ContentHash;
use crate::location::{Location, Spanned};
use crate::money::Money;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, flag, json as any, name, number, one_of, spanned, text, unsigned};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone)]
pub struct SubjectFile {
    pub name: Spanned<String>,
    pub provider: ProviderKind,
    pub model: Option<String>,
    pub temperature: Option<f64>,
    pub limits: SubjectLimits,
    pub tools: ToolsShown,
    pub key_env: Option<String>,
    pub base_url: Option<String>,
    /// Wire format, for OpenAI and compatible servers.
    pub api: Option<OpenAiApi>,
    pub stream: bool,
    /// Prompt text placed before the prompt of the agent file.
    pub prompt: Option<String>,
    /// Vendor-specific settings, sent unchanged with every request.
    pub extra: Map<String, Value>,
    pub price: Option<ModelPrice>,
    /// Connection of an external agent; absent for all other subjects.
    pub external: Option<ExternalAgent>,
    pub about: String,
    pub at: Location,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    Anthropic,
    OpenAi,
    OpenAiCompatible,
    Ollama,
    Baseline,
    Reference,
    /// Reference with one fault, which `model` names.
    Fault,
    Gullible,
    Paranoid,
    Echo,
    Process,
    Http,
    Mcp,
    Chat,
    A2a,
}

impl ProviderKind {
    pub const ALL: &'static [(&'static str, ProviderKind)] = &[
        ("anthropic", ProviderKind::Anthropic),
        ("openai", ProviderKind::OpenAi),
        ("openai-compatible", ProviderKind::OpenAiCompatible),
        ("ollama", ProviderKind::Ollama),
        ("baseline", ProviderKind::Baseline),
        ("reference", ProviderKind::Reference),
        ("fault", ProviderKind::Fault),
        ("gullible", ProviderKind::Gullible),
        ("paranoid", ProviderKind::Paranoid),
        ("echo", ProviderKind::Echo),
        ("process", ProviderKind::Process),
        ("http", ProviderKind::Http),
        ("mcp", ProviderKind::Mcp),
        ("chat", ProviderKind::Chat),
        ("a2a", ProviderKind::A2a),
    ];

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }

    /// Returns whether the provider is an LLM API.
    pub fn is_llm(self) -> bool {
        match self {
            ProviderKind::Anthropic | ProviderKind::OpenAi | ProviderKind::OpenAiCompatible | ProviderKind::Ollama => true,
            ProviderKind::Baseline
            | ProviderKind::Reference
            | ProviderKind::Fault
            | ProviderKind::Gullible
            | ProviderKind::Paranoid
            | ProviderKind::Echo
            | ProviderKind::Process
            | ProviderKind::Http
            | ProviderKind::Mcp
            | ProviderKind::Chat
            | ProviderKind::A2a => false,
        }
    }

    /// Returns whether a subject gives the same answer every time: it is built in, and asks neither a model nor another program.
    pub fn is_deterministic(self) -> bool {
        match self {
            ProviderKind::Baseline
            | ProviderKind::Reference
            | ProviderKind::Gullible
            | ProviderKind::Paranoid
            | ProviderKind::Fault
            | ProviderKind::Echo => true,
            ProviderKind::Anthropic
            | ProviderKind::OpenAi
            | ProviderKind::OpenAiCompatible
            | ProviderKind::Ollama
            | ProviderKind::Process
            | ProviderKind::Http
            | ProviderKind::Mcp
            | ProviderKind::Chat
            | ProviderKind::A2a => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubjectLimits {
    pub turns: u64,
    pub calls: u64,
    pub output_tokens: u64,
    /// Output of one verdict when the subject judges. A verdict that does not fit is asked for once more with `output_tokens`.
    pub verdict_tokens: u64,
    pub seconds: u64,
}

impl Default for SubjectLimits {
    fn default() -> Self {
        Self { turns: 12, calls: 40, output_tokens: 4096, verdict_tokens: 400, seconds: 120 }
    }
}

/// Wire formats of OpenAI. Compatible servers support at least `Chat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenAiApi {
    Chat,
    Responses,
}

impl OpenAiApi {
    pub const ALL: &'static [(&'static str, OpenAiApi)] = &[("chat", OpenAiApi::Chat), ("responses", OpenAiApi::Responses)];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolsShown {
    All,
    Pruned(u64),
}

/// Price per million tokens, as of a date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPrice {
    pub input_per_mtok: Money,
    pub output_per_mtok: Money,
    pub cache_read_per_mtok: Option<Money>,
    pub cache_write_per_mtok: Option<Money>,
    pub as_of: String,
}

impl SubjectFile {
    /// Returns the hash of all settings that change behaviour. Part of every trial id.
    pub fn identity(&self) -> ContentHash {
        let tools = match self.tools {
            ToolsShown::All => "all".to_owned(),
            ToolsShown::Pruned(count) => format!("pruned({count})"),
        };
        let api = self.api.and_then(|api| OpenAiApi::ALL.iter().find(|(_, known)| *known == api)).map(|(word, _)| *word);
        let mut configuration = json!({
            "provider": self.provider.word(), "model": self.model, "temperature": self.temperature, "base_url": self.base_url, "tools": tools,
            "limits": [self.limits.turns, self.limits.calls, self.limits.output_tokens, self.limits.seconds],
            "api": api, "prompt": self.prompt, "extra": self.extra,
        });
        if let Some(agent) = &self.external {
            configuration["finished"] = agent.identity();
        }
        ContentHash::of_json(&configuration)
    }

    /// Returns an external agent given on the command line instead of a subject file.
    pub fn from_command_line(name: &str, provider: ProviderKind, endpoint: AgentEndpoint) -> Self {
        let about = "External agent given on the command line.";
        Self { external: Some(ExternalAgent::new(endpoint)), ..Self::without_file(name, provider, about) }
    }

    /// Returns the reference with a fault, given on the command line as `fault:FAULT`.
    pub fn with_fault(fault: &str) -> Self {
        let name = format!("fault:{fault}");
        Self { model: Some(fault.to_owned()), ..Self::without_file(&name, ProviderKind::Fault, "Reference with one fault.") }
    }

    fn without_file(name: &str, provider: ProviderKind, about: &str) -> Self {
        let at = Location::new("--subject", 1);
        Self {
            name: Spanned::new(name.to_owned(), at.clone()),
            provider,
            model: None,
            temperature: None,
            limits: SubjectLimits::default(),
            tools: ToolsShown::All,
            key_env: None,
            base_url: None,
            api: None,
            stream: false,
            prompt: None,
            extra: Map::new(),
            price: None,
            external: None,
            about: about.to_owned(),
            at,
        }
    }
}

pub(crate) fn read_subject(node: &YamlNode, report: &ProblemReport) -> Option<SubjectFile> {
    let fields = YamlFields::open(node, "a subject", report)?;
    let name_ = fields.required("subject", spanned(name));
    let provider = fields.required("provider", one_of(ProviderKind::ALL));
    let model = fields.optional("model", text);
    let temperature = fields.optional("temperature", number);
    let limits = fields.or_default("limits", read_limits);
    let tools = fields.optional("tools", read_tools_shown).unwrap_or(ToolsShown::All);
    let key_env = fields.optional("key_env", read_env_name);
    let base_url = fields.optional("base_url", text);
    let api = fields.optional("api", one_of(OpenAiApi::ALL));
    let stream = fields.optional("stream", flag).unwrap_or_default();
    let prompt = fields.optional("prompt", text);
    let extra = fields.optional("extra", read_extra).unwrap_or_default();
    let price = fields.optional("price", read_price);
    let external = external::read_external(&fields, node, provider, report);
    let about = fields.required("about", text);
    fields.close();
    if provider.is_some_and(ProviderKind::is_llm) && model.is_none() {
        report.add(node.line, "a subject with an LLM provider lacks \"model\"", "add model: …");
    }
    Some(SubjectFile {
        name: name_?,
        provider: provider?,
        model,
        temperature,
        limits,
        tools,
        key_env,
        base_url,
        api,
        stream,
        prompt,
        extra,
        price,
        external,
        about: about?,
        at: report.location(node.line),
    })
}

fn read_limits(node: &YamlNode, report: &ProblemReport) -> Option<SubjectLimits> {
    let fields = YamlFields::open(node, "limits", report)?;
    let base = SubjectLimits::default();
    let limits = SubjectLimits {
        turns: fields.optional("turns", unsigned).unwrap_or(base.turns),
        calls: fields.optional("calls", unsigned).unwrap_or(base.calls),
        output_tokens: fields.optional("output_tokens", unsigned).unwrap_or(base.output_tokens),
        verdict_tokens: fields.optional("verdict_tokens", unsigned).unwrap_or(base.verdict_tokens),
        seconds: fields.optional("seconds", unsigned).unwrap_or(base.seconds),
    };
    fields.close();
    Some(limits)
}

fn read_tools_shown(node: &YamlNode, report: &ProblemReport) -> Option<ToolsShown> {
    let written = text(node, report)?;
    let pruned = written.strip_prefix("pruned(").and_then(|rest| rest.strip_suffix(')')).and_then(|count| count.parse().ok());
    match (written.as_str(), pruned) {
        ("all", _) => Some(ToolsShown::All),
        (_, Some(count)) if count > 0 => Some(ToolsShown::Pruned(count)),
        (_, Some(_) | None) => {
            report.add(node.line, format!("{} does not say which tools are shown", node.describe()), "write all or pruned(15)");
            None
        }
    }
}

/// Reads the name of an environment variable. A pasted API key is refused and not repeated in the message.
fn read_env_name(node: &YamlNode, report: &ProblemReport) -> Option<String> {
    let written = text(node, report)?;
    let fits = written.len() <= 64 && written.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if !fits {
        report.add(node.line, "expected the name of an environment variable", "use capital letters, digits and _; never the key itself");
    }
    fits.then_some(written)
}

fn read_price(node: &YamlNode, report: &ProblemReport) -> Option<ModelPrice> {
    let fields = YamlFields::open(node, "a price", report)?;
    let input = fields.required("input_per_mtok", read_money);
    let output = fields.required("output_per_mtok", read_money);
    let cache_read_per_mtok = fields.optional("cache_read_per_mtok", read_money);
    let cache_write_per_mtok = fields.optional("cache_write_per_mtok", read_money);
    let as_of = fields.required("as_of", text);
    fields.close();
    Some(ModelPrice { input_per_mtok: input?, output_per_mtok: output?, cache_read_per_mtok, cache_write_per_mtok, as_of: as_of? })
}

fn read_money(node: &YamlNode, report: &ProblemReport) -> Option<Money> {
    let parsed = text(node, report)?.parse();
    if parsed.is_err() {
        report.add(node.line, format!("expected dollars, found {}", node.describe()), "digits with at most nine after the point");
    }
    parsed.ok()
}

/// Request fields that the program sets itself, or that hold a key.
const RESERVED: &[&str] = &[
    "model",
    "messages",
    "input",
    "system",
    "instructions",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
    "api_key",
    "n",
    "best_of",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "num_predict",
];

fn read_extra(node: &YamlNode, report: &ProblemReport) -> Option<Map<String, Value>> {
    let Value::Object(extra) = any(node, report)? else {
        report.add(node.line, format!("expected fields of the request, found {}", node.describe()), "extra: { reasoning_effort: low }");
        return None;
    };
    let taken: Vec<&str> = extra.keys().map(String::as_str).filter(|key| RESERVED.contains(key)).collect();
    if !taken.is_empty() {
        report.add(node.line, format!("extra must not set {}", taken.join(", ")), "the program sets these itself");
        return None;
    }
    Some(extra)
}

#[cfg(test)]
mod tests;
