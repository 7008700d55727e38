//! Seeded random source and the style of a sample: small, large, long or non-ASCII.

use model::SeededRng;

/// Tendency of one whole sample. Ensures that a few samples visit every boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampleStyle {
    /// No optional key, every bound at its lower end.
    Smallest,
    /// Every optional key, every bound at its upper end.
    Largest,
    /// Strings and lists far longer than usual.
    Long,
    /// Scripts, emoji and control characters instead of ASCII.
    NonAscii,
    /// Random mixture of the others.
    Mixed,
    /// Every optional key, ordinary contents.
    Typical,
}

const STYLE_ROUND: [SampleStyle; 8] = [
    SampleStyle::Smallest,
    SampleStyle::Largest,
    SampleStyle::NonAscii,
    SampleStyle::Long,
    SampleStyle::Mixed,
    SampleStyle::Mixed,
    SampleStyle::Mixed,
    SampleStyle::Mixed,
];

impl SampleStyle {
    pub(crate) fn for_round(round: usize) -> Self {
        STYLE_ROUND[round % STYLE_ROUND.len()]
    }
}

/// Size limit of one sample: one unit per JSON value and one per [`CHARS_PER_VALUE`] characters of its strings.
const VALUE_BUDGET: usize = 20_000;
const CHARS_PER_VALUE: usize = 32;

#[derive(Debug)]
pub(crate) struct SampleRng {
    rng: SeededRng,
    pub(crate) style: SampleStyle,
    left: usize,
}

impl SampleRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: SeededRng::new(seed), style: SampleStyle::Mixed, left: VALUE_BUDGET }
    }

    /// Starts a new sample: sets the style and resets the budget.
    pub(crate) fn with_style(&mut self, style: SampleStyle) -> &mut Self {
        (self.style, self.left) = (style, VALUE_BUDGET);
        self
    }

    pub(crate) fn with_random_style(&mut self) -> &mut Self {
        let style = *self.pick(&STYLE_ROUND);
        self.with_style(style)
    }

    /// Charges one JSON value with `characters` to the budget. Returns `None` if it is exhausted.
    pub(crate) fn charge(&mut self, characters: usize) -> Option<()> {
        self.left = self.left.checked_sub(1 + characters / CHARS_PER_VALUE)?;
        Some(())
    }

    /// Returns a number under `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.rng.next_u64()) * end as u128) >> 64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns a length in `low..=high`.
    pub(crate) fn length(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    pub(crate) fn between(&mut self, low: i128, high: i128) -> i128 {
        let Ok(width) = u64::try_from(high.saturating_sub(low)) else {
            // Wider than 64 bits: any 64 bits above the lower end are inside.
            return low + i128::from(self.rng.next_u64());
        };
        low + ((u128::from(self.rng.next_u64()) * (u128::from(width) + 1)) >> 64) as i128
    }

    /// Returns a fraction in `0.0..1.0`.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns one of a non-empty slice.
    pub(crate) fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }
}
