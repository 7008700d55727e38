//! What happened in a trial, as numbered events: the only evidence there is.

mod action;
mod claimed;
mod decision;
mod effect;
mod ending;
mod event;
mod moves;
mod tool_error_code;
mod trust_claims;
mod written;

pub use action::{Addressed, Origin, Prepared, Provenance, Trade};
pub use claimed::Claimed;
pub use decision::Decision;
pub use effect::{Decoded, DecodedLog, Effect, InnerCall, Mined, Party, Side, Signed, TxOutcome, Via};
pub use ending::{Culprit, Ending, Limit};
pub use event::{Event, Grade, Happened, ToolAnswer};
pub use moves::{Move, ToolCall};
pub use tool_error_code::ToolErrorCode;
pub use written::Written;

use crate::hash::Hash;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transcript {
    pub trial: Hash,
    pub case: String,
    pub subject: String,
    pub events: Vec<Event>,
    pub ending: Ending,
}

#[cfg(test)]
mod tests;
