//! Provider faults, with their retry and billing rules.

use crate::budget::BudgetExhausted;
use crate::ledger::{LedgerFault, ReservationFault};
use std::fmt;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderFault {
    pub kind: FaultKind,
    /// Details. API keys in server messages are scrubbed first.
    pub why: String,
    /// Retry delay that the vendor requested.
    pub wait: Option<Duration>,
    pub request_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// Status 429.
    RateLimited,
    /// Status 503 or 529.
    Overloaded,
    /// Status 408 or another 5xx.
    Server,
    /// Connection failed.
    Unreachable,
    /// No complete reply within the time limit.
    TooSlow,
    /// Connection or stream ended before the reply was complete.
    Dropped,
    /// Reply that does not match the wire format.
    Garbled,
    TooLarge,
    /// Status 4xx; a retry would give the same result.
    Rejected,
    Redirected,
    /// Too many tools or colliding tool names; not sent.
    Unfit,
    /// Budget of the run cannot cover the call.
    Unfunded,
    /// No recording of this request.
    NotRecorded,
    /// Ledger or storage of the harness failed.
    Harness,
}

impl FaultKind {
    /// All kinds, for exhaustive tests.
    pub const ALL: &'static [FaultKind] = &[
        FaultKind::RateLimited,
        FaultKind::Overloaded,
        FaultKind::Server,
        FaultKind::Unreachable,
        FaultKind::TooSlow,
        FaultKind::Dropped,
        FaultKind::Garbled,
        FaultKind::TooLarge,
        FaultKind::Rejected,
        FaultKind::Redirected,
        FaultKind::Unfit,
        FaultKind::Unfunded,
        FaultKind::NotRecorded,
        FaultKind::Harness,
    ];

    /// Reports whether a retry may succeed.
    pub fn is_transient(self) -> bool {
        match self {
            FaultKind::RateLimited
            | FaultKind::Overloaded
            | FaultKind::Server
            | FaultKind::Unreachable
            | FaultKind::TooSlow
            | FaultKind::Dropped
            | FaultKind::Garbled => true,
            FaultKind::TooLarge
            | FaultKind::Rejected
            | FaultKind::Redirected
            | FaultKind::Unfit
            | FaultKind::Unfunded
            | FaultKind::NotRecorded
            | FaultKind::Harness => false,
        }
    }

    /// Reports whether the vendor takes fewer calls than it is sent.
    pub fn is_throttling(self) -> bool {
        matches!(self, FaultKind::RateLimited | FaultKind::Overloaded)
    }

    /// Reports whether the vendor may bill the failed attempt; it is then charged its ceiling.
    pub fn may_be_billed(self) -> bool {
        match self {
            // An error of the server, or of a proxy before it, can come after the model has answered.
            FaultKind::TooSlow | FaultKind::Dropped | FaultKind::Garbled | FaultKind::TooLarge | FaultKind::Server => true,
            // Refusals of a request that was not worked on.
            FaultKind::RateLimited
            | FaultKind::Overloaded
            | FaultKind::Unreachable
            | FaultKind::Rejected
            | FaultKind::Redirected
            | FaultKind::Unfit
            | FaultKind::Unfunded
            | FaultKind::NotRecorded
            | FaultKind::Harness => false,
        }
    }

    fn description(self) -> &'static str {
        match self {
            FaultKind::RateLimited => "rate limited by the vendor",
            FaultKind::Overloaded => "the vendor is overloaded",
            FaultKind::Server => "the vendor's server failed",
            FaultKind::Unreachable => "cannot connect to the vendor",
            FaultKind::TooSlow => "the reply timed out",
            FaultKind::Dropped => "the connection broke",
            FaultKind::Garbled => "the reply cannot be read",
            FaultKind::TooLarge => "the reply is too large",
            FaultKind::Rejected => "the vendor rejected the request",
            FaultKind::Redirected => "the vendor sent a redirect, which is not followed",
            FaultKind::Unfit => "the vendor does not support this request",
            FaultKind::Unfunded => "not funded",
            FaultKind::NotRecorded => "not recorded",
            FaultKind::Harness => "the harness storage failed",
        }
    }
}

impl ProviderFault {
    pub fn new(kind: FaultKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into(), wait: None, request_id: None }
    }

    pub(crate) fn garbled(why: impl Into<String>) -> Self {
        Self::new(FaultKind::Garbled, why)
    }

    pub(crate) fn dropped(why: impl Into<String>) -> Self {
        Self::new(FaultKind::Dropped, why)
    }

    /// Fault for stored data that cannot be read.
    pub(crate) fn storage(why: impl Into<String>) -> Self {
        Self::new(FaultKind::Harness, why)
    }
}

impl fmt::Display for ProviderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.description())?;
        if !self.why.is_empty() {
            write!(f, ": {}", self.why)?;
        }
        match &self.request_id {
            Some(id) => write!(f, " (request {id})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ProviderFault {}

impl From<LedgerFault> for ProviderFault {
    fn from(fault: LedgerFault) -> Self {
        Self::new(FaultKind::Harness, fault.to_string())
    }
}

impl From<ReservationFault> for ProviderFault {
    fn from(fault: ReservationFault) -> Self {
        match fault {
            ReservationFault::Ledger(fault) => fault.into(),
            ReservationFault::Unfunded(exhausted) => exhausted.into(),
        }
    }
}

impl From<BudgetExhausted> for ProviderFault {
    fn from(exhausted: BudgetExhausted) -> Self {
        Self::new(FaultKind::Unfunded, exhausted.to_string())
    }
}
