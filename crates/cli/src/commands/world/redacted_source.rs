//! Answers of a server that was given variables of the user.

use ::run::SecretRedactor;
use async_trait::async_trait;
use model::UserError;
use serde_json::{Map, Value};
use world::mcp::source::{SourceError, ToolSource};

/// Replaces the values of variables in everything that a server answers, before it is recorded or read by an agent.
#[derive(Debug)]
pub(super) struct RedactedSource<S> {
    inner: S,
    secrets: SecretRedactor,
}

impl<S> RedactedSource<S> {
    pub(super) fn new(inner: S, secrets: SecretRedactor) -> Self {
        Self { inner, secrets }
    }

    fn redact(&self, text: &mut String) {
        *text = self.secrets.redact(text).into_owned();
    }
}

#[async_trait]
impl<S: ToolSource> ToolSource for RedactedSource<S> {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        match self.inner.call(tool, args).await {
            Ok(mut answer) => {
                self.secrets.redact_value(&mut answer);
                Ok(answer)
            }
            Err(SourceError::Failed { tool, mut message }) => {
                self.redact(&mut message);
                Err(SourceError::Failed { tool, message })
            }
            Err(SourceError::Server(mut error)) => {
                self.redact(&mut error.stray);
                self.redact(&mut error.stderr);
                Err(SourceError::Server(error))
            }
            // Texts of the harness, which has no values.
            Err(other) => Err(other),
        }
    }
}

/// Replaces the values of variables in the message of a server that could not be opened.
pub(super) fn redact_error(secrets: &SecretRedactor, error: UserError) -> UserError {
    UserError { what: secrets.redact(&error.what).into_owned(), remedy: secrets.redact(&error.remedy).into_owned(), ..error }
}
