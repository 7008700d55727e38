//! Formats of logs.

/// Format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogFormat {
    /// Our export: one trial per line.
    Jsonl,
    OpenAiChat,
    OpenAiResponses,
    Anthropic,
    TauBench,
    Tau2,
    AgentDojo,
    /// JSON log or `.eval` archive of Inspect.
    Inspect,
    /// OTLP/JSON traces with attributes of the GenAI conventions.
    Otlp,
}

impl LogFormat {
    pub const ALL: &'static [(&'static str, LogFormat)] = &[
        ("jsonl", LogFormat::Jsonl),
        ("openai-chat", LogFormat::OpenAiChat),
        ("openai-responses", LogFormat::OpenAiResponses),
        ("anthropic", LogFormat::Anthropic),
        ("tau-bench", LogFormat::TauBench),
        ("tau2", LogFormat::Tau2),
        ("agentdojo", LogFormat::AgentDojo),
        ("inspect", LogFormat::Inspect),
        ("otlp", LogFormat::Otlp),
    ];

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, format)| *format == self).map_or("", |(word, _)| word)
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, format)| *format)
    }
}
