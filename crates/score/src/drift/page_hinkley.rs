//! Page-Hinkley test for a slow rise of failures.

/// One-sided test on failures, in units of their standard deviation, so that one threshold fits every failure rate.
#[derive(Debug, Clone)]
pub struct PageHinkley {
    /// Rise per sample that is tolerated.
    slack: f64,
    threshold: f64,
    n: f64,
    failures: f64,
    sum: f64,
    /// Smallest sum so far, its time, and the samples and failures until then.
    lowest: f64,
    lowest_at: u64,
    lowest_n: f64,
    lowest_failures: f64,
}

/// Samples before the test begins, from which the usual failure rate is estimated.
const WARM_UP: f64 = 500.0;

impl PageHinkley {
    pub fn new(slack: f64, threshold: f64) -> Self {
        Self { slack, threshold, n: 0.0, failures: 0.0, sum: 0.0, lowest: 0.0, lowest_at: 0, lowest_n: 0.0, lowest_failures: 0.0 }
    }

    /// Adds an outcome. Returns the rates before and after, and the begin of the rise, once it is too high.
    pub fn add(&mut self, at: u64, failed: bool) -> Option<super::WindowCut> {
        self.n += 1.0;
        self.failures += f64::from(u8::from(failed));
        if self.n < WARM_UP {
            (self.lowest_at, self.lowest_n, self.lowest_failures) = (at, self.n, self.failures);
            return None;
        }
        // One failure more than seen, so that the first failure of a clean stream is not infinitely surprising.
        let rate = (self.failures + 1.0) / (self.n + 2.0);
        let deviation = (rate * (1.0 - rate)).sqrt();
        self.sum += (f64::from(u8::from(failed)) - rate) / deviation - self.slack;
        if self.sum < self.lowest {
            (self.lowest, self.lowest_at, self.lowest_n, self.lowest_failures) = (self.sum, at, self.n, self.failures);
        }
        if self.sum - self.lowest <= self.threshold {
            return None;
        }
        let samples = self.n - self.lowest_n;
        Some(super::WindowCut {
            since: self.lowest_at,
            before: 1.0 - self.lowest_failures / self.lowest_n,
            after: 1.0 - (self.failures - self.lowest_failures) / samples,
            samples,
        })
    }
}
