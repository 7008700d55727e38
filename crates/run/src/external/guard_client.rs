//! External guards: programs and services that are asked whether texts carry injected instructions.
//!
//! A program gets one JSON line per text, `{"id":0,"channel":"tool_result","text":"…"}`, and writes one line per text,
//! `{"id":0,"flagged":true}`. A service gets `{"texts":[…]}` and answers `{"answers":[…]}`. An MCP server has a tool `inspect` with
//! `channel` and `text` that returns `{"flagged":true}`.

use super::http_transport::{agent_client, read_body, root_cause};
use super::scorer_program::{ScorerCall, ScorerHost};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;
use world::mcp::source::{PassthroughSource, ToolSource};
use world::mcp::{McpEndpoint, McpLimits};

/// Texts of one request.
const BATCH_TEXTS: usize = 200;
/// Bytes of texts after which a request ends.
const BATCH_BYTES: usize = 1 << 20;
/// Name of the tool of an MCP guard.
const MCP_TOOL: &str = "inspect";

/// Guard outside of this process.
#[derive(Debug, Clone)]
pub enum GuardEndpoint {
    Process(Vec<String>),
    Http(String),
    Mcp(McpEndpoint),
}

/// Text with the channel by which it reached the agent.
#[derive(Debug, Clone, Copy)]
pub struct GuardQuestion<'q> {
    pub channel: &'q str,
    pub text: &'q str,
}

/// Reason why a guard gave no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuardFault {
    #[error("the guard {0}")]
    Unreachable(String),
    #[error("the guard answered \"{line}\": {why}")]
    Malformed { line: String, why: String },
    #[error("the guard gave {count} answers for text {id} of {of}; it must give one")]
    Count { id: usize, count: usize, of: usize },
}

/// Connection to an external guard.
#[derive(Debug)]
pub struct GuardClient {
    pub endpoint: GuardEndpoint,
    pub host: ScorerHost,
    pub timeout: Duration,
}

#[derive(Serialize)]
struct QuestionLine<'q> {
    id: usize,
    channel: &'q str,
    text: &'q str,
}

#[derive(Deserialize)]
struct AnswerLine {
    id: usize,
    flagged: bool,
}

#[derive(Deserialize)]
struct ServiceAnswers {
    answers: Vec<AnswerLine>,
}

#[derive(Deserialize)]
struct ToolVerdict {
    flagged: bool,
}

impl GuardClient {
    /// Asks about all texts, in batches. Returns whether each one is flagged.
    ///
    /// # Errors
    /// Fails if the guard cannot be reached, ends with an error, or does not give exactly one answer per text.
    pub async fn inspect(&self, questions: &[GuardQuestion<'_>]) -> Result<Vec<bool>, GuardFault> {
        if let GuardEndpoint::Mcp(endpoint) = &self.endpoint {
            return self.inspect_by_mcp(endpoint, questions).await;
        }
        let mut flags = vec![];
        let mut rest = questions;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(batch_length(rest));
            let answers = match &self.endpoint {
                GuardEndpoint::Process(command) => self.ask_process(command, batch).await?,
                GuardEndpoint::Http(url) => self.ask_service(url, batch).await?,
                GuardEndpoint::Mcp(_) => vec![],
            };
            flags.extend(in_order(&answers, batch.len())?);
            rest = later;
        }
        Ok(flags)
    }

