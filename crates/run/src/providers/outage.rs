//! Detects a vendor that does not answer any more, so that a run against it can stop early.

use super::Provider;
use super::chat::{ModelCall, ModelReply};
use super::fault::{FaultKind, ProviderFault};
use super::tool_names::VendorLimits;
use async_trait::async_trait;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Calls in a row that fail, each after all its retries, until a vendor counts as out of service.
pub const MAX_FAILED_IN_A_ROW: u32 = 10;
/// The same for calls that time out, which take long.
const MAX_TIMED_OUT_IN_A_ROW: u32 = 5;

/// Vendor out of service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VendorOutage {
    /// Subject file of the model.
    pub model: String,
    pub failed_in_a_row: u32,
    pub last_fault: String,
}

/// First outage of a run. Shared by all providers of the run.
#[derive(Debug)]
pub struct OutageMonitor {
    first: watch::Sender<Option<VendorOutage>>,
}

impl Default for OutageMonitor {
    fn default() -> Self {
        Self { first: watch::Sender::new(None) }
    }
}

impl OutageMonitor {
    /// Returns the outage, if there is one.
    pub fn outage(&self) -> Option<VendorOutage> {
        self.first.borrow().clone()
    }

    /// Waits for an outage.
    pub async fn wait(&self) {
        // The sender lives as long as `self`, so the wait only ends with an outage.
        drop(self.first.subscribe().wait_for(Option::is_some).await);
    }

    /// Declares an outage, unless there is one already.
    pub fn declare(&self, outage: VendorOutage) {
        self.first.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert(outage);
            is_first
        });
    }
}

/// Counts the calls of one model that fail in a row.
#[derive(Debug)]
pub(super) struct MonitoredProvider<P> {
    inner: P,
    model: String,
    monitor: Arc<OutageMonitor>,
    state: Mutex<AnswerState>,
}

#[derive(Debug, Default)]
struct AnswerState {
    has_answered: bool,
    failed_in_a_row: u32,
    /// Calls among them that timed out.
    timed_out: u32,
}

impl<P> MonitoredProvider<P> {
    pub(super) fn new(inner: P, model: String, monitor: Arc<OutageMonitor>) -> Self {
        Self { inner, model, monitor, state: Mutex::default() }
    }

    fn record_answer(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = AnswerState { has_answered: true, ..AnswerState::default() };
    }

    fn record_fault(&self, fault: &ProviderFault) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !counts_as_outage(fault.kind, state.has_answered) {
            return;
        }
        state.failed_in_a_row += 1;
        state.timed_out += u32::from(fault.kind == FaultKind::TooSlow);
        if state.failed_in_a_row >= MAX_FAILED_IN_A_ROW || state.timed_out >= MAX_TIMED_OUT_IN_A_ROW {
            let (model, failed_in_a_row, last_fault) = (self.model.clone(), state.failed_in_a_row, fault.to_string());
            self.monitor.declare(VendorOutage { model, failed_in_a_row, last_fault });
        }
    }
}

/// Reports whether a fault may mean that the vendor is out of service. One that has answered before and rejects a request dislikes the
/// request; one that has never answered rejects the key, the model or everything.
fn counts_as_outage(kind: FaultKind, has_answered: bool) -> bool {
    kind.is_transient() || (!has_answered && matches!(kind, FaultKind::Rejected | FaultKind::Redirected))
}

#[async_trait]
impl<P: Provider> Provider for MonitoredProvider<P> {
    fn vendor_limits(&self) -> VendorLimits {
        self.inner.vendor_limits()
    }

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault> {
        let answer = self.inner.ask(ask).await;
        match &answer {
            Ok(_) => self.record_answer(),
            Err(fault) => self.record_fault(fault),
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider() -> MonitoredProvider<()> {
        MonitoredProvider::new((), "model".into(), Arc::default())
    }

    fn fail(provider: &MonitoredProvider<()>, kind: FaultKind, times: u32) {
        for _ in 0..times {
            provider.record_fault(&ProviderFault::new(kind, "no"));
        }
    }

    #[test]
    fn outage_needs_failures_in_a_row() {
        let provider = provider();
        fail(&provider, FaultKind::Unreachable, MAX_FAILED_IN_A_ROW - 1);
        provider.record_answer();
        fail(&provider, FaultKind::Server, MAX_FAILED_IN_A_ROW - 1);
        assert_eq!(provider.monitor.outage(), None);
        fail(&provider, FaultKind::RateLimited, 1);
        let outage = provider.monitor.outage().unwrap();
        assert_eq!((outage.model.as_str(), outage.failed_in_a_row), ("model", MAX_FAILED_IN_A_ROW));
        assert_eq!(outage.last_fault, "rate limited by the vendor: no");
        fail(&provider, FaultKind::Server, 1);
        assert_eq!(provider.monitor.outage(), Some(outage), "the first outage is kept");
    }

    #[test]
    fn rejections_count_until_the_first_answer() {
        let fresh = provider();
        fail(&fresh, FaultKind::Rejected, MAX_FAILED_IN_A_ROW);
        assert!(fresh.monitor.outage().is_some());
        let answered = provider();
        answered.record_answer();
        fail(&answered, FaultKind::Rejected, 3 * MAX_FAILED_IN_A_ROW);
        fail(&answered, FaultKind::Unfunded, 3 * MAX_FAILED_IN_A_ROW);
        fail(&answered, FaultKind::Harness, 3 * MAX_FAILED_IN_A_ROW);
        assert_eq!(answered.monitor.outage(), None);
    }

    #[tokio::test]
    async fn waiting_ends_with_the_outage() {
        let provider = provider();
        let monitor = provider.monitor.clone();
        let waiting = tokio::spawn(async move { monitor.wait().await });
        fail(&provider, FaultKind::TooSlow, MAX_TIMED_OUT_IN_A_ROW - 1);
        assert_eq!(provider.monitor.outage(), None);
        fail(&provider, FaultKind::TooSlow, 1);
        waiting.await.unwrap();
        provider.monitor.wait().await;
    }
}
