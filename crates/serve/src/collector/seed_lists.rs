//! Finds seed phrases written as one list: the same marks between all words, and at most one word that is not of the BIP-39 list.

use super::listed_words::{SEED_WORDS, TextWord};
use std::ops::Range;

/// Most marks between two words.
const MAX_MARKS: usize = 8;

/// Words of the BIP-39 list in a row.
#[derive(Debug, Clone, Default)]
struct ListedWords {
    at: Range<usize>,
    count: usize,
}

/// Marks between two words of a list, such as `","`. Numbers, space and escapes differ with the layout.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListMarks([u8; MAX_MARKS]);

/// Reads the words of a text in order. Keeps the words before and after the last one that is not listed.
#[derive(Debug)]
pub(super) struct SeedLists<'t> {
    bytes: &'t [u8],
    found: Vec<Range<usize>>,
    marks: Option<ListMarks>,
    last: Option<TextWord>,
    before: ListedWords,
    unlisted: Option<Range<usize>>,
    after: ListedWords,
}

impl<'t> SeedLists<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Self {
        let none = ListedWords::default;
        Self { bytes, found: vec![], marks: None, last: None, before: none(), unlisted: None, after: none() }
    }

    pub(super) fn add(&mut self, word: TextWord) {
        let marks = self.last.as_ref().and_then(|last| ListMarks::read(&self.bytes[last.at.end..word.at.start]));
        let goes_on = marks.is_some() && (self.marks.is_none() || self.marks == marks);
        if !goes_on {
            self.end_list();
            // The word before other marks may be the first of the next list.
            if let Some(last) = self.last.take().filter(|_| marks.is_some()) {
                self.add_to_list(&last);
            }
        }
        self.marks = marks;
        self.add_to_list(&word);
        self.last = Some(word);
    }

    pub(super) fn finish(mut self) -> Vec<Range<usize>> {
        self.end_list();
        self.found
    }

    fn add_to_list(&mut self, word: &TextWord) {
        if word.is_listed {
            let start = if self.after.count == 0 { word.at.start } else { self.after.at.start };
            self.after = ListedWords { at: start..word.at.end, count: self.after.count + 1 };
            return;
        }
        self.keep_phrase();
        if self.after.count + 1 == SEED_WORDS {
            self.found.push(self.after.at.start..word.at.end);
        }
        self.before = std::mem::take(&mut self.after);
        self.unlisted = Some(word.at.clone());
    }

    fn end_list(&mut self) {
        self.keep_phrase();
        (self.before, self.unlisted, self.after) = (ListedWords::default(), None, ListedWords::default());
    }

    /// Keeps the words after the last unlisted one if they are a phrase, alone or with it and the words before it.
    fn keep_phrase(&mut self) {
        let (before, after) = (&self.before, &self.after);
        if after.count >= SEED_WORDS {
            self.found.push(after.at.clone());
            return;
        }
        let Some(unlisted) = self.unlisted.clone().filter(|_| after.count > 0 && before.count < SEED_WORDS) else { return };
        // A mistaken first word has no words of the phrase before it.
        let is_first = after.count + 1 == SEED_WORDS;
        if is_first || before.count + 1 + after.count >= SEED_WORDS {
            let start = if is_first || before.count == 0 { unlisted.start } else { before.at.start };
            self.found.push(start..after.at.end);
        }
    }
}

impl ListMarks {
    /// Reads the marks between two words; `None` if they are not of a list.
    fn read(gap: &[u8]) -> Option<Self> {
        let mut marks = [0; MAX_MARKS];
        let (mut count, mut is_escaped) = (0, false);
        for byte in gap {
            let is_escape = std::mem::replace(&mut is_escaped, *byte == b'\\') && byte.is_ascii_alphabetic();
            if is_escape || is_escaped || byte.is_ascii_whitespace() || byte.is_ascii_digit() {
                continue;
            }
            if byte.is_ascii_alphabetic() {
                return None;
            }
            *marks.get_mut(count)? = *byte;
            count += 1;
        }
        Some(Self(marks))
    }
}
