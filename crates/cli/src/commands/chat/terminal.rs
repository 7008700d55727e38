//! User that reads turns from standard input, one per line. An empty line or the end of input ends the conversation.

use ::run::user::{User, UserFault, UserInput, UserReply};
use async_trait::async_trait;
use std::io::{IsTerminal, Write};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Stdin};

pub(super) struct TerminalUser {
    input: BufReader<Stdin>,
    show_prompt: bool,
}

/// Maximum length of a turn; the rest of a longer line becomes the next turn.
const MAX_TURN_BYTES: u64 = 64 * 1024;

impl TerminalUser {
    pub(super) fn new(show_prompt: bool) -> Self {
        let show_prompt = show_prompt && std::io::stdin().is_terminal();
        Self { input: BufReader::new(tokio::io::stdin()), show_prompt }
    }
}

#[async_trait]
impl User for TerminalUser {
    async fn respond(&mut self, _: UserInput<'_>) -> Result<UserReply, UserFault> {
        if self.show_prompt {
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
