//! Reproducible random numbers from an explicit seed.

use crate::hash::ContentHash;

/// SplitMix64. The algorithm must not change, because stored transcripts depend on its sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeededRng(u64);

impl SeededRng {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`. If `end` is 0, returns 0 without a draw.
    pub fn below(&mut self, end: usize) -> usize {
        match u64::try_from(end) {
            Ok(end) if end > 0 => usize::try_from(self.next_u64() % end).unwrap_or(0),
            Ok(_) | Err(_) => 0,
        }
    }

    /// Returns true with a probability of `share` percent.
    pub fn percent(&mut self, share: u64) -> bool {
        self.next_u64() % 100 < share
    }

    /// Returns one of the items. If there are none, returns `None` without a draw.
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        let at = self.below(items.len());
        items.get(at)
    }
}

/// Seeds from the first 64 bits of a content hash.
impl From<&ContentHash> for SeededRng {
    fn from(hash: &ContentHash) -> Self {
        Self(hash.as_str().get(..16).and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_is_splitmix64() {
        let mut rng = SeededRng::new(1_234_567);
        let drawn: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(drawn, published);
    }

    #[test]
    fn draws_stay_within_bounds() {
        let mut rng = SeededRng::new(7);
        assert!((0..1000).all(|_| rng.below(3) < 3));
        assert_eq!(rng.below(0), 0);
        assert!((0..100).all(|_| rng.percent(100)) && !(0..100).any(|_| rng.percent(0)));
        assert_eq!(rng.pick::<u8>(&[]), None);
        assert!(rng.pick(&[1, 2, 3]).is_some_and(|one| (1..=3).contains(one)));
    }
}
