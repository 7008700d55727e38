//! Anthropic messages, alone or under `messages`.

use super::openai_chat::{messages_of, offered_tools};
use super::{ItemError, identity_of};
use crate::builder::{AGENT, TranscriptBuilder};
use crate::content::{ContentText, arguments, content_text, result_value, string};
use crate::problem::LogPlace;
use crate::recording::LogRecording;
use model::Ending;
use model::transcript::ToolAnswer;
use serde_json::Value;

pub(crate) fn read(item: &Value, at: &LogPlace) -> Result<LogRecording, ItemError> {
    let messages = messages_of(item).ok_or("there is no list of messages")?;
    let mut builder = TranscriptBuilder::default();
    // A stored response beside its request is one more message.
    let response = item.get("response").filter(|response| response.get("content").is_some());
    messages.iter().chain(response).try_for_each(|message| add_message(&mut builder, message))?;
    if builder.is_empty() {
        return Err("no message has a text or a call".into());
    }
    let mut recording = builder.finish(at, identity_of(item, at, Ending::Finished));
    recording.tools = offered_tools(item);
    Ok(recording)
}

fn add_message(builder: &mut TranscriptBuilder, message: &Value) -> Result<(), ItemError> {
    let is_agent = match string(message, "role") {
        Some("assistant") => true,
        Some("user") => false,
        Some("system") => return Ok(()),
        Some(role) => {
            builder.leave_out(&format!("message with the role {role}"));
            return Ok(());
        }
        None => return Err("a message has no role".into()),
    };
    match message.get("content") {
        Some(Value::Array(blocks)) => blocks.iter().try_for_each(|block| add_block(builder, is_agent, block)),
        content => {
            add_text(builder, is_agent, content_text(content));
            Ok(())
        }
    }
}

fn add_block(builder: &mut TranscriptBuilder, is_agent: bool, block: &Value) -> Result<(), ItemError> {
    match string(block, "type") {
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
            let name = string(block, "name").ok_or("a tool_use block has no name")?;
            builder.called(AGENT, string(block, "id"), name, arguments(block.get("input")));
        }
        Some(kind) if kind.ends_with("tool_result") => add_result(builder, block),
        Some("thinking" | "redacted_thinking") => builder.leave_out("block of type thinking"),
        Some(_) | None => add_text(builder, is_agent, content_text(Some(block))),
    }
    Ok(())
}

fn add_result(builder: &mut TranscriptBuilder, block: &Value) {
    let is_text = |content: &Value| content.is_string() || content_text(Some(content)).skipped.is_empty();
    let content = block.get("content");
    let result = match content {
        // Results of server tools are structures of their own.
        Some(content) if !is_text(content) => content.clone(),
        content => result_value(content_text(content).text),
    };
    let answer = if block.get("is_error").and_then(Value::as_bool) == Some(true) {
        ToolAnswer::Error { code: "error".into(), message: content_text(content).text }
    } else {
        ToolAnswer::Result(result)
    };
    builder.answered(string(block, "tool_use_id"), None, answer);
}

fn add_text(builder: &mut TranscriptBuilder, is_agent: bool, content: ContentText) {
    if is_agent { builder.agent_said(AGENT, content) } else { builder.user_said(content) }
}
