//! File format of a golden baseline: a stamp, then one line per case.

use super::stamp::FORMAT;
use super::{GoldenEntry, GoldenStamp};

/// Contents of a baseline file.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldenFile {
    pub stamp: GoldenStamp,
    pub entries: Vec<GoldenEntry>,
}

/// Line of a baseline that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableLine {
    /// Starts at 1.
    pub line: usize,
    pub why: String,
}

impl GoldenFile {
    /// Returns JSON lines sorted by case, so that a changed case is one changed line in a review.
    pub fn to_lines(&self) -> String {
        let line = |value: serde_json::Result<String>| value.unwrap_or_else(|error| panic!("plain data is always JSON: {error}"));
        let mut entries: Vec<&GoldenEntry> = self.entries.iter().collect();
        entries.sort_by(|one, other| one.case.cmp(&other.case));
        let mut text = line(serde_json::to_string(&self.stamp)) + "\n";
        for entry in entries {
            text.push_str(&line(serde_json::to_string(entry)));
            text.push('\n');
        }
        text
    }

    /// Returns the file with the date of an earlier one, if nothing else changed: an unchanged baseline keeps its date.
    pub fn dated_like(mut self, earlier: &Self) -> Self {
        let date = std::mem::replace(&mut self.stamp.date, earlier.stamp.date.clone());
        if self.to_lines() != earlier.to_lines() {
            self.stamp.date = date;
        }
        self
    }

    /// Parses the output of [`Self::to_lines`].
    ///
    /// # Errors
    ///
    /// Fails on the first line that is not valid JSON, and on another format version.
    pub fn parse(text: &str) -> Result<Self, UnreadableLine> {
        let mut lines = text.lines().enumerate().map(|(n, line)| (n + 1, line));
        let (_, first) = lines.next().ok_or_else(|| UnreadableLine { line: 1, why: "the file is empty".into() })?;
        let stamp: GoldenStamp = serde_json::from_str(first).map_err(|error| UnreadableLine { line: 1, why: error.to_string() })?;
        if stamp.format != FORMAT {
            return Err(UnreadableLine { line: 1, why: format!("its format is {}, this version reads {FORMAT}", stamp.format) });
        }
        let entries = lines.filter(|(_, line)| !line.trim().is_empty());
        let entries =
            entries.map(|(n, line)| serde_json::from_str(line).map_err(|error| UnreadableLine { line: n, why: error.to_string() }));
        Ok(Self { stamp, entries: entries.collect::<Result<_, _>>()? })
    }
}
