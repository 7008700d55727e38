//! Passes every call to a live server. The server is untrusted: time and size of its answers are limited.

use async_trait::async_trait;
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, ContentBlock};
use rmcp::service::RunningService;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Map, Value};

use super::{RemoteTool, SourceError, ToolSource};
use crate::mcp::client;
use crate::mcp::diagnostics::StreamDiagnostics;
use crate::mcp::error::{McpError, McpFault};
use crate::mcp::http;
use crate::mcp::limits::McpLimits;
use crate::mcp::metered_reader::MeteredReader;
use crate::mcp::printable::printable;
use crate::mcp::server_process::ServerProcess;
use crate::mcp::session;
use crate::mcp::tool_list::{fetch_all_tools, request_fault};

/// Maximum length of a tool's error text.
const MAX_FAILURE_CHARS: usize = 2_000;

/// Open session with a server. [`McpLimits::time`] limits the handshake and each call; sizes are limited over the whole session.
#[derive(Debug)]
pub struct PassthroughSource {
    name: String,
    /// Name by which the server introduces itself; empty if it has none.
    own_name: String,
    // Declared before the child, so that the session is dropped first.
    service: RunningService<RoleClient, ClientConfig>,
    child: Option<ServerProcess>,
    offers: Vec<RemoteTool>,
    notes: StreamDiagnostics,
    limits: McpLimits,
}

impl PassthroughSource {
    /// Connects and lists the tools.
    pub async fn open(at: &client::McpEndpoint, limits: &McpLimits) -> Result<Self, McpError> {
        let notes = StreamDiagnostics::default();
        match at {
            client::McpEndpoint::Command { program, args, env } => {
                let name = client::display_command(program, args);
                let (child, pipes) = ServerProcess::start(program, args, env)
                    .map_err(|error| McpError::new(name.clone(), McpFault::NotStarted { why: error.to_string() }))?;
                let stdout = MeteredReader::new(pipes.stdout, *limits, notes.clone());
                let transport = AsyncRwTransport::new(stdout, pipes.stdin).with_max_line_length(usize::MAX);
                let opened = open_session(session::open(transport), limits).await;
                match opened {
                    Ok((service, offers)) => {
                        Ok(Self { name, own_name: own_name(&service), service, child: Some(child), offers, notes, limits: *limits })
                    }
                    Err(fault) => {
                        let exit = child.stop().await;
                        let fault = Box::new(notes.fault_or(client::with_exit_status(fault, &exit)));
                        Err(McpError { server: name, fault, stray: notes.first_stray(), stderr: exit.stderr })
                    }
                }
            }
            client::McpEndpoint::Url(url) => {
                let name = http::display_url(url);
                let failed = |fault: McpFault| McpError::new(name.clone(), notes.fault_or(fault));
                let transport = http::connect(url, *limits, notes.clone()).map_err(failed)?;
                let (service, offers) = open_session(session::open(transport), limits).await.map_err(failed)?;
                Ok(Self { name, own_name: own_name(&service), service, child: None, offers, notes, limits: *limits })
            }
        }
    }

    /// Returns the name by which the server introduces itself; empty if it has none.
    pub fn own_name(&self) -> &str {
        &self.own_name
    }

    /// Returns the listed tools, with their output schemas if they have any.
    pub fn offers(&self) -> &[RemoteTool] {
        &self.offers
    }

    /// Closes the session and waits until a child process has ended. Dropping kills it without waiting.
    pub async fn close(mut self) {
        let _ = self.service.close_with_timeout(session::CLOSE_TIMEOUT).await;
        if let Some(child) = self.child.take() {
            child.stop().await;
        }
    }

    fn call_error(&self, tool: &str, fault: McpFault) -> SourceError {
        // The server rejected this call only; the session goes on.
        if let McpFault::Refused { code, message } = fault {
            return SourceError::Failed { tool: printable(tool, 100), message: format!("error {code}: {message}") };
        }
        if let McpFault::Ended { how } = fault {
            return self.server_error(McpFault::Left { tool: printable(tool, 100), how });
        }
        self.server_error(fault)
    }

    fn server_error(&self, fault: McpFault) -> SourceError {
        SourceError::Server(McpError::new(self.name.clone(), self.notes.fault_or(fault)))
    }
}

fn own_name(service: &RunningService<RoleClient, ClientConfig>) -> String {
    let about = service.peer_info().and_then(|info| info.server_info.as_ref().map(|about| printable(&about.name, 200)));
    about.unwrap_or_default()
}

async fn open_session(
    opening: impl Future<Output = Result<RunningService<RoleClient, ClientConfig>, McpFault>>,
    limits: &McpLimits,
) -> Result<(RunningService<RoleClient, ClientConfig>, Vec<RemoteTool>), McpFault> {
    let session = async {
        let service = opening.await?;
        let offers = fetch_all_tools(service.peer(), limits).await?;
        Ok((service, offers))
    };
    tokio::time::timeout(limits.timeout, session).await.map_err(|_| McpFault::NoAnswer { within: limits.timeout })?
}

#[async_trait]
impl ToolSource for PassthroughSource {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        if !self.offers.iter().any(|offer| offer.listing.name == tool) {
            return Err(unknown_tool(tool, &self.offers));
        }
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args.clone());
        let within = self.limits.timeout;
        let answer = tokio::time::timeout(within, self.service.peer().call_tool_once(params))
            .await
            .map_err(|_| self.server_error(McpFault::Unanswered { tool: printable(tool, 100), within }))?;
        match answer {
            Ok(CallToolResponse::Complete(result)) => result_value(tool, result),
            // Elicitation and background tasks, which our capabilities exclude.
            Ok(_) => Err(self.server_error(McpFault::NotMcp { why: "it answered a call with something other than a result".to_owned() })),
            Err(error) => Err(self.call_error(tool, request_fault(error))),
        }
    }
}

pub(super) fn unknown_tool(tool: &str, offers: &[RemoteTool]) -> SourceError {
    let guess = model::did_you_mean(tool, offers.iter().map(|offer| offer.listing.name.as_str()));
    SourceError::UnknownTool { tool: printable(tool, 100), guess }
}

/// Returns the structured content if there is one; else the text, parsed if it is a JSON object or array; else the content blocks.
fn result_value(tool: &str, result: CallToolResult) -> Result<Value, SourceError> {
    let texts: Option<Vec<&str>> = result.content.iter().map(|block| block.as_text().map(|text| text.text.as_str())).collect();
    if result.is_error == Some(true) {
        let message = texts.map_or_else(|| blocks_json(&result.content).to_string(), |texts| texts.join("\n"));
        return Err(SourceError::Failed { tool: printable(tool, 100), message: message.chars().take(MAX_FAILURE_CHARS).collect() });
    }
    if let Some(structured) = result.structured_content {
        return Ok(structured);
    }
    let Some(texts) = texts else { return Ok(blocks_json(&result.content)) };
    let text = texts.join("\n");
    let parsed = serde_json::from_str::<Value>(&text).ok().filter(|parsed| parsed.is_object() || parsed.is_array());
    Ok(parsed.unwrap_or(Value::String(text)))
}

fn blocks_json(content: &[ContentBlock]) -> Value {
    serde_json::to_value(content).unwrap_or_default()
}
