//! Errors when opening the endpoints of a trial.

use std::io;

use super::trial_token::TokenError;
use crate::mcp::McpError;

#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("cannot open a port on 127.0.0.1: {0}")]
    NoPort(#[from] io::Error),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    Tools(#[from] McpError),
    #[error("invalid trial id \"{0}\": use 1 to 128 letters, digits, - or _")]
    BadId(String),
    #[error("trial {0} already exists on this port")]
    RepeatedId(String),
    #[error("this token belongs to another trial on this port")]
    RepeatedToken,
}
