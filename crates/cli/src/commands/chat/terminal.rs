//! The user at the terminal, or whatever is piped in: one line is one turn.

use ::run::user::{Reply, Told, User, UserFault};
use async_trait::async_trait;
use std::io::{IsTerminal, Write};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Stdin};

pub(super) struct Terminal {
    input: BufReader<Stdin>,
    prompts: bool,
}

/// A turn longer than this is no turn.
const LONGEST: u64 = 64 * 1024;

impl Terminal {
    pub(super) fn new(prompts: bool) -> Self {
        let prompts = prompts && std::io::stdin().is_terminal();
        Self { input: BufReader::new(tokio::io::stdin()), prompts }
    }
}

#[async_trait]
impl User for Terminal {
    async fn hear(&mut self, _: Told<'_>) -> Result<Reply, UserFault> {
        if self.prompts {
            let mut talk = std::io::stderr().lock();
            drop(write!(talk, "> ").and_then(|()| talk.flush()));
        }
        let mut line = vec![];
        let read = (&mut self.input).take(LONGEST).read_until(b'\n', &mut line).await;
        read.map_err(|error| UserFault::Simulator(format!("the terminal cannot be read: {error}")))?;
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        Ok(if text.is_empty() { Reply::Leaves } else { Reply::plain(text) })
    }
}
