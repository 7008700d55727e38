//! Sampling by the hash of the trace id, the same on every replica.

use model::{ContentHash, SamplingKey};

/// Prefix of what is hashed. Replicas of different versions agree as long as it stays.
const DOMAIN: &str = "bardo-eval/sampling/1\n";

const JUDGED_DOMAIN: &str = "bardo-eval/judged/1\n";

/// Returns whether a kept trace is in the share that a judge grades. Independent of the sample, and the same on every replica.
pub fn is_judged(trace: &str, share: f64, key: &SamplingKey) -> bool {
    is_chosen(JUDGED_DOMAIN, trace, share, key)
}

/// Returns whether a trace is in the uniform sample of this rate. Depends on the id and the key alone; the sample of a lower rate is part
/// of the sample of a higher one.
pub fn is_sampled(trace: &str, rate: f64, key: &SamplingKey) -> bool {
    is_chosen(DOMAIN, trace, rate, key)
}

fn is_chosen(domain: &str, trace: &str, rate: f64, key: &SamplingKey) -> bool {
    let hash = ContentHash::of_parts(&[domain, key.prefix(), &trace.to_ascii_lowercase()]);
    let head = hash.as_str().get(..13).and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(u64::MAX);
    // 52 bits are exact in a float.
    (head as f64) < rate * (1_u64 << 52) as f64
}

/// Probability with which a trace is kept. Its inverse is the number of traces that it stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleWeight {
    pub probability: f64,
}

impl SampleWeight {
    /// A trace that a rule keeps is kept with certainty, also if it is in the sample. All others are kept at the sampling rate.
    pub fn of(is_always_kept: bool, rate: f64) -> Self {
        Self { probability: if is_always_kept { 1.0 } else { rate } }
    }

    pub fn weight(self) -> f64 {
        if self.probability > 0.0 { 1.0 / self.probability } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SeededRng;

    const OPEN: SamplingKey = SamplingKey::none();

    fn ids(count: usize, seed: u64) -> impl Iterator<Item = String> {
        let mut rng = SeededRng::new(seed);
        (0..count).map(move |_| format!("{:016x}{:016x}", rng.next_u64(), rng.next_u64()))
    }

    #[test]
    fn one_percent_of_a_million_ids_is_sampled() {
        let random = ids(1_000_000, 1).filter(|id| is_sampled(id, 0.01, &OPEN)).count();
        assert!((9_700..=10_300).contains(&random), "{random}");
        let counted = (0..1_000_000).filter(|n| is_sampled(&format!("{n:032x}"), 0.01, &OPEN)).count();
        assert!((9_700..=10_300).contains(&counted), "{counted}");
        #[expect(clippy::print_stdout, reason = "the figures are in the guide")]
        {
            println!("sampled of 1,000,000: random ids {random}, counted ids {counted}");
        }
    }

    #[test]
    fn the_judged_share_is_independent_of_the_sample() {
        let sampled: Vec<String> = ids(1_000_000, 2).filter(|id| is_sampled(id, 0.01, &OPEN)).collect();
        let judged = sampled.iter().filter(|id| is_judged(id, 0.1, &OPEN)).count() as f64 / sampled.len() as f64;
        assert!((0.085..=0.115).contains(&judged), "{judged}");
        assert!(sampled.iter().all(|id| is_judged(id, 1.0, &OPEN) && !is_judged(id, 0.0, &OPEN)));
    }

    #[test]
    fn samples_are_nested_and_ignore_the_case_of_digits() {
        for id in ids(20_000, 2) {
            assert!(!is_sampled(&id, 0.01, &OPEN) || is_sampled(&id, 0.1, &OPEN));
            assert_eq!(is_sampled(&id, 0.1, &OPEN), is_sampled(&id.to_uppercase(), 0.1, &OPEN));
            assert!(is_sampled(&id, 1.0, &OPEN) && !is_sampled(&id, 0.0, &OPEN));
        }
    }

    #[test]
    fn a_key_hides_which_ids_are_sampled_and_replicas_with_the_key_agree() {
        let (one, other) = (SamplingKey::new("a key of the operator"), SamplingKey::new("another key of the operator"));
        // Ids that an agent chose because they are not in the sample without a key.
        let chosen: Vec<String> = ids(1_000_000, 3).filter(|id| !is_sampled(id, 0.01, &OPEN)).collect();
        let caught = chosen.iter().filter(|id| is_sampled(id, 0.01, &one)).count();
        assert!((9_500..=10_300).contains(&caught), "{caught}");
        assert!(chosen.iter().all(|id| is_sampled(id, 0.01, &one) == is_sampled(id, 0.01, &one.clone())));
        assert!(chosen.iter().any(|id| is_sampled(id, 0.01, &one) != is_sampled(id, 0.01, &other)));
    }

    #[test]
    fn decision_of_known_ids_never_changes() {
        // Replicas of another version must agree.
        let sampled: Vec<u64> = (0..1_000).filter(|n| is_sampled(&format!("{n:032x}"), 0.01, &OPEN)).collect();
        assert_eq!(sampled, KNOWN);
    }

    const KNOWN: &[u64] = &[23, 37, 125, 146, 196, 291, 482, 518, 532, 712, 890, 979, 983];
}
