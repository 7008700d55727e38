//! Calls of providers: echo, programs, HTTP, models and JavaScript files. Models go through the provider stack of native runs; the others
//! are asked once.

use crate::models::{CallPlace, SuiteModels};
use crate::provider_answer::{PendingTransform, ProviderAnswer};
use crate::response_transform::transformed;
use crate::suite::{ProviderSpec, ProviderTarget};
use crate::template::{render, render_plain_value};
use script::{FunctionCall, ScriptPool, ScriptReply, ScriptRequest};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;

/// Largest answer of a provider.
const MAX_ANSWER_BYTES: usize = 16 << 20;

/// Client for HTTP providers, made for the first request: certificates take memory that most configs do not need.
#[derive(Debug, Default)]
pub struct LazyClient(OnceLock<Result<reqwest::Client, String>>);

impl LazyClient {
    fn get(&self) -> Result<&reqwest::Client, String> {
        let made = self.0.get_or_init(|| reqwest::Client::builder().build().map_err(|why| why.to_string()));
        made.as_ref().map_err(|why| format!("HTTP cannot be used: {why}"))
    }
}

/// Surroundings of calls.
#[derive(Debug)]
pub(crate) struct ProviderCaller<'a> {
    pub client: &'a LazyClient,
    pub pool: &'a ScriptPool,
    /// Environment of programs.
    pub env: &'a BTreeMap<String, String>,
    pub models: &'a SuiteModels,
    /// Variables that templates see as `env`.
    pub template_env: &'a Value,
    pub timeout: Duration,
}

