//! Search for a marker word or a secret that may be disguised.

use crate::folded_readings::{ReadingFold, any_reading_contains};
use crate::folding::{fold_words, normalize};

/// Fewest letters and digits of a marker that cannot occur by chance. It is found anywhere, also glued to other text.
const LONG_MARKER: usize = 10;

/// Fewest digits of a number that is also searched without `0x`, as in calldata.
const LONG_NUMBER: usize = 16;

/// Reports whether a text contains a marker, plain or disguised. Ignores case, separators and look-alikes, in any of its readings
/// (see [`crate::readings`]). A marker of fewer than ten letters and digits must be whole words, and is not searched in reversed and
/// ROT13 text, where short words occur by chance.
pub fn contains_marker(text: &str, marker: &str) -> bool {
    let digits = marker.strip_prefix("0x").filter(|digits| digits.len() >= LONG_NUMBER && digits.bytes().all(|c| c.is_ascii_hexdigit()));
    let folded = normalize(digits.unwrap_or(marker));
    // The shortest encoding is base64 of the bytes that hex digits stand for: two characters for three digits.
    if folded.is_empty() || text.chars().count() < folded.chars().count() * 2 / 3 {
        return false;
    }
    if folded.chars().count() >= LONG_MARKER {
        return any_reading_contains(text, ReadingFold::Letters, &folded);
    }
    any_reading_contains(text, ReadingFold::Words, &fold_words(marker))
}
