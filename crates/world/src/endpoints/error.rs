//! Errors of opening the endpoints of a trial.

use std::io;

use super::trial_token::TokenError;
use crate::mcp::McpError;

#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("no port on 127.0.0.1 could be opened: {0}")]
    NoPort(#[from] io::Error),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    Tools(#[from] McpError),
    #[error("a trial's id has 1 to 128 letters, digits, - or _, not \"{0}\"")]
    BadId(String),
    #[error("there is already a trial {0} on this port")]
    RepeatedId(String),
    #[error("this token belongs to another trial on this port")]
    RepeatedToken,
}
