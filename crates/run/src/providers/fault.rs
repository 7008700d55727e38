//! Why no reply came: what may be tried again, and what may have been billed all the same.

use crate::budget::BudgetExhausted;
use crate::ledger::LedgerFault;
use std::fmt;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderFault {
    pub kind: FaultKind,
    /// Never holds a key: whatever a server said is scrubbed before it gets here.
    pub why: String,
    /// How long the vendor asks us to wait.
    pub wait: Option<Duration>,
    pub request_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// 429.
    RateLimited,
    /// 503 and 529.
    Overloaded,
    /// Any other 5xx.
    Server,
    /// Nobody took the connection.
    Unreachable,
    /// The reply did not come in time.
    TooSlow,
    /// The connection broke, or the stream ended before the reply did.
    Dropped,
    /// A reply that is not what this wire format says.
    Garbled,
    TooLarge,
    /// 4xx: asking again would bring the same.
    Rejected,
    Redirected,
    /// More tools than the vendor takes, or names it cannot be told apart by: never sent.
    Unfit,
    /// The run's budget, not the vendor.
    Unfunded,
    /// There is no recording of this request.
    NotRecorded,
    /// Our own books failed.
    Harness,
}

impl FaultKind {
    /// Every kind, so that tables can be complete.
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

    /// Whether the same request may succeed later.
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

    /// Whether the vendor may have worked, and so may bill, although we got nothing: then the attempt counts at its ceiling.
    pub fn may_be_billed(self) -> bool {
        match self {
            FaultKind::TooSlow | FaultKind::Dropped | FaultKind::Garbled | FaultKind::TooLarge => true,
            FaultKind::RateLimited
            | FaultKind::Overloaded
            | FaultKind::Server
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
            FaultKind::RateLimited => "the vendor asks for fewer requests",
            FaultKind::Overloaded => "the vendor is overloaded",
            FaultKind::Server => "the vendor's server failed",
            FaultKind::Unreachable => "nobody answers at the address",
            FaultKind::TooSlow => "the reply took too long",
            FaultKind::Dropped => "the connection broke",
            FaultKind::Garbled => "the reply cannot be read",
            FaultKind::TooLarge => "the reply is too large",
            FaultKind::Rejected => "the vendor rejects the request",
            FaultKind::Redirected => "the vendor sends us elsewhere, which is not followed",
            FaultKind::Unfit => "the vendor cannot take this request",
            FaultKind::Unfunded => "not funded",
            FaultKind::NotRecorded => "not recorded",
            FaultKind::Harness => "our books failed",
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

    /// Something we kept cannot be read back.
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

impl From<BudgetExhausted> for ProviderFault {
    fn from(exhausted: BudgetExhausted) -> Self {
        Self::new(FaultKind::Unfunded, exhausted.to_string())
    }
}
