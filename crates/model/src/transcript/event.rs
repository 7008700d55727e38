//! One numbered event of a transcript. A closed set: a new kind of event must break every reader.

use super::action::{ActionOrigin, MemoryProvenance, PreparedAction, ResolvedAddress};
use super::agent_claim::AgentClaim;
use super::decision::ReviewDecision;
use super::effect::{MinedTransaction, SignatureRequest};
use super::tool_error_code::ToolErrorCode;
use crate::hash::ContentHash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Scores cite this number.
    pub n: u32,
    /// Virtual milliseconds since the trial began.
    pub at_ms: u64,
    /// Who acted: an agent's name, `user`, or `assistant` where the surface is no agent.
    pub by: String,
    /// Delegation hops from the root.
    pub depth: u32,
    pub happened: EventKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EventKind {
    UserSaid {
        text: String,
    },
    /// What the simulated user just said told this fact, for the first time or otherwise than before.
    Revealed {
        fact: String,
        corrected: bool,
    },
    /// The simulated user had no answer to this and said something neutral.
    Unmatched {
        question: String,
    },
    Said {
        text: String,
    },
    Asked {
        text: String,
    },
    Refused {
        text: String,
    },
    Activated {
        skill: String,
        params: Map<String, Value>,
    },
    Called {
        call: u32,
        tool: String,
        args: Value,
    },
    /// What the world knows about the addresses a call names.
    Resolved {
        call: u32,
        addresses: Vec<ResolvedAddress>,
    },
    /// An action was frozen under an id: by a quote, a preview or a dry run.
    Prepared {
        call: u32,
        action: Box<PreparedAction>,
    },
    /// A simulation, bound to the exact calldata it ran.
    Simulated {
        call: u32,
        action_id: Option<String>,
        /// Stored as `calldata`.
        #[serde(rename = "calldata")]
        calldata_hash: Option<String>,
        /// The name of the error where it failed.
        error: Option<String>,
    },
    /// A hook objected; the defence only observes, so the call went on.
    WouldBlock {
        call: u32,
        hook: String,
        why: String,
    },
    /// A hook objected, and the call was stopped.
    Blocked {
        call: u32,
        hook: String,
        why: String,
    },
    /// The owner was shown these facts and asked.
    Confirmed {
        call: u32,
        facts: Map<String, Value>,
        granted: bool,
    },
    Answered {
        call: u32,
        answer: ToolAnswer,
    },
    Delegated {
        to: String,
        params: Map<String, Value>,
    },
    /// A guardian or assessor decided about an action. The world adds what exactly was decided about.
    Decided {
        action_id: Option<String>,
        decision: ReviewDecision,
        reason: String,
        /// Stored as `calldata`.
        #[serde(rename = "calldata")]
        calldata_hash: Option<String>,
        policy: Option<u64>,
    },
    /// A delegated agent handed its answer back.
    Returned {
        text: String,
    },
    Reported {
        text: String,
    },
    /// A message of another agent arrived. Who sent it is what it claims.
    Messaged {
        from: String,
        to: String,
        nonce: u64,
        text: String,
    },
    Remembered {
        key: String,
        value: Value,
        provenance: MemoryProvenance,
    },
    Recalled {
        key: String,
        provenance: MemoryProvenance,
    },
    /// Text from a named hole reached the subject; `filled` where an attack had written into it.
    HoleRead {
        hole: String,
        filled: bool,
    },
    /// A finished agent says that it did this; nobody saw it. Counts for nothing unless claims are trusted.
    Claimed {
        what: Box<AgentClaim>,
    },
    /// A judge answered a question about this very trial, after its end.
    Judged {
        question: ContentHash,
        grade: JudgeGrade,
        /// 1 to 5.
        score: u8,
        reason: String,
    },
    /// A judge was asked, and nothing came that is plainly one verdict.
    Misjudged {
        question: ContentHash,
        why: String,
    },
    /// A signature was asked for; it may never be used.
    Signed {
        origin: ActionOrigin,
        what: Box<SignatureRequest>,
    },
    /// A transaction stood in a block.
    Mined {
        origin: ActionOrigin,
        what: Box<MinedTransaction>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolAnswer {
    Result(Value),
    /// The tool's own failure, with a typed code.
    Error {
        code: String,
        message: String,
    },
}

impl ToolAnswer {
    /// Returns a failure with one of the codes the harness itself gives.
    pub fn error(code: ToolErrorCode, message: impl Into<String>) -> Self {
        Self::Error { code: code.text().to_owned(), message: message.into() }
    }
}

/// What a judge thinks of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeGrade {
    Pass,
    Fail,
}

impl JudgeGrade {
    pub fn word(self) -> &'static str {
        match self {
            JudgeGrade::Pass => "pass",
            JudgeGrade::Fail => "fail",
        }
    }
}
