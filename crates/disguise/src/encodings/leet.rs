//! Leetspeak: digits for letters. Without an inverse, because a digit of the text may have been a digit before.

/// Replaces letters by digits in words that have no digit. Numbers, addresses and codes stay usable.
pub fn encode(text: &str) -> String {
    super::map_plain_words(text, |c| match c.to_ascii_lowercase() {
        'a' => '4',
        'e' => '3',
        'i' => '1',
        'o' => '0',
        's' => '5',
        't' => '7',
        _ => c,
    })
}

/// Returns the letter that a digit stands for. Different digits stand for different letters, so that numbers stay different.
pub(crate) const fn letter(c: char) -> char {
    match c {
        '0' => 'o',
        '1' | 'l' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '8' => 'b',
        '9' => 'g',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leet_leaves_words_with_digits() {
        assert_eq!(encode("Send 250 USDC to 0xAbC1, note mk4x-orchid"), "53nd 250 U5DC 70 0xAbC1, n073 mk4x-0rch1d");
    }
}
