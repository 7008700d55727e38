//! A live server, asked every time. It is as hostile to a call as it may be to a listing: time and size are bounded.

use async_trait::async_trait;
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, ContentBlock};
use rmcp::service::RunningService;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Map, Value};

use super::{Offer, Source, SourceError};
use crate::mcp::child::Child;
use crate::mcp::client;
use crate::mcp::error::{Fault, McpError};
use crate::mcp::http;
use crate::mcp::limits::Limits;
use crate::mcp::meter::Meter;
use crate::mcp::notes::Notes;
use crate::mcp::pages::{all_offers, request_fault};
use crate::mcp::session;
use crate::mcp::shown::shown;

/// Longest text of a tool's own failure that is kept.
const FAILURE: usize = 2_000;

/// An open conversation. `Limits::time` bounds the opening and each call; sizes are bounded over the whole conversation.
#[derive(Debug)]
pub struct Passed {
    name: String,
    // Before the child: the conversation ends first.
    service: RunningService<RoleClient, ClientConfig>,
    child: Option<Child>,
    offers: Vec<Offer>,
    notes: Notes,
    limits: Limits,
}

impl Passed {
    /// Connects and lists the tools.
    pub async fn open(at: &client::Source, limits: &Limits) -> Result<Self, McpError> {
        let notes = Notes::default();
        match at {
            client::Source::Command { program, args, env } => {
                let name = client::shown_command(program, args);
                let (child, pipes) = Child::start(program, args, env)
                    .map_err(|error| McpError::new(name.clone(), Fault::NotStarted { why: error.to_string() }))?;
                let stdout = Meter::new(pipes.stdout, *limits, notes.clone());
                let transport = AsyncRwTransport::new(stdout, pipes.stdin).with_max_line_length(usize::MAX);
                let opened = opened(session::open(transport), limits).await;
                match opened {
                    Ok((service, offers)) => Ok(Self { name, service, child: Some(child), offers, notes, limits: *limits }),
                    Err(fault) => {
                        let remains = child.stop().await;
                        let fault = Box::new(notes.cause_of(client::with_status(fault, &remains)));
                        Err(McpError { server: name, fault, stray: notes.first_stray(), stderr: remains.stderr })
                    }
                }
            }
            client::Source::Url(url) => {
                let name = http::shown_url(url);
                let failed = |fault: Fault| McpError::new(name.clone(), notes.cause_of(fault));
                let transport = http::connect(url, *limits, notes.clone()).map_err(failed)?;
                let (service, offers) = opened(session::open(transport), limits).await.map_err(failed)?;
                Ok(Self { name, service, child: None, offers, notes, limits: *limits })
            }
        }
    }

    /// The tools it listed, with the schemas of their answers where it gave any.
    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Says goodbye and waits until a started child is gone. Dropping ends it, too, but does not wait.
    pub async fn close(mut self) {
        let _ = self.service.close_with_timeout(session::GOODBYE).await;
        if let Some(child) = self.child.take() {
            child.stop().await;
        }
    }

    fn unanswered(&self, tool: &str, fault: Fault) -> SourceError {
        // It refused this call, not us: the caller may ask something else.
        if let Fault::Refused { code, message } = fault {
            return SourceError::Failed { tool: shown(tool, 100), message: format!("error {code}: {message}") };
        }
        if let Fault::Ended { how } = fault {
            return self.fault(Fault::Left { tool: shown(tool, 100), how });
        }
        self.fault(fault)
    }

    fn fault(&self, fault: Fault) -> SourceError {
        SourceError::Server(McpError::new(self.name.clone(), self.notes.cause_of(fault)))
    }
}

async fn opened(
    opening: impl Future<Output = Result<RunningService<RoleClient, ClientConfig>, Fault>>,
    limits: &Limits,
) -> Result<(RunningService<RoleClient, ClientConfig>, Vec<Offer>), Fault> {
    let conversation = async {
        let service = opening.await?;
        let offers = all_offers(service.peer(), limits).await?;
        Ok((service, offers))
    };
    tokio::time::timeout(limits.time, conversation).await.map_err(|_| Fault::NoAnswer { within: limits.time })?
}

#[async_trait]
impl Source for Passed {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        if !self.offers.iter().any(|offer| offer.listing.name == tool) {
            return Err(unknown(tool, &self.offers));
        }
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args.clone());
        let within = self.limits.time;
        let answer = tokio::time::timeout(within, self.service.peer().call_tool_once(params))
            .await
            .map_err(|_| self.fault(Fault::Unanswered { tool: shown(tool, 100), within }))?;
        match answer {
            Ok(CallToolResponse::Complete(result)) => value(tool, result),
            // Questions back and background work: we said that we can do neither.
            Ok(_) => Err(self.fault(Fault::NotMcp { why: "it answered a call with something else than a result".to_owned() })),
            Err(error) => Err(self.unanswered(tool, request_fault(error))),
        }
    }
}

pub(super) fn unknown(tool: &str, offers: &[Offer]) -> SourceError {
    let guess = model::did_you_mean(tool, offers.iter().map(|offer| offer.listing.name.as_str()));
    SourceError::UnknownTool { tool: shown(tool, 100), guess }
}

/// The structured part where there is one; else the text, read as JSON where it is an object or a list; else the blocks as they are.
fn value(tool: &str, result: CallToolResult) -> Result<Value, SourceError> {
    let texts: Option<Vec<&str>> = result.content.iter().map(|block| block.as_text().map(|text| text.text.as_str())).collect();
    if result.is_error == Some(true) {
        let message = texts.map_or_else(|| blocks(&result.content).to_string(), |texts| texts.join("\n"));
        return Err(SourceError::Failed { tool: shown(tool, 100), message: message.chars().take(FAILURE).collect() });
    }
    if let Some(structured) = result.structured_content {
        return Ok(structured);
    }
    let Some(texts) = texts else { return Ok(blocks(&result.content)) };
    let text = texts.join("\n");
    let parsed = serde_json::from_str::<Value>(&text).ok().filter(|parsed| parsed.is_object() || parsed.is_array());
    Ok(parsed.unwrap_or(Value::String(text)))
}

fn blocks(content: &[ContentBlock]) -> Value {
    serde_json::to_value(content).unwrap_or_default()
}
