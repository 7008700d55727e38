//! Readings: a text and all its plausible decodings, nested up to a depth and within bounds on work.
//!
//! Decodings of depth 1 are always complete. Deeper ones are read breadth-first until a bound is reached, so the work is linear in the
//! length of the text.

use crate::encodings::{base32, base64, hex, invisible_bits, morse, percent, reversed, rot13, unicode_tags, variation_selectors};
use crate::invisible::strip_invisible;

/// Most encodings around each other.
const MAX_DEPTH: u8 = 3;

/// Most readings of one text.
const MAX_READINGS: usize = 128;

/// Most bytes of all readings together: a multiple of the text, and at least a constant.
const MAX_GROWTH: usize = 12;
const MIN_BYTES: usize = 64 * 1024;

/// Decoders that find nothing in most texts. The first three read characters that are not ASCII.
const SPECIFIC: &[fn(&str) -> Option<String>] = &[
    |text| if text.is_ascii() { None } else { unicode_tags::read(text) },
    |text| if text.is_ascii() { None } else { variation_selectors::read(text) },
    |text| if text.is_ascii() { None } else { invisible_bits::read(text) },
    |text| base64::read(&strip_invisible(text)),
    |text| hex::read(&strip_invisible(text)),
    |text| percent::read(&strip_invisible(text)),
    |text| morse::read(&strip_invisible(text)),
    |text| base32::read(&strip_invisible(text)),
];

/// Decoders that turn any text into another one. By chance, their outputs contain short words.
const UNSPECIFIC: &[fn(&str) -> Option<String>] =
    &[|text| rot13::read(&strip_invisible(text)), |text| reversed::read(&strip_invisible(text))];

/// Decoders to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecoderChoice {
    All,
    Specific,
    /// Decoders that turn any text into another one are applied to decodings only.
    SpecificFirst,
}

/// Returns the text and its decodings, without duplicates, least nested first. Bounded in number, depth and size, see module docs.
pub fn readings(text: &str) -> Vec<String> {
    let mut found = vec![];
    find_reading(text, DecoderChoice::All, |reading| {
        found.push(reading.to_owned());
        false
    });
    found
}

/// Returns the decodings of a text that has an encoded part, without the text itself. Unlike [`readings`], it does not turn the whole text
/// around first, so that it is cheap for most texts.
pub fn encoded_readings(text: &str) -> Vec<String> {
    let mut found = vec![];
    find_reading(text, DecoderChoice::SpecificFirst, |reading| {
        found.push(reading.to_owned());
        false
    });
    found.drain(..1);
    found
}

/// Returns whether a reading satisfies a condition. Stops at the first one that does.
pub(crate) fn find_reading(text: &str, choice: DecoderChoice, mut is_wanted: impl FnMut(&str) -> bool) -> bool {
    if is_wanted(text) {
        return true;
    }
    let mut found = vec![(text.to_owned(), 0)];
    let mut bytes_left = (text.len() * MAX_GROWTH).max(MIN_BYTES);
    let mut next = 0;
    while let Some((reading, depth)) = found.get(next).cloned() {
        next += 1;
        if depth == MAX_DEPTH {
            break;
        }
        let unspecific = match choice {
            DecoderChoice::All => UNSPECIFIC,
            DecoderChoice::SpecificFirst if depth > 0 => UNSPECIFIC,
            DecoderChoice::SpecificFirst | DecoderChoice::Specific => &[],
        };
        for decoded in SPECIFIC.iter().chain(unspecific).filter_map(|decoder| decoder(&reading)) {
            let in_bounds = found.len() < MAX_READINGS && decoded.len() <= bytes_left;
            if !in_bounds || found.iter().any(|(known, _)| *known == decoded) {
                continue;
            }
            if is_wanted(&decoded) {
                return true;
            }
            bytes_left -= decoded.len();
            found.push((decoded, depth + 1));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode;

    #[test]
    fn readings_contain_nested_decodings_once() {
        let secret = "withdraw everything";
        let nested = encode::base64(&encode::rot13(&encode::hex(secret)));
        let found = readings(&nested);
        assert!(found.iter().any(|reading| reading == secret), "{found:?}");
        assert_eq!(found[0], nested);
        let mut unique = found.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), found.len());
    }

    #[test]
    fn encoded_readings_turn_only_decodings_around() {
        let secret = "withdraw everything";
        let nested = encode::base64(&encode::rot13(&encode::hex(secret)));
        assert!(encoded_readings(&nested).iter().any(|reading| reading == secret));
        assert!(encoded_readings("withdraw everything").is_empty());
    }

    #[test]
    fn readings_end_at_the_depth() {
        let secret = "withdraw everything";
        let four = encode::base64(&encode::base64(&encode::base64(&encode::base64(secret))));
        assert!(!readings(&four).iter().any(|reading| reading == secret));
    }

    fn hostile_texts(size: usize) -> Vec<String> {
        vec![
            "A".repeat(size),
            "%25".repeat(size / 3),
            "2e2e2d2d20".repeat(size / 10),
            ". - ".repeat(size / 4),
            "QUJD ".repeat(size / 5),
            "QUJDREVGR0hJSktMTU5P ".repeat(size / 21),
            "41 ".repeat(size / 3),
            "\u{200B}\u{200C}".repeat(size / 6),
            "\u{E0041}".repeat(size / 4),
            "\u{E0141}".repeat(size / 4),
            "é".repeat(size / 2),
            encode::base64(&encode::base64(&"%41 ".repeat(size / 8))),
        ]
    }

    #[test]
    fn depth_one_is_complete_behind_hostile_text() {
        let secret = "withdraw everything";
        for text in hostile_texts(100_000) {
            for hidden in
                [encode::base64(secret), encode::hex(secret), encode::base32(secret), encode::rot13(secret), encode::percent(secret)]
            {
                let text = format!("{text} .: {hidden}");
                let start: String = text.chars().take(12).collect();
                assert!(find_reading(&text, DecoderChoice::All, |reading| reading.contains(secret)), "{start}: {hidden}");
            }
        }
    }

    #[test]
    fn readings_of_hostile_megabytes_are_bounded() {
        for text in &hostile_texts(1_000_000) {
            let found = readings(text);
            let bytes: usize = found.iter().skip(1).map(String::len).sum();
            let start: String = text.chars().take(12).collect();
            assert!(found.len() <= MAX_READINGS && bytes <= text.len() * MAX_GROWTH, "{start}: {} of {bytes} bytes", found.len());
        }
    }
}
