//! Seeded chance, and the mood that makes one sample small, large, long or foreign.

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// What a whole sample leans towards, so that a few samples already visit every boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// No optional key, every bound at its lower end.
    Smallest,
    /// Every optional key, every bound at its upper end.
    Largest,
    /// Strings and lists far longer than anybody types.
    Long,
    /// Scripts, emoji and control characters instead of ASCII.
    Foreign,
    /// A bit of everything.
    Mixed,
}

const MOODS: [Mood; 8] = [Mood::Smallest, Mood::Largest, Mood::Foreign, Mood::Long, Mood::Mixed, Mood::Mixed, Mood::Mixed, Mood::Mixed];

impl Mood {
    pub(super) fn of(round: usize) -> Self {
        MOODS[round % MOODS.len()]
    }
}

#[derive(Debug)]
pub(super) struct Dice<'a> {
    rng: &'a mut TestRng,
    pub(super) mood: Mood,
}

impl<'a> Dice<'a> {
    pub(super) fn new(rng: &'a mut TestRng, mood: Mood) -> Self {
        Self { rng, mood }
    }

    pub(super) fn with_any_mood(rng: &'a mut TestRng) -> Self {
        let mut dice = Self::new(rng, Mood::Mixed);
        dice.mood = Mood::of(dice.below(MOODS.len()));
        dice
    }

    /// A number under `n`; 0 when `n` is 0. The bias of the multiplication is far below what any sample could show.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.rng.next_u64()) * n as u128) >> 64) as usize
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A number between two lengths, both included.
    pub(super) fn length(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    pub(super) fn between(&mut self, low: i128, high: i128) -> i128 {
        let Ok(width) = u64::try_from(high.saturating_sub(low)) else {
            // Wider than 64 bits: any 64 bits above the lower end are inside.
            return low + i128::from(self.rng.next_u64());
        };
        low + ((u128::from(self.rng.next_u64()) * (u128::from(width) + 1)) >> 64) as i128
    }

    /// A fraction from 0 up to but not 1.
    pub(super) fn fraction(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of a non-empty slice.
    pub(super) fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

/// The same seed gives the same values on every machine: ChaCha, not the platform's generator.
pub(super) fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}
