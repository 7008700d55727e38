//! Folded readings of a text, kept for the next search: the same tool descriptions and answers are searched for the markers of thousands
//! of attacks.

use crate::folding::{fold_words, normalize};
use crate::readings::{DecoderChoice, find_reading};
use std::cell::RefCell;
use std::collections::HashMap;

/// Longest text whose readings are kept.
const MAX_KEPT_TEXT: usize = 32 * 1024;

/// Most bytes that a thread keeps. Beyond them it begins anew.
const MAX_KEPT_BYTES: usize = 24 << 20;

/// Separates readings. No folded text contains it.
const BETWEEN: char = '\n';

/// Form in which readings are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadingFold {
    /// Letters and digits of all readings.
    Letters,
    /// Words of the readings of specific decoders.
    Words,
}

impl ReadingFold {
    fn choice(self) -> DecoderChoice {
        match self {
            ReadingFold::Letters => DecoderChoice::All,
            ReadingFold::Words => DecoderChoice::Specific,
        }
    }

    fn fold(self, reading: &str) -> String {
        match self {
            ReadingFold::Letters => normalize(reading),
            ReadingFold::Words => fold_words(reading),
        }
    }
}

thread_local! {
    static KEPT: RefCell<KeptReadings> = RefCell::default();
}

/// Reports whether a folded reading of a text contains a folded marker.
pub(crate) fn any_reading_contains(text: &str, fold: ReadingFold, folded: &str) -> bool {
    if text.len() > MAX_KEPT_TEXT {
        return find_reading(text, fold.choice(), |reading| fold.fold(reading).contains(folded));
    }
    KEPT.with_borrow_mut(|kept| kept.readings(text, fold).contains(folded))
}

#[derive(Debug, Default)]
struct KeptReadings {
    letters: HashMap<Box<str>, Box<str>>,
    words: HashMap<Box<str>, Box<str>>,
    bytes: usize,
}

impl KeptReadings {
    fn readings(&mut self, text: &str, fold: ReadingFold) -> &str {
        if self.bytes > MAX_KEPT_BYTES {
            *self = Self::default();
        }
        let known = match fold {
            ReadingFold::Letters => &mut self.letters,
            ReadingFold::Words => &mut self.words,
        };
        if !known.contains_key(text) {
            let folded = all_readings(text, fold);
            self.bytes += text.len() + folded.len();
            known.insert(text.into(), folded.into());
        }
        &known[text]
    }
}

/// Returns all folded readings, separated by [`BETWEEN`].
fn all_readings(text: &str, fold: ReadingFold) -> String {
    let mut all = String::new();
    find_reading(text, fold.choice(), |reading| {
        all.push_str(&fold.fold(reading));
        all.push(BETWEEN);
        false
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode;

    #[test]
    fn kept_readings_equal_a_search_of_each_reading() {
        let texts = ["", "Pay MK4X-Orchid", "a b", "\u{200B}é ж 林", &encode::base64("note mk4x orchid 1"), &encode::rot13("mk4xorchid")];
        for text in texts {
            for marker in ["mk4x-orchid", "orchid", "b", "ж", "note mk4x"] {
                for fold in [ReadingFold::Letters, ReadingFold::Words] {
                    let folded = fold.fold(marker);
                    let expected = find_reading(text, fold.choice(), |reading| fold.fold(reading).contains(&folded));
                    // The second search reads what the first one kept.
                    assert_eq!([(); 2].map(|()| any_reading_contains(text, fold, &folded)), [expected; 2], "{text} {marker} {fold:?}");
                }
            }
        }
    }

    #[test]
    fn readings_are_not_joined() {
        // One reading ends with what the next one would continue.
        let all = all_readings("abc", ReadingFold::Letters);
        assert!(all.starts_with("abc\n") && !any_reading_contains("abc", ReadingFold::Letters, "abcn"), "{all}");
    }

    #[test]
    fn kept_bytes_are_bounded() {
        let mut kept = KeptReadings::default();
        for n in 0..4000 {
            let text = format!("{n} {}", "word ".repeat(1000));
            kept.readings(&text, ReadingFold::Letters);
            assert!(kept.bytes <= MAX_KEPT_BYTES + text.len() * 20 + (64 << 10), "{}", kept.bytes);
        }
        assert!(kept.letters.len() < 4000);
    }
}