    async fn ask_process(&self, command: &[String], batch: &[GuardQuestion<'_>]) -> Result<Vec<AnswerLine>, GuardFault> {
        let input: String = lines(batch).map(|line| format!("{}\n", json!(line))).collect();
        let call = ScorerCall { command, input: &input, timeout: self.timeout };
        let output = self.host.ask(call).await.map_err(|fault| GuardFault::Unreachable(fault.to_string()))?;
        parse_lines(&output)
    }

    async fn ask_service(&self, url: &str, batch: &[GuardQuestion<'_>]) -> Result<Vec<AnswerLine>, GuardFault> {
        let failed = |why: String| GuardFault::Unreachable(why);
        let client = agent_client().map_err(|fault| failed(fault.to_string()))?;
        let body = json!({ "texts": lines(batch).collect::<Vec<_>>() }).to_string();
        let request = client.post(url).timeout(self.timeout).header("content-type", "application/json").body(body);
        let response = request.send().await.map_err(|error| failed(format!("cannot be reached: {}", root_cause(&error))))?;
        if !response.status().is_success() {
            return Err(failed(format!("answered with status {}", response.status().as_u16())));
        }
        let body = read_body(response).await.map_err(|fault| failed(fault.to_string()))?;
        parse_service(&body)
    }

    async fn inspect_by_mcp(&self, endpoint: &McpEndpoint, questions: &[GuardQuestion<'_>]) -> Result<Vec<bool>, GuardFault> {
        let defaults = McpLimits::default();
        // One line per answer, and some for the handshake.
        let limits = McpLimits { timeout: self.timeout, lines: defaults.lines.max(2 * questions.len() + 100), ..defaults };
        let mut server = PassthroughSource::open(endpoint, &limits).await.map_err(|error| GuardFault::Unreachable(error.to_string()))?;
        let mut flags = vec![];
        for question in questions {
            let args: Map<String, Value> = [("channel", question.channel), ("text", question.text)]
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .into_iter()
                .collect();
            let answer = server.call(MCP_TOOL, &args).await.map_err(|error| GuardFault::Unreachable(error.to_string()))?;
            let line = answer.to_string();
            let verdict: ToolVerdict = serde_json::from_value(answer).map_err(|error| malformed(&line, &error))?;
            flags.push(verdict.flagged);
        }
        server.close().await;
        Ok(flags)
    }
}

fn lines<'q>(batch: &'q [GuardQuestion<'q>]) -> impl Iterator<Item = QuestionLine<'q>> {
    batch.iter().enumerate().map(|(id, question)| QuestionLine { id, channel: question.channel, text: question.text })
}

fn batch_length(questions: &[GuardQuestion<'_>]) -> usize {
    let mut bytes = 0;
    let fits = |question: &&GuardQuestion<'_>| {
        bytes += question.text.len();
        bytes <= BATCH_BYTES
    };
    questions.iter().take(BATCH_TEXTS).take_while(fits).count().max(1)
}

/// Parses the output of a program.
fn parse_lines(output: &str) -> Result<Vec<AnswerLine>, GuardFault> {
    let answers = output.lines().filter(|line| !line.trim().is_empty());
    answers.map(|line| serde_json::from_str(line).map_err(|error| malformed(line, &error))).collect()
}

/// Parses the body of a service.
fn parse_service(body: &[u8]) -> Result<Vec<AnswerLine>, GuardFault> {
    let answers: Result<ServiceAnswers, serde_json::Error> = serde_json::from_slice(body);
    answers.map(|answers| answers.answers).map_err(|error| malformed(&String::from_utf8_lossy(body), &error))
}

/// Parses a body as answers of a program and of a service about two texts, for fuzzers.
pub(super) fn parse_any(body: &[u8]) {
    const TEXTS: usize = 2;
    for answers in [parse_lines(&String::from_utf8_lossy(body)), parse_service(body)].iter().flatten() {
        let flags = in_order(answers, TEXTS);
        assert!(flags.is_err() || answers.len() == TEXTS, "{} answers about {TEXTS} texts are accepted", answers.len());
    }
}

fn malformed(line: &str, error: &serde_json::Error) -> GuardFault {
    GuardFault::Malformed { line: super::agent_process::printable(line, 80), why: error.to_string() }
}

/// Returns the flags in the order of the questions.
fn in_order(answers: &[AnswerLine], of: usize) -> Result<Vec<bool>, GuardFault> {
    if let Some(stray) = answers.iter().find(|answer| answer.id >= of) {
        return Err(GuardFault::Count { id: stray.id, count: 1, of });
    }
    let mut counted: Vec<(usize, bool)> = vec![(0, false); of];
    for answer in answers {
        counted[answer.id] = (counted[answer.id].0 + 1, answer.flagged);
    }
    match counted.iter().position(|(count, _)| *count != 1) {
        Some(id) => Err(GuardFault::Count { id, count: counted[id].0, of }),
        None => Ok(counted.into_iter().map(|(_, flagged)| flagged).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(id: usize, flagged: bool) -> AnswerLine {
        AnswerLine { id, flagged }
    }

    #[test]
    fn answers_are_put_in_order_and_must_be_complete() {
        assert_eq!(in_order(&[answer(1, true), answer(0, false)], 2), Ok(vec![false, true]));
        for (answers, id, count) in [
            (vec![answer(0, true)], 1, 0),
            (vec![answer(0, true), answer(0, true), answer(1, true)], 0, 2),
            (vec![answer(0, true), answer(1, true), answer(7, true)], 7, 1),
        ] {
            assert_eq!(in_order(&answers, 2), Err(GuardFault::Count { id, count, of: 2 }));
        }
    }

    #[test]
    fn batches_are_bounded_and_never_empty() {
        let large = "x".repeat(BATCH_BYTES + 1);
        let small = GuardQuestion { channel: "file", text: "a" };
        let questions = [GuardQuestion { channel: "file", text: &large }, small];
        assert_eq!((batch_length(&questions), batch_length(&questions[1..])), (1, 1));
        assert_eq!(batch_length(&vec![small; 1_000]), BATCH_TEXTS);
    }
}
