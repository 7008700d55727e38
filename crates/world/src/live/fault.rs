//! What a tool answers when it cannot do what was asked: a code of the documented families and a sentence.

use crate::chain::ChainError;
use model::transcript::ToolAnswer;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub code: &'static str,
    pub message: String,
}

impl Fault {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: bounded(message.into()) }
    }

    pub(crate) fn answer(self) -> ToolAnswer {
        ToolAnswer::Error { code: self.code.to_owned(), message: self.message }
    }
}

impl From<ChainError> for Fault {
    fn from(error: ChainError) -> Self {
        match error {
            ChainError::Refused(why) => Fault::new("EXECUTION_TX_REFUSED", why),
            ChainError::Unsupported(why) => Fault::new("VALIDATION_CHAIN_NOT_SUPPORTED", why),
            ChainError::Node(why) => Fault::new("DATA_RPC_ERROR", why),
        }
    }
}

/// Arguments are quoted in messages, and arguments may be anything.
const LONGEST: usize = 400;

fn bounded(text: String) -> String {
    if text.chars().count() <= LONGEST { text } else { text.chars().take(LONGEST).chain(['…']).collect() }
}

/// A value as a message may show it.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
    if short.chars().count() < text.chars().count() { format!("\"{short}…\"") } else { format!("\"{short}\"") }
}
