//! Clock passed down from the CLI; the only access to real time in a run.

use std::time::{Duration, Instant, SystemTime};

#[derive(Debug, Clone, Copy)]
pub struct Clock {
    instant: fn() -> Instant,
    utc: fn() -> SystemTime,
}

impl Clock {
    /// Returns the system clock. For the CLI and tests only; other code receives a [`Clock`].
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock for a run")]
    pub fn system() -> Self {
        Self { instant: Instant::now, utc: SystemTime::now }
    }

    /// Returns a clock whose date is the given one.
    #[cfg(test)]
    pub(crate) fn dated(utc: fn() -> SystemTime) -> Self {
        Self { utc, ..Self::system() }
    }

    pub fn now(&self) -> Instant {
        (self.instant)()
    }

    pub fn utc(&self) -> SystemTime {
        (self.utc)()
    }

    /// Returns the Unix time in seconds.
    pub fn unix_s(&self) -> i64 {
        self.utc().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    }

    pub fn stopwatch(self) -> Stopwatch {
        Stopwatch { started: self.now(), clock: self }
    }
}

/// Measures the time since its creation.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    clock: Clock,
    started: Instant,
}

impl Stopwatch {
    pub fn elapsed(&self) -> Duration {
        self.clock.now().saturating_duration_since(self.started)
    }
}
