//! Delta debugging: finds a subset of numbered parts of which no single one can be removed.
//!
//! Removes chunks of half the parts first, then smaller ones, down to single parts, and repeats single parts until none can go.

/// Search for a minimal subset. [`DeltaDebugger::proposal`] is tried by the caller, who answers with `accept` or `reject`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeltaDebugger {
    kept: Vec<usize>,
    /// Parts that the next proposal removes.
    chunk: usize,
    /// Place of the next chunk in `kept`.
    at: usize,
    /// A chunk of this size was removed in this pass.
    removed: bool,
}

impl DeltaDebugger {
    /// Starts with all of `parts` parts.
    pub fn new(parts: usize) -> Self {
        Self { kept: (0..parts).collect(), chunk: parts.div_ceil(2), at: 0, removed: false }
    }

    /// Returns the parts that are needed as far as is known.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Returns the next subset to try; `None` if no single part can be removed. The last part is never removed.
    pub fn proposal(&mut self) -> Option<Vec<usize>> {
        loop {
            if self.kept.len() < 2 || self.chunk == 0 {
                return None;
            }
            if self.at < self.kept.len() {
                let end = self.chunk_end();
                if end - self.at < self.kept.len() {
                    return Some([&self.kept[..self.at], &self.kept[end..]].concat());
                }
                // A chunk that is everything.
                self.at = end;
                continue;
            }
            if self.chunk == 1 && !self.removed {
                return None;
            }
            self.chunk = if self.chunk == 1 { 1 } else { self.chunk / 2 };
            (self.at, self.removed) = (0, false);
        }
    }

    /// Removes the chunk of the last proposal.
    pub fn accept(&mut self) {
        let end = self.chunk_end();
        self.kept.drain(self.at..end);
        self.removed = true;
    }

    /// Keeps the chunk of the last proposal.
    pub fn reject(&mut self) {
        self.at = self.chunk_end();
    }

    fn chunk_end(&self) -> usize {
        (self.at + self.chunk).min(self.kept.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reduces with a test, and returns what is left and the number of tries.
    fn reduce(parts: usize, works: impl Fn(&[usize]) -> bool) -> (Vec<usize>, usize) {
        let mut search = DeltaDebugger::new(parts);
        let mut tries = 0;
        while let Some(proposal) = search.proposal() {
            assert!(proposal.len() < search.kept().len() && !proposal.is_empty());
            tries += 1;
            if works(&proposal) { search.accept() } else { search.reject() }
        }
        (search.kept().to_vec(), tries)
    }

    #[test]
    fn the_needed_parts_are_found() {
        for needed in [vec![0], vec![399], vec![7, 200], vec![0, 1, 2, 397, 398, 399], vec![3, 50, 51, 260]] {
            let (kept, tries) = reduce(400, |parts| needed.iter().all(|part| parts.contains(part)));
            assert_eq!(kept, needed);
            assert!(tries < 150, "{tries} tries for {needed:?}");
        }
    }

    #[test]
    fn no_single_part_of_the_result_can_go() {
        // A test that is not monotone: an even number of parts with the third one.
        let works = |parts: &[usize]| parts.contains(&2) && (parts.len().is_multiple_of(2) || parts.len() == 1);
        for size in 2..40 {
            let (kept, _) = reduce(size, works);
            for left_out in 0..kept.len() {
                let mut smaller = kept.clone();
                smaller.remove(left_out);
                assert!(smaller.is_empty() || !works(&smaller), "{kept:?}");
            }
        }
    }

    #[test]
    fn nothing_and_one_part_need_no_try() {
        assert_eq!(reduce(0, |_| true), (vec![], 0));
        assert_eq!(reduce(1, |_| true), (vec![0], 0));
        assert_eq!(reduce(2, |_| false), (vec![0, 1], 2));
    }
}