impl ProviderCaller<'_> {
    /// Calls a provider. `options` are settings for models on top of those of the provider.
    pub(crate) async fn call(
        &self,
        provider: &ProviderSpec,
        prompt: &str,
        vars: &Map<String, Value>,
        options: &Value,
        place: CallPlace<'_>,
    ) -> ProviderAnswer {
        self.finished(self.call_untransformed(provider, prompt, vars, options, place).await).await
    }

    /// Applies the transform that an answer still needs.
    pub(crate) async fn finished(&self, mut answer: ProviderAnswer) -> ProviderAnswer {
        let Some(pending) = answer.pending.take() else { return answer };
        match transformed(self.pool, pending).await {
            Ok(output) => ProviderAnswer { output, ..answer },
            Err(why) => ProviderAnswer::failed(why),
        }
    }

    /// Calls a provider, and leaves the transform of its response to [`Self::finished`].
    pub(crate) async fn call_untransformed(
        &self,
        provider: &ProviderSpec,
        prompt: &str,
        vars: &Map<String, Value>,
        options: &Value,
        place: CallPlace<'_>,
    ) -> ProviderAnswer {
        if provider.is_model() {
            return self.models.ask(provider, options, prompt, place).await;
        }
        if matches!(provider.target, ProviderTarget::Echo) {
            return echo(prompt);
        }
        match tokio::time::timeout(self.timeout, self.dispatch(provider, prompt, vars)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(why)) => ProviderAnswer::failed(why),
            Err(_) => ProviderAnswer::failed(format!("the provider took longer than {} ms", self.timeout.as_millis())),
        }
    }

    async fn dispatch(&self, provider: &ProviderSpec, prompt: &str, vars: &Map<String, Value>) -> Result<ProviderAnswer, String> {
        match &provider.target {
            ProviderTarget::Echo => Ok(echo(prompt)),
            ProviderTarget::Exec { command } => self.exec(command, provider, prompt, vars).await,
            ProviderTarget::Http { url } => self.http(url, provider, prompt, vars).await,
            ProviderTarget::OpenAi { .. } | ProviderTarget::AnthropicMessages { .. } | ProviderTarget::OllamaChat { .. } => {
                Err("a model is asked through the budget of the run".to_owned())
            }
            ProviderTarget::Script { source, function } => self.script(source, function.as_deref(), provider, prompt, vars).await,
            ProviderTarget::SimulatedUser(_) => Err("a simulated user talks with a provider, and is none".to_owned()),
        }
    }

    /// Starts a program with the prompt, the options and the context as its last arguments.
    async fn exec(
        &self,
        command: &[String],
        provider: &ProviderSpec,
        prompt: &str,
        vars: &Map<String, Value>,
    ) -> Result<ProviderAnswer, String> {
        let (program, args) = command.split_first().ok_or("the command is empty")?;
        let mut child = tokio::process::Command::new(program);
        child.args(args).arg(prompt).arg(json!({ "config": provider.config }).to_string()).arg(json!({ "vars": vars }).to_string());
        child.env_clear().envs(self.env).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let child = child.spawn().map_err(|why| format!("{program} cannot be started: {why}"))?;
        let out = output_of(program, child).await?;
        Ok(ProviderAnswer::of(Value::String(without_ansi(&out))))
    }

    async fn http(&self, url: &str, provider: &ProviderSpec, prompt: &str, vars: &Map<String, Value>) -> Result<ProviderAnswer, String> {
        let config = &provider.config;
        let mut vars = vars.clone();
        vars.insert("prompt".to_owned(), Value::String(prompt.to_owned()));
        let body = config.get("body");
        let method = config.get("method").and_then(Value::as_str).unwrap_or(if body.is_some() { "POST" } else { "GET" }).to_uppercase();
        let method = reqwest::Method::from_bytes(method.as_bytes()).map_err(|_| format!("the method {method:?} is not valid"))?;
        let url = render(self.pool, url, &vars, self.template_env).await?;
        let mut url = reqwest::Url::parse(&url).map_err(|why| format!("the address {url:?} is not valid: {why}"))?;
        for (name, value) in config.get("queryParams").and_then(Value::as_object).into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let text = render(self.pool, &text, &vars, self.template_env).await?;
            url.query_pairs_mut().append_pair(name, &text);
        }
        let mut request = self.client.get()?.request(method, url);
        for (name, value) in config.get("headers").and_then(Value::as_object).into_iter().flatten() {
            let value = render(self.pool, value.as_str().unwrap_or_default(), &vars, self.template_env).await?;
            request = request.header(name, value);
        }
        request = match body {
            Some(Value::String(text)) => request.body(render(self.pool, text, &vars, self.template_env).await?),
            Some(value) => request.json(&self.rendered(value, &vars).await?),
            None => request,
        };
        let (status, text) = self.send(request).await?;
        if !(200..300).contains(&status) {
            return Err(format!("the server answered {status}: {}", text.chars().take(300).collect::<String>()));
        }
        let json: Option<Value> = serde_json::from_str(&text).ok();
        let raw = json.clone().unwrap_or_else(|| Value::String(text.clone()));
        let mut answer = ProviderAnswer::of(raw.clone());
        answer.response.insert("raw".to_owned(), raw);
        let source = config.get("transformResponse").or_else(|| config.get("responseParser")).and_then(Value::as_str);
        answer.pending = source.map(|source| PendingTransform { source: source.to_owned(), json, text });
        Ok(answer)
    }

    /// Renders the texts of a JSON value.
    async fn rendered(&self, value: &Value, vars: &Map<String, Value>) -> Result<Value, String> {
        if let Some(rendered) = render_plain_value(value, vars) {
            return Ok(rendered);
        }
        let rendered = crate::template::render_all(self.pool, texts_of(value), vars, self.template_env).await?;
        let mut rendered = rendered.into_iter();
        Ok(with_texts(value, &mut rendered))
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<(u16, String), String> {
        let mut response = request.send().await.map_err(|why| format!("the request failed: {}", error_text(&why)))?;
        let status = response.status().as_u16();
        let mut bytes = vec![];
        while let Some(chunk) = response.chunk().await.map_err(|why| format!("the answer broke off: {}", error_text(&why)))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_ANSWER_BYTES {
                return Err(excess());
            }
        }
        Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
    }

    async fn script(
        &self,
        source: &str,
        function: Option<&str>,
        provider: &ProviderSpec,
        prompt: &str,
        vars: &Map<String, Value>,
    ) -> Result<ProviderAnswer, String> {
        let call = FunctionCall {
            name: function.map(str::to_owned),
            method: Some("callApi".to_owned()),
            constructor: vec![json!({ "id": provider.id, "config": provider.config })],
            arguments: vec![prompt.into(), json!({ "vars": vars, "prompt": { "raw": prompt } }), json!({ "config": provider.config })],
        };
        match self.pool.run(ScriptRequest::Module { source: source.to_owned(), call }).await.map_err(|why| why.to_string())? {
            ScriptReply::Returned { value: Value::Object(fields), .. } if fields.contains_key("output") || fields.contains_key("error") => {
                let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
                Ok(ProviderAnswer {
                    output: fields.get("output").cloned().unwrap_or_default(),
                    error: text("error"),
                    fault: None,
                    cost: fields.get("cost").and_then(Value::as_f64),
                    latency_ms: None,
                    token_usage: fields.get("tokenUsage").cloned().unwrap_or_default(),
                    response: fields,
                    pending: None,
                })
            }
            ScriptReply::Returned { value, .. } => Ok(ProviderAnswer::of(value)),
            ScriptReply::Threw(why) | ScriptReply::Stopped(why) => Err(format!("the provider's script: {why}")),
            ScriptReply::Rendered(_) => Err("the provider's script gave no value".to_owned()),
        }
    }
}

