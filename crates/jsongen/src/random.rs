//! Seeded random choices, and the style that makes one sample small, large, long or non-ASCII.

use model::SeededRng;

/// A tendency of one whole sample, so that a few samples visit every boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// No optional key, every bound at its lower end.
    Smallest,
    /// Every optional key, every bound at its upper end.
    Largest,
    /// Strings and lists far longer than usual.
    Long,
    /// Scripts, emoji and control characters instead of ASCII.
    NonAscii,
    /// A bit of everything.
    Mixed,
    /// Every optional key, ordinary contents.
    Typical,
}

const ROUND: [Style; 8] =
    [Style::Smallest, Style::Largest, Style::NonAscii, Style::Long, Style::Mixed, Style::Mixed, Style::Mixed, Style::Mixed];

impl Style {
    pub(crate) fn of(round: usize) -> Self {
        ROUND[round % ROUND.len()]
    }
}

/// Bounds one value: JSON values, and one more for every [`PER_VALUE`] characters of its strings.
const BUDGET: usize = 20_000;
const PER_VALUE: usize = 32;

#[derive(Debug)]
pub(crate) struct Random {
    rng: SeededRng,
    pub(crate) style: Style,
    left: usize,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: SeededRng::new(seed), style: Style::Mixed, left: BUDGET }
    }

    /// Starts a new value.
    pub(crate) fn styled(&mut self, style: Style) -> &mut Self {
        (self.style, self.left) = (style, BUDGET);
        self
    }

    pub(crate) fn any_style(&mut self) -> &mut Self {
        let style = *self.pick(&ROUND);
        self.styled(style)
    }

    /// Pays for one JSON value with `characters`; `None` once the budget is used up.
    pub(crate) fn pay(&mut self, characters: usize) -> Option<()> {
        self.left = self.left.checked_sub(1 + characters / PER_VALUE)?;
        Some(())
    }

    /// Returns a number under `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.rng.next_u64()) * end as u128) >> 64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns a length between two others, both included.
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
