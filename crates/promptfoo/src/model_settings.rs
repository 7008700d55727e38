//! Settings of models in configs.

/// Settings that are sent as they are.
#[rustfmt::skip]
pub(crate) const OPENAI_SETTINGS: &[&str] = &[
    "top_p", "tools", "tool_choice", "response_format", "seed", "stop", "functions", "function_call", "frequency_penalty", "presence_penalty",
    "reasoning_effort", "logprobs", "top_logprobs", "parallel_tool_calls", "verbosity", "service_tier", "user", "logit_bias",
];
#[rustfmt::skip]
pub(crate) const RESPONSES_SETTINGS: &[&str] = &[
    "top_p", "tools", "tool_choice", "text", "reasoning", "parallel_tool_calls", "max_tool_calls", "truncation", "service_tier", "user", "metadata",
];
pub(crate) const ANTHROPIC_SETTINGS: &[&str] = &["top_p", "top_k", "tools", "tool_choice", "stop_sequences", "thinking"];
pub(crate) const OLLAMA_SETTINGS: &[&str] = &["tools", "format", "think", "keep_alive"];
#[rustfmt::skip]
pub(crate) const OLLAMA_OPTIONS: &[&str] = &[
    "num_ctx", "top_k", "top_p", "seed", "stop", "repeat_penalty", "repeat_last_n", "min_p", "mirostat", "mirostat_eta", "mirostat_tau", "tfs_z",
    "num_gpu", "num_thread", "presence_penalty", "frequency_penalty",
];
/// Settings that are read here.
#[rustfmt::skip]
const OWN_SETTINGS: &[&str] = &[
    "temperature", "max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict", "passthrough", "options", "apiKey", "apiKeyEnvar", "apiBaseUrl", "apiHost",
    "cost", "inputCost", "outputCost",
];

/// Returns whether a model has a setting of this name.
pub(crate) fn is_model_setting(name: &str) -> bool {
    [OPENAI_SETTINGS, RESPONSES_SETTINGS, ANTHROPIC_SETTINGS, OLLAMA_SETTINGS, OLLAMA_OPTIONS, OWN_SETTINGS]
        .iter()
        .any(|settings| settings.contains(&name))
}
