//! Homoglyphs: Cyrillic letters that look like Latin ones.

use super::map_plain_words;

const PAIRS: &[(char, char)] = &[
    ('a', 'а'),
    ('c', 'с'),
    ('e', 'е'),
    ('i', 'і'),
    ('j', 'ј'),
    ('o', 'о'),
    ('p', 'р'),
    ('s', 'ѕ'),
    ('x', 'х'),
    ('y', 'у'),
    ('A', 'А'),
    ('B', 'В'),
    ('C', 'С'),
    ('E', 'Е'),
    ('H', 'Н'),
    ('K', 'К'),
    ('M', 'М'),
    ('O', 'О'),
    ('P', 'Р'),
    ('T', 'Т'),
    ('X', 'Х'),
];

/// Replaces Latin letters by Cyrillic ones in words that have no digit. Returns `None` for a text that already has such letters.
pub fn encode(text: &str) -> Option<String> {
    if text.chars().any(|c| PAIRS.iter().any(|(_, cyrillic)| *cyrillic == c)) {
        return None;
    }
    Some(map_plain_words(text, |c| PAIRS.iter().find(|(latin, _)| *latin == c).map_or(c, |(_, cyrillic)| *cyrillic)))
}

/// Puts the Latin letters back.
pub fn decode(text: &str) -> String {
    text.chars().map(|c| PAIRS.iter().find(|(_, cyrillic)| *cyrillic == c).map_or(c, |(latin, _)| *latin)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homoglyphs_leave_words_with_digits() {
        let encoded = encode("Pay 0xAbCe1 now").unwrap();
        assert!(encoded.contains("0xAbCe1") && !encoded.contains("Pay"), "{encoded}");
        assert_eq!(decode(&encoded), "Pay 0xAbCe1 now");
        assert_eq!(encode("Привет, хозяин"), None);
    }
}