/// Returns what a program writes to its end. A program that writes too much is killed: it would wait for ever for its reader.
async fn output_of(program: &str, mut child: Child) -> Result<String, String> {
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else { return Err("a pipe is missing".to_owned()) };
    let read = tokio::try_join!(read_bounded(stdout), read_bounded(stderr));
    let (out, err) = match read {
        Ok(read) => read,
        Err(why) => {
            // It may have ended by itself.
            drop(child.kill().await);
            return Err(why);
        }
    };
    let status = child.wait().await.map_err(|why| why.to_string())?;
    if !status.success() || (out.is_empty() && !err.is_empty()) {
        return Err(format!("{program} ended with {status}: {}", err.chars().take(500).collect::<String>()));
    }
    Ok(out)
}

/// Reads text to its end, without white space around it.
async fn read_bounded(pipe: impl AsyncRead + Unpin) -> Result<String, String> {
    let mut bytes = vec![];
    let read = pipe.take(MAX_ANSWER_BYTES as u64 + 1).read_to_end(&mut bytes).await;
    read.map_err(|why| format!("its output cannot be read: {why}"))?;
    if bytes.len() > MAX_ANSWER_BYTES {
        return Err(excess());
    }
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

fn excess() -> String {
    format!("the answer has more than {MAX_ANSWER_BYTES} bytes")
}

fn error_text(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

fn echo(prompt: &str) -> ProviderAnswer {
    ProviderAnswer {
        cost: Some(0.0),
        token_usage: json!({ "total": 0, "prompt": 0, "completion": 0, "numRequests": 1 }),
        ..ProviderAnswer::of(Value::String(prompt.to_owned()))
    }
}

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|value| collect_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the value with its texts replaced, in the order of [`collect_texts`].
pub(crate) fn with_texts(value: &Value, texts: &mut impl Iterator<Item = String>) -> Value {
    match value {
        Value::String(text) => Value::String(texts.next().unwrap_or_else(|| text.clone())),
        Value::Array(items) => Value::Array(items.iter().map(|item| with_texts(item, texts)).collect()),
        Value::Object(fields) => Value::Object(fields.iter().map(|(key, value)| (key.clone(), with_texts(value, texts))).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

pub(crate) fn texts_of(value: &Value) -> Vec<String> {
    let mut texts = vec![];
    collect_texts(value, &mut texts);
    texts
}

/// Removes colours from the output of a program.
fn without_ansi(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.peek() == Some(&'[') {
            chars.next();
            while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn output_of_shell(script: &str) -> Result<String, String> {
        let mut command = tokio::process::Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let output = output_of("sh", command.spawn().expect("a shell"));
        tokio::time::timeout(Duration::from_secs(60), output).await.expect("an end")
    }

    #[tokio::test]
    async fn program_that_writes_too_much_is_killed() {
        assert_eq!(output_of_shell("exec yes").await, Err(excess()), "without an end");
        assert_eq!(output_of_shell("exec yes >&2").await, Err(excess()), "on standard error");
        let script = format!("head -c {} /dev/zero | tr '\\0' x", MAX_ANSWER_BYTES + 1);
        assert_eq!(output_of_shell(&script).await, Err(excess()), "one byte too many");
        let script = format!("head -c {MAX_ANSWER_BYTES} /dev/zero | tr '\\0' x");
        assert_eq!(output_of_shell(&script).await.map(|text| text.len()), Ok(MAX_ANSWER_BYTES));
    }
}
