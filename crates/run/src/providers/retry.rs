//! Retries transient faults, after the vendor's retry delay or with exponential backoff and jitter.

use super::Provider;
use super::chat::{ModelCall, ModelReply};
use super::fault::{FaultKind, ProviderFault};
use super::tool_names::VendorLimits;
use async_trait::async_trait;
use model::ContentHash;
use std::time::Duration;
use tokio::time::sleep;

#[derive(Debug)]
pub(super) struct RetryingProvider<P> {
    pub(super) inner: P,
    pub(super) policy: RetryPolicy,
}

/// Number of attempts and pauses between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Total attempts, including the first.
    pub attempts: u32,
    pub first_pause: Duration,
    pub longest_pause: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 5, first_pause: Duration::from_millis(500), longest_pause: Duration::from_secs(60) }
    }
}

/// Attempts of one call that may time out. Each takes the whole time limit and may be billed, so a vendor that hangs is not asked five times.
const MAX_TIMEOUTS: u32 = 2;

#[async_trait]
impl<P: Provider> Provider for RetryingProvider<P> {
    fn vendor_limits(&self) -> VendorLimits {
        self.inner.vendor_limits()
    }

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault> {
        let (mut attempt, mut timeouts) = (0, 0);
        loop {
            let fault = match self.inner.ask(ask).await {
                Ok(reply) => return Ok(reply),
                Err(fault) => fault,
            };
            attempt += 1;
            timeouts += u32::from(fault.kind == FaultKind::TooSlow);
            if timeouts >= MAX_TIMEOUTS {
                return Err(fault);
            }
            match self.policy.delay(ask, attempt, &fault) {
                Some(pause) => sleep(pause).await,
                None => return Err(fault),
            }
        }
    }
}

impl RetryPolicy {
    /// Returns the pause before the next attempt. `None` if attempts are used up, the fault is permanent or the vendor's delay is too long.
    fn delay(&self, ask: &ModelCall, attempt: u32, fault: &ProviderFault) -> Option<Duration> {
        if attempt >= self.attempts || !fault.kind.is_transient() {
            return None;
        }
        match fault.wait {
            Some(wait) if wait > self.longest_pause => None,
            // Add jitter so that requests do not return all at once.
            Some(wait) => Some(wait + self.first_pause.mul_f64(0.5 * jitter(ask, attempt))),
            None => {
                let grown = self.first_pause.saturating_mul(2u32.saturating_pow(attempt - 1)).min(self.longest_pause);
                Some(grown.mul_f64(0.5 + 0.5 * jitter(ask, attempt)))
            }
        }
    }
}

/// Returns a value from 0 to 1 derived from the trial's seed, so that runs are reproducible.
fn jitter(ask: &ModelCall, attempt: u32) -> f64 {
    let hash = ContentHash::of_text(&format!("{} {} {attempt}", ask.seed(), ask.call));
    let head = u32::from_str_radix(&hash.as_str()[..8], 16).unwrap_or_default();
    f64::from(head) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::fixtures;
    use std::sync::atomic::{AtomicU32, Ordering};

    const POLICY: RetryPolicy =
        RetryPolicy { attempts: 4, first_pause: Duration::from_millis(100), longest_pause: Duration::from_secs(10) };

    fn fault(kind: FaultKind, wait: Option<u64>) -> ProviderFault {
        ProviderFault { wait: wait.map(Duration::from_secs), ..ProviderFault::new(kind, "") }
    }

    #[test]
    fn retry_delay_grows_with_deterministic_jitter() {
        let ask = fixtures::model_call("hello");
        for attempt in 1..4 {
            let pause = POLICY.delay(&ask, attempt, &fault(FaultKind::Server, None)).unwrap();
            let most = Duration::from_millis(100 << (attempt - 1));
            assert!(pause >= most / 2 && pause <= most, "{pause:?}");
            assert_eq!(POLICY.delay(&ask, attempt, &fault(FaultKind::Server, None)), Some(pause));
        }
        assert_eq!(POLICY.delay(&ask, 4, &fault(FaultKind::Server, None)), None);
        let other = ModelCall::new(ask.call.clone(), 99, ask.request().clone());
        assert_ne!(POLICY.delay(&ask, 1, &fault(FaultKind::Server, None)), POLICY.delay(&other, 1, &fault(FaultKind::Server, None)));
    }

    #[test]
    fn retry_delay_honours_retry_after_up_to_the_maximum() {
        let ask = fixtures::model_call("hello");
        let pause = POLICY.delay(&ask, 1, &fault(FaultKind::RateLimited, Some(3))).unwrap();
        assert!(pause >= Duration::from_secs(3) && pause < Duration::from_secs(4), "{pause:?}");
        assert_eq!(POLICY.delay(&ask, 1, &fault(FaultKind::RateLimited, Some(11))), None);
    }

    #[test]
    fn only_transient_faults_are_retried() {
        let ask = fixtures::model_call("hello");
        for kind in FaultKind::ALL {
            assert_eq!(POLICY.delay(&ask, 1, &fault(*kind, None)).is_some(), kind.is_transient(), "{kind:?}");
        }
    }

    /// Fails with these kinds in turn.
    struct FailingProvider {
        kinds: &'static [FaultKind],
        asked: AtomicU32,
    }

    #[async_trait]
    impl Provider for FailingProvider {
        fn vendor_limits(&self) -> VendorLimits {
            VendorLimits { max_tools: None, max_name_len: 64 }
        }

        async fn ask(&self, _: &ModelCall) -> Result<ModelReply, ProviderFault> {
            let n = self.asked.fetch_add(1, Ordering::Relaxed) as usize;
            Err(ProviderFault::new(self.kinds[n % self.kinds.len()], ""))
        }
    }

    #[tokio::test]
    async fn a_call_that_times_out_is_retried_once() {
        for (kinds, expected) in [
            (&[FaultKind::TooSlow][..], 2),
            (&[FaultKind::Server], 4),
            (&[FaultKind::Server, FaultKind::TooSlow, FaultKind::TooSlow], 3),
            (&[FaultKind::TooSlow, FaultKind::Rejected], 2),
        ] {
            let inner = FailingProvider { kinds, asked: AtomicU32::new(0) };
            let policy = RetryPolicy { first_pause: Duration::from_millis(1), ..POLICY };
            let retrying = RetryingProvider { inner, policy };
            assert!(retrying.ask(&fixtures::model_call("hello")).await.is_err());
            assert_eq!(retrying.inner.asked.load(Ordering::Relaxed), expected, "{kinds:?}");
        }
    }
}
