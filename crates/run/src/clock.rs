//! Real time, read through a value that the cli hands down.

use std::time::{Duration, Instant, SystemTime};

#[derive(Debug, Clone, Copy)]
pub struct Clock {
    instant: fn() -> Instant,
    utc: fn() -> SystemTime,
}

impl Clock {
    /// The clock of this machine. For the cli and for tests; everything else is given one.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock for a run")]
    pub fn system() -> Self {
        Self { instant: Instant::now, utc: SystemTime::now }
    }

    pub fn now(&self) -> Instant {
        (self.instant)()
    }

    pub fn utc(&self) -> SystemTime {
        (self.utc)()
    }

    /// Seconds since 1970.
    pub fn unix_s(&self) -> i64 {
        self.utc().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    }

    pub fn stopwatch(self) -> Stopwatch {
        Stopwatch { started: self.now(), clock: self }
    }
}

/// Measures the time since it was made.
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
