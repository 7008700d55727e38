//! OpenAI chat messages, alone or under `messages`.

use super::{ItemError, identity_of};
use crate::builder::{AGENT, TranscriptBuilder};
use crate::content::{arguments, content_text, list, result_value, string};
use crate::problem::LogPlace;
use crate::recording::LogRecording;
use model::Ending;
use model::transcript::ToolAnswer;
use serde_json::Value;

/// Reads a list of messages, or an object that holds one.
pub(crate) fn read(item: &Value, at: &LogPlace) -> Result<LogRecording, ItemError> {
    let messages = messages_of(item).ok_or("there is no list of messages")?;
    let mut builder = TranscriptBuilder::default();
    for message in messages {
        add_message(&mut builder, message, |text| ToolAnswer::Result(result_value(text)))?;
    }
    // A stored response beside its request.
    for choice in item.get("response").map_or_else(|| list(item, "choices"), |response| list(response, "choices")) {
        if let Some(message) = choice.get("message") {
            add_message(&mut builder, message, |text| ToolAnswer::Result(result_value(text)))?;
        }
    }
    if builder.is_empty() {
        return Err("no message has a text or a call".into());
    }
    let mut recording = builder.finish(at, identity_of(item, at, Ending::Finished));
    recording.tools = offered_tools(item);
    Ok(recording)
}

pub(super) fn messages_of(item: &Value) -> Option<&Vec<Value>> {
    item.as_array().or_else(|| item.get("messages")?.as_array())
}

/// Adds a message. `answer` makes an answer of the text of a tool message.
pub(super) fn add_message(
    builder: &mut TranscriptBuilder,
    message: &Value,
    answer: impl Fn(String) -> ToolAnswer,
) -> Result<(), ItemError> {
    let content = content_text(message.get("content"));
    match string(message, "role") {
        Some("system" | "developer") => {}
        Some("user") => builder.user_said(content),
        Some("assistant") => {
            builder.agent_said(AGENT, content);
            list(message, "tool_calls").iter().try_for_each(|call| add_call(builder, call))?;
            if let Some(call) = message.get("function_call").filter(|call| call.is_object()) {
                builder.called(AGENT, None, string(call, "name").ok_or("a function call has no name")?, arguments(call.get("arguments")));
            }
        }
        Some("tool" | "function") => {
            let (id, tool) = (string(message, "tool_call_id"), string(message, "name"));
            builder.answered(id, tool, answer(content.text));
        }
        Some(role) => builder.leave_out(&format!("message with the role {role}")),
        None => return Err("a message has no role".into()),
    }
    Ok(())
}

fn add_call(builder: &mut TranscriptBuilder, call: &Value) -> Result<(), ItemError> {
    let function = call.get("function").or_else(|| call.get("custom")).unwrap_or(call);
    let name = string(function, "name").ok_or("a tool call has no name")?;
    let written = function.get("arguments").or_else(|| function.get("input"));
    builder.called(AGENT, string(call, "id"), name, arguments(written));
    Ok(())
}

/// Returns the names in a list of tools in the shapes of OpenAI, Anthropic and MCP; absent if there is no list.
pub(super) fn offered_tools(item: &Value) -> Option<Vec<String>> {
    let tools = item.get("tools")?.as_array()?;
    let name = |tool: &Value| match tool {
        Value::String(name) => Some(name.clone()),
        _ => string(tool.get("function").unwrap_or(tool), "name").map(str::to_owned),
    };
    Some(tools.iter().filter_map(name).collect())
}
