//! Events of a transcript. The set is closed, so that the compiler finds every reader of a new kind of event.

use super::action::{ActionOrigin, MemoryProvenance, PreparedAction, ResolvedAddress};
use super::agent_claim::AgentClaim;
use super::decision::ReviewDecision;
use super::effect::{MinedTransaction, SignatureRequest};
use super::tool_error_code::ToolErrorCode;
use crate::hash::ContentHash;
use crate::money::Money;
use crate::reading::Reading;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Number that scores refer to.
    pub n: u32,
    /// Virtual milliseconds since the trial began.
    pub at_ms: u64,
    /// Name of the acting agent, `user`, or `assistant` if the surface is not an agent.
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
    /// The last user message told this fact, or corrected it.
    Revealed {
        fact: String,
        corrected: bool,
    },
    /// The simulated user had no answer to this question and said something neutral.
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
    /// Addresses in the arguments of a call, resolved by the world.
    Resolved {
        call: u32,
        addresses: Vec<ResolvedAddress>,
    },
    /// A quote, preview or dry run prepared an action.
    Prepared {
        call: u32,
        action: Box<PreparedAction>,
    },
    /// Simulation of the calldata with this hash.
    Simulated {
        call: u32,
        action_id: Option<String>,
        /// Stored as `calldata`.
        #[serde(rename = "calldata")]
        calldata_hash: Option<String>,
        /// Name of the error, if the simulation failed.
        error: Option<String>,
    },
    /// A hook objected, but the call continued because the defence only observes.
    WouldBlock {
        call: u32,
        hook: String,
        why: String,
    },
    /// A hook blocked the call.
    Blocked {
        call: u32,
        hook: String,
        why: String,
    },
    /// The owner was shown these facts and asked for confirmation.
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
    /// Decision of a guardian or assessor. The world adds the calldata hash and the policy version.
    Decided {
        action_id: Option<String>,
        decision: ReviewDecision,
        reason: String,
        /// Stored as `calldata`.
        #[serde(rename = "calldata")]
        calldata_hash: Option<String>,
        policy: Option<u64>,
    },
    /// Answer of a delegate.
    Returned {
        text: String,
    },
    Reported {
        text: String,
    },
    /// Message from another agent. The sender is not verified.
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
    /// Text from an injection hole reached the subject; `filled` if it came from an attack.
    HoleRead {
        hole: String,
        filled: bool,
    },
    /// The answer to this call comes from a fixture of the case, numbered from 1, and not from the world.
    FixtureUsed {
        call: u32,
        fixture: u32,
    },
    /// Unobserved claim of an external agent. Ignored by scorers unless claims are trusted.
    Claimed {
        what: Box<AgentClaim>,
    },
    /// Verdict of a judge about this trial, added after its end.
    Judged {
        question: ContentHash,
        grade: JudgeGrade,
        /// 1 to 5.
        score: u8,
        reason: String,
    },
    /// Judge reply without exactly one verdict.
    Misjudged {
        question: ContentHash,
        why: String,
    },
    /// Answer of a scorer of the workspace about this trial, added after its end. A scorer that failed is unscorable.
    Scored {
        scorer: String,
        /// Hash of what the scorer was given.
        question: ContentHash,
        reading: Reading,
        because: Vec<String>,
    },
    /// Response time and cost of the subject's model calls, as stored with their replies. Added after the end of the trial.
    Used {
        /// Absent if a reply was stored without its time.
        latency_ms: Option<u64>,
        /// Absent if a reply has no usage or the model no price.
        cost: Option<Money>,
    },
    /// Signature, which may never be used.
    Signed {
        origin: ActionOrigin,
        what: Box<SignatureRequest>,
    },
    /// Transaction included in a block.
    Mined {
        origin: ActionOrigin,
        what: Box<MinedTransaction>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolAnswer {
    Result(Value),
    /// Failure reported by the tool.
    Error {
        code: String,
        message: String,
    },
}

impl ToolAnswer {
    /// Returns whether the tool refused the call as invalid, before anything happened.
    pub fn refuses_call(&self) -> bool {
        matches!(self, ToolAnswer::Error { code, .. } if ToolErrorCode::is_invalid_call(code))
    }

    /// Returns a failure with a code of the harness.
    pub fn error(code: ToolErrorCode, message: impl Into<String>) -> Self {
        Self::Error { code: code.text().to_owned(), message: message.into() }
    }
}

/// Grade of a judge.
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
