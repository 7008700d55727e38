//! Numbers with their noun, for messages and reports.

use std::fmt::Display;

/// Returns "1 trial", "2 trials", "0 trials".
pub fn count<N: Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    count_of(n, noun, &format!("{noun}s"))
}

/// Like [`count`], for nouns whose plural is not made with an "s".
pub fn count_of<N: Display + PartialEq + From<u8>>(n: N, one: &str, many: &str) -> String {
    if n == N::from(1) { format!("{n} {one}") } else { format!("{n} {many}") }
}

#[cfg(test)]
mod tests {
    use super::{count, count_of};

    #[test]
    fn count_uses_singular_for_one_only() {
        assert_eq!([0_usize, 1, 2].map(|n| count(n, "trial")), ["0 trials", "1 trial", "2 trials"]);
        assert_eq!(count(1_u64, "smaller run"), "1 smaller run");
        assert_eq!([1_u32, 3].map(|n| count_of(n, "entry", "entries")), ["1 entry", "3 entries"]);
    }
}
