//! ADWIN: a window over the newest samples that drops its older part once the means of the two parts differ.

use std::collections::VecDeque;

/// Buckets of one size before two of them are joined.
const BUCKETS_PER_SIZE: usize = 5;
/// Samples between two tests of the window.
const TEST_EVERY: u64 = 16;
/// Fewest samples on either side of a cut.
const MIN_SIDE: f64 = 20.0;

/// Adaptive window over values between 0 and 1 (Bifet and Gavaldà, 2007). Memory grows with the logarithm of the window.
#[derive(Debug, Clone)]
pub struct Adwin {
    delta: f64,
    /// By size, powers of two; within a size the oldest first.
    sizes: Vec<VecDeque<Bucket>>,
    n: f64,
    sum: f64,
    squares: f64,
    seen: u64,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    n: f64,
    sum: f64,
    squares: f64,
    /// Time of the oldest sample.
    from: u64,
}

/// Older part of the window that was dropped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowCut {
    /// Time of the oldest sample that is still in the window.
    pub since: u64,
    pub before: f64,
    pub after: f64,
    /// Samples since the change.
    pub samples: f64,
}

impl Adwin {
    /// Returns an empty window. `delta` bounds the chance of a false cut at each test.
    pub fn new(delta: f64) -> Self {
        Self { delta, sizes: vec![], n: 0.0, sum: 0.0, squares: 0.0, seen: 0 }
    }

    pub fn mean(&self) -> Option<f64> {
        (self.n > 0.0).then(|| self.sum / self.n)
    }

    /// Returns the number of samples in the window.
    pub fn samples(&self) -> f64 {
        self.n
    }

    /// Adds a value between 0 and 1 with its time. Returns the cut if the mean changed.
    pub fn add(&mut self, at: u64, value: f64) -> Option<WindowCut> {
        let value = value.clamp(0.0, 1.0);
        self.push(Bucket { n: 1.0, sum: value, squares: value * value, from: at });
        self.seen += 1;
        if !self.seen.is_multiple_of(TEST_EVERY) || self.n < 2.0 * MIN_SIDE {
            return None;
        }
        let mut first: Option<WindowCut> = None;
        while let Some(cut) = self.find_cut() {
            while self.n > cut.samples {
                self.drop_oldest();
            }
            first.get_or_insert(cut);
        }
        let since = self.sizes.iter().rev().find_map(|row| row.front()).map(|oldest| oldest.from);
        let found = first?;
        Some(WindowCut { since: since.unwrap_or(found.since), after: self.mean().unwrap_or(found.after), samples: self.n, ..found })
    }

    fn push(&mut self, bucket: Bucket) {
        self.n += bucket.n;
        self.sum += bucket.sum;
        self.squares += bucket.squares;
        let mut carried = Some(bucket);
        let mut size = 0;
        while let Some(bucket) = carried.take() {
            if self.sizes.len() == size {
                self.sizes.push(VecDeque::with_capacity(BUCKETS_PER_SIZE + 1));
            }
            let row = &mut self.sizes[size];
            row.push_back(bucket);
            if row.len() > BUCKETS_PER_SIZE
                && let (Some(older), Some(newer)) = (row.pop_front(), row.pop_front())
            {
                carried = Some(Bucket {
                    n: older.n + newer.n,
                    sum: older.sum + newer.sum,
                    squares: older.squares + newer.squares,
                    from: older.from,
                });
            }
            size += 1;
        }
    }

    fn drop_oldest(&mut self) {
        while self.sizes.last().is_some_and(VecDeque::is_empty) {
            self.sizes.pop();
        }
        if let Some(oldest) = self.sizes.last_mut().and_then(VecDeque::pop_front) {
            self.n -= oldest.n;
            self.sum -= oldest.sum;
            self.squares -= oldest.squares;
        }
    }

    /// Returns the cut at which the means differ most beyond what chance explains, so that it lies where the change began.
    fn find_cut(&self) -> Option<WindowCut> {
        let mean = self.sum / self.n;
        let variance = (self.squares / self.n - mean * mean).max(0.0);
        let log = (2.0 * self.n.ln() / self.delta).ln();
        let (mut n, mut sum) = (0.0, 0.0);
        let mut best: Option<(f64, WindowCut)> = None;
        for bucket in self.sizes.iter().rev().flatten() {
            n += bucket.n;
            sum += bucket.sum;
            let rest = self.n - n;
            if n < MIN_SIDE {
                continue;
            }
            if rest < MIN_SIDE {
                break;
            }
            let harmonic = 1.0 / (1.0 / n + 1.0 / rest);
            let bound = (2.0 / harmonic * variance * log).sqrt() + 2.0 / (3.0 * harmonic) * log;
            let (before, after) = (sum / n, (self.sum - sum) / rest);
            let excess = (before - after).abs() / bound;
            if excess > best.map_or(1.0, |(most, _)| most) {
                best = Some((excess, WindowCut { since: bucket.from, before, after, samples: rest }));
            }
        }
        best.map(|(_, cut)| cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SeededRng;

    #[test]
    fn a_drop_is_cut_where_it_began() {
        let mut rng = SeededRng::new(7);
        let mut window = Adwin::new(0.002);
        let mut cuts = vec![];
        for at in 0..4000 {
            let good = rng.percent(if at < 2000 { 92 } else { 60 });
            cuts.extend(window.add(at, f64::from(u8::from(good))));
        }
        let cut = cuts.first().expect("a cut");
        assert!((1800..2200).contains(&cut.since), "{cut:?}");
        assert!(cut.before > 0.88 && cut.after < 0.80, "{cut:?}");
    }

    #[test]
    fn memory_grows_with_the_logarithm() {
        let mut window = Adwin::new(0.002);
        for at in 0..100_000 {
            window.add(at, 1.0);
        }
        assert_eq!((window.samples(), window.mean()), (100_000.0, Some(1.0)));
        assert!(window.sizes.iter().map(VecDeque::len).sum::<usize>() < 100);
    }
}
