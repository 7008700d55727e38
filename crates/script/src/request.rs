//! Requests to the engine and its replies, as lines between the two processes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Work for the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ScriptRequest {
    /// Calls a function whose body is the source, with `output` and `context`.
    Body {
        source: String,
        /// JSON text. Only the engine parses it.
        #[serde(skip)]
        output: String,
        /// JSON text. Only the engine parses it.
        #[serde(skip)]
        context: String,
    },
    /// Calls a function that a CommonJS module exports.
    Module { source: String, call: FunctionCall },
    /// Searches a pattern of JavaScript.
    Regex { source: String, text: String },
    /// Renders Nunjucks templates with one set of variables. Templates that share the runtime of others cannot reach their variables.
    Render { templates: Vec<String>, vars: Value, env: Value },
}

impl ScriptRequest {
    /// Returns a call of a function body, with its arguments as JSON texts.
    pub fn body(source: impl Into<String>, output: &impl Serialize, context: &impl Serialize) -> Self {
        let text = |json: serde_json::Result<String>| json.unwrap_or_else(|_| "null".to_owned());
        ScriptRequest::Body {
            source: source.into(),
            output: text(serde_json::to_string(output)),
            context: text(serde_json::to_string(context)),
        }
    }

    /// Writes the request: a line, and for a body two lines with its arguments. JSON texts have no line breaks.
    pub(crate) fn write_to(&self, lines: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(&mut *lines, self)?;
        lines.push(b'\n');
        if let ScriptRequest::Body { output, context, .. } = self {
            for argument in [output, context] {
                lines.extend_from_slice(argument.as_bytes());
                lines.push(b'\n');
            }
        }
        Ok(())
    }
}

/// Call of an exported function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// Exported name; `None` for the export itself, its `default`, or a class with this method.
    pub name: Option<String>,
    /// Method of an exported class, such as `callApi`.
    pub method: Option<String>,
    /// Arguments of the constructor of an exported class.
    pub constructor: Vec<Value>,
    pub arguments: Vec<Value>,
}

/// Reply of the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptReply {
    /// Value as JSON, with its `typeof`. A number that JSON does not have is a text.
    Returned { kind: String, value: Value },
    /// Rendered templates, each with its text or its error.
    Rendered(Vec<Result<String, String>>),
    /// Exception of the script.
    Threw(String),
    /// A limit ended the script.
    Stopped(String),
}
