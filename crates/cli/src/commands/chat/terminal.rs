//! User that reads turns from standard input, one per line.

use ::run::user::{User, UserFault, UserInput, UserReply};
use async_trait::async_trait;
use std::io::{IsTerminal, Write};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Stdin};

pub(super) struct TerminalUser {
    input: BufReader<Stdin>,
    prompts: bool,
}

/// Longest turn.
const MAX_TURN_BYTES: u64 = 64 * 1024;

impl TerminalUser {
    pub(super) fn new(prompts: bool) -> Self {
        let prompts = prompts && std::io::stdin().is_terminal();
        Self { input: BufReader::new(tokio::io::stdin()), prompts }
    }
}

#[async_trait]
impl User for TerminalUser {
    async fn respond(&mut self, _: UserInput<'_>) -> Result<UserReply, UserFault> {
        if self.prompts {
            let mut stderr = std::io::stderr().lock();
            drop(write!(stderr, "> ").and_then(|()| stderr.flush()));
        }
        let mut line = vec![];
        let read = (&mut self.input).take(MAX_TURN_BYTES).read_until(b'\n', &mut line).await;
        read.map_err(|error| UserFault::Simulator(format!("cannot read standard input: {error}")))?;
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        Ok(if text.is_empty() { UserReply::Leaves } else { UserReply::plain(text) })
    }
}
