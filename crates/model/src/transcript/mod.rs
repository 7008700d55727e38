//! Transcript of a trial: numbered events, on which all scores are based.

mod action;
mod agent_claim;
mod decision;
mod effect;
mod ending;
mod event;
mod moves;
mod serialized;
mod tool_error_code;
mod trust_claims;

pub use action::{ActionOrigin, MemoryProvenance, PreparedAction, ResolvedAddress, TradeTerms};
pub use agent_claim::AgentClaim;
pub use decision::ReviewDecision;
pub use effect::{
    AddressInfo, AllowanceKind, DecodedItem, DecodedLog, Effect, InnerCall, MinedTransaction, PositionSide, SignatureRequest, TxOutcome,
};
pub use ending::{Ending, FaultSource, LimitKind};
pub use event::{Event, EventKind, JudgeGrade, ToolAnswer};
pub use moves::{Move, ToolCall};
pub use serialized::SerializedTranscript;
pub use tool_error_code::ToolErrorCode;

use crate::hash::ContentHash;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transcript {
    pub trial: ContentHash,
    pub case: String,
    pub subject: String,
    pub events: Vec<Event>,
    pub ending: Ending,
}

#[cfg(test)]
mod tests;
