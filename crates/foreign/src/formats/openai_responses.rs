//! OpenAI Responses: items of `input` and `output`, of one response, of a pair under `request` and `response`, or alone in a list.

use super::openai_chat::offered_tools;
use super::{ItemError, identity_of};
use crate::builder::{AGENT, TranscriptBuilder};
use crate::content::{arguments, content_text, list, result_value, string};
use crate::problem::LogPlace;
use crate::recording::LogRecording;
use model::Ending;
use model::transcript::{FaultSource, LimitKind, ToolAnswer};
use serde_json::Value;

pub(crate) fn read(item: &Value, at: &LogPlace) -> Result<LogRecording, ItemError> {
    let request = item.get("request").unwrap_or(item);
    let response = item.get("response").filter(|response| response.get("output").is_some()).unwrap_or(item);
    let mut builder = TranscriptBuilder::default();
    if let Some(Value::String(text)) = request.get("input") {
        builder.user_said(crate::content::ContentText { text: text.clone(), skipped: vec![] });
    }
    let alone = item.as_array().map_or(&[][..], Vec::as_slice);
    for part in alone.iter().chain(list(request, "input")).chain(list(response, "output")) {
        add_part(&mut builder, part)?;
    }
    if builder.is_empty() {
        return Err("neither input nor output has a text or a call".into());
    }
    let mut identity = identity_of(item, at, ending_of(response));
    if identity.subject == "unknown"
        && let Some(model) = string(response, "model").or_else(|| string(request, "model"))
    {
        identity.subject = model.to_owned();
    }
    let mut recording = builder.finish(at, identity);
    recording.tools = offered_tools(request);
    Ok(recording)
}

fn ending_of(response: &Value) -> Ending {
    match string(response, "status") {
        Some("incomplete") => Ending::OverLimit { limit: LimitKind::Tokens },
        Some(why @ ("failed" | "cancelled")) => Ending::Aborted { by: FaultSource::Provider, why: format!("the response is {why}") },
        Some(_) | None => Ending::Finished,
    }
}

fn add_part(builder: &mut TranscriptBuilder, part: &Value) -> Result<(), ItemError> {
    let kind = string(part, "type").unwrap_or(if part.get("role").is_some() { "message" } else { "" });
    let id = string(part, "call_id").or_else(|| string(part, "id"));
    match kind {
        "message" => match string(part, "role") {
            Some("assistant") => builder.agent_said(AGENT, content_text(part.get("content"))),
            Some("user") => builder.user_said(content_text(part.get("content"))),
            Some("system" | "developer") => {}
            Some(_) | None => return Err("a message has no known role".into()),
        },
        "function_call" | "custom_tool_call" | "mcp_call" => {
            let name = string(part, "name").ok_or("a call has no name")?;
            builder.called(AGENT, id, name, arguments(part.get("arguments").or_else(|| part.get("input"))));
            // Calls that the provider carries out have their answer in the same part.
            if kind == "mcp_call"
                && let Some(answer) = mcp_answer(part)
            {
                builder.answered(id, None, answer);
            }
        }
        "function_call_output" | "custom_tool_call_output" => {
            let answer = ToolAnswer::Result(result_value(content_text(part.get("output")).text));
            builder.answered(id, None, answer);
        }
        "" => return Err("a part has no type".into()),
        other => builder.leave_out(&format!("part of type {other}")),
    }
    Ok(())
}

fn mcp_answer(part: &Value) -> Option<ToolAnswer> {
    match part.get("error").filter(|error| !error.is_null()) {
        Some(error) => {
            Some(ToolAnswer::Error { code: "error".into(), message: error.as_str().map_or_else(|| error.to_string(), str::to_owned) })
        }
        None => string(part, "output").map(|text| ToolAnswer::Result(result_value(text.to_owned()))),
    }
}
