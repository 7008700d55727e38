//! Asks again when that may help: after what the vendor wants us to wait, else after a growing, scattered pause.

use super::Provider;
use super::fault::ProviderFault;
use super::names::Accepts;
use super::talk::{Ask, Reply};
use async_trait::async_trait;
use model::Hash;
use std::time::Duration;
use tokio::time::sleep;

#[derive(Debug)]
pub(super) struct Retry<P> {
    pub(super) inner: P,
    pub(super) patience: Patience,
}

/// How often, and how long between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// The first one included.
    pub attempts: u32,
    pub first_pause: Duration,
    pub longest_pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { attempts: 5, first_pause: Duration::from_millis(500), longest_pause: Duration::from_secs(60) }
    }
}

#[async_trait]
impl<P: Provider> Provider for Retry<P> {
    fn accepts(&self) -> Accepts {
        self.inner.accepts()
    }

    async fn ask(&self, ask: &Ask) -> Result<Reply, ProviderFault> {
        let mut attempt = 0;
        loop {
            let fault = match self.inner.ask(ask).await {
                Ok(reply) => return Ok(reply),
                Err(fault) => fault,
            };
            attempt += 1;
            match self.patience.pause(ask, attempt, &fault) {
                Some(pause) => sleep(pause).await,
                None => return Err(fault),
            }
        }
    }
}

impl Patience {
    /// `None` when it is not worth waiting: enough attempts, a fault that stays, or a wait longer than ours.
    fn pause(&self, ask: &Ask, attempt: u32, fault: &ProviderFault) -> Option<Duration> {
        if attempt >= self.attempts || !fault.kind.may_pass() {
            return None;
        }
        match fault.wait {
            Some(wait) if wait > self.longest_pause => None,
            // A little later than asked, and not all at the same moment.
            Some(wait) => Some(wait + self.first_pause.mul_f64(0.5 * scatter(ask, attempt))),
            None => {
                let grown = self.first_pause.saturating_mul(2u32.saturating_pow(attempt - 1)).min(self.longest_pause);
                Some(grown.mul_f64(0.5 + 0.5 * scatter(ask, attempt)))
            }
        }
    }
}

/// From 0 to 1, from the seed of the trial: the same run waits the same way.
fn scatter(ask: &Ask, attempt: u32) -> f64 {
    let hash = Hash::of_text(&format!("{} {} {attempt}", ask.seed(), ask.call));
    let head = u32::from_str_radix(&hash.as_str()[..8], 16).unwrap_or_default();
    f64::from(head) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::example;
    use crate::providers::fault::FaultKind;

    const PATIENCE: Patience = Patience { attempts: 4, first_pause: Duration::from_millis(100), longest_pause: Duration::from_secs(10) };

    fn fault(kind: FaultKind, wait: Option<u64>) -> ProviderFault {
        ProviderFault { wait: wait.map(Duration::from_secs), ..ProviderFault::new(kind, "") }
    }

    #[test]
    fn pauses_grow_are_scattered_and_the_same_for_the_same_trial() {
        let ask = example::ask("hello");
        for attempt in 1..4 {
            let pause = PATIENCE.pause(&ask, attempt, &fault(FaultKind::Server, None)).unwrap();
            let most = Duration::from_millis(100 << (attempt - 1));
            assert!(pause >= most / 2 && pause <= most, "{pause:?}");
            assert_eq!(PATIENCE.pause(&ask, attempt, &fault(FaultKind::Server, None)), Some(pause));
        }
        assert_eq!(PATIENCE.pause(&ask, 4, &fault(FaultKind::Server, None)), None);
        let other = Ask::new(ask.call.clone(), 99, ask.request().clone());
        assert_ne!(PATIENCE.pause(&ask, 1, &fault(FaultKind::Server, None)), PATIENCE.pause(&other, 1, &fault(FaultKind::Server, None)));
    }

    #[test]
    fn the_vendors_wish_is_honoured_but_not_any_wish() {
        let ask = example::ask("hello");
        let pause = PATIENCE.pause(&ask, 1, &fault(FaultKind::RateLimited, Some(3))).unwrap();
        assert!(pause >= Duration::from_secs(3) && pause < Duration::from_secs(4), "{pause:?}");
        assert_eq!(PATIENCE.pause(&ask, 1, &fault(FaultKind::RateLimited, Some(11))), None);
    }

    #[test]
    fn what_stays_wrong_is_not_asked_again() {
        let ask = example::ask("hello");
        for kind in FaultKind::ALL {
            assert_eq!(PATIENCE.pause(&ask, 1, &fault(*kind, None)).is_some(), kind.may_pass(), "{kind:?}");
        }
    }
}
