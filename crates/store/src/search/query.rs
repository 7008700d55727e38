//! Questions to the index.

use super::SearchIndex;
use super::words::{MarkKind, mark, words};
use crate::StoreError;
use rusqlite::params;

/// Words of a question; the rest is ignored.
const MAX_TERMS: usize = 20;

/// Place of a trial in the index: its run, and its position in the plan. Newer runs have larger places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SearchPosition {
    pub run: i64,
    pub n: u64,
}

/// Bits of a document number for the position in the plan.
const POSITION_BITS: u32 = 32;
const MAX_POSITION: u64 = (1 << POSITION_BITS) - 1;
const MAX_RUN: i64 = (1 << 30) - 1;

impl SearchPosition {
    pub fn first_of(run: i64) -> Self {
        Self { run, n: 0 }
    }

    pub fn last_of(run: i64) -> Self {
        Self { run, n: MAX_POSITION }
    }

    /// Returns the number of the document.
    pub fn doc(self) -> i64 {
        (self.run.clamp(0, MAX_RUN) << POSITION_BITS) | i64::try_from(self.n.min(MAX_POSITION)).unwrap_or(i64::MAX)
    }

    pub fn of_doc(doc: i64) -> Self {
        Self { run: doc >> POSITION_BITS, n: u64::try_from(doc).unwrap_or_default() & MAX_POSITION }
    }
}

/// Conditions that the index decides. Empty texts select all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchTerms {
    /// Words that must all occur. A star at the end of a word stands for any end.
    pub text: String,
    /// Tool that was called.
    pub tool: String,
    /// Scorer with a miss.
    pub scorer: String,
}

impl SearchTerms {
    /// Returns whether there is anything to look for.
    pub fn is_empty(&self) -> bool {
        self.expression().is_empty()
    }

    /// Returns the lower-case words of the text, without stars.
    pub fn words(&self) -> Vec<String> {
        words(&self.text)
    }

    /// Returns the expression of the full-text query. Words consist of letters and digits, so they need no escaping.
    fn expression(&self) -> String {
        let mut terms = vec![];
        for part in self.text.split_whitespace() {
            let found = words(part);
            let is_prefix = part.ends_with('*');
            let last = found.len().saturating_sub(1);
            terms.extend(
                found
                    .into_iter()
                    .enumerate()
                    .map(|(n, word)| if is_prefix && n == last { format!("\"{word}\"*") } else { format!("\"{word}\"") }),
            );
        }
        terms.truncate(MAX_TERMS);
        let marks = [(MarkKind::Tool, &self.tool), (MarkKind::MissedScorer, &self.scorer)];
        terms.extend(marks.into_iter().filter(|(_, name)| !name.is_empty()).map(|(kind, name)| format!("\"{}\"", mark(kind, name))));
        terms.join(" AND ")
    }
}

impl SearchIndex {
    /// Returns up to `most` positions of a run from `from` on, in plan order.
    pub fn find_in_run(&self, terms: &SearchTerms, run: i64, from: u64, most: usize) -> Result<Vec<u64>, StoreError> {
        let sql = "SELECT rowid FROM words WHERE words MATCH ?1 AND rowid >= ?2 AND rowid <= ?3 ORDER BY rowid LIMIT ?4";
        let (first, last) = (SearchPosition { run, n: from }, SearchPosition::last_of(run));
        Ok(self.find(sql, terms, (first, last), most)?.into_iter().map(|at| at.n).collect())
    }

    /// Returns up to `most` positions before `before`, the last one first; all positions if there is nothing to look for.
    pub fn find_before(&self, terms: &SearchTerms, before: Option<SearchPosition>, most: usize) -> Result<Vec<SearchPosition>, StoreError> {
        let end = before.unwrap_or(SearchPosition::last_of(MAX_RUN));
        if terms.is_empty() {
            let mut rows = self.connection.prepare_cached("SELECT doc FROM docs WHERE doc < ?1 ORDER BY doc DESC LIMIT ?2")?;
            let rows =
                rows.query_map(params![end.doc(), i64::try_from(most).unwrap_or(i64::MAX)], |row| Ok(SearchPosition::of_doc(row.get(0)?)))?;
            return Ok(rows.collect::<Result<_, _>>()?);
        }
        let sql = "SELECT rowid FROM words WHERE words MATCH ?1 AND rowid >= ?2 AND rowid < ?3 ORDER BY rowid DESC LIMIT ?4";
        self.find(sql, terms, (SearchPosition::first_of(0), end), most)
    }

    fn find(
        &self,
        sql: &str,
        terms: &SearchTerms,
        (first, last): (SearchPosition, SearchPosition),
        most: usize,
    ) -> Result<Vec<SearchPosition>, StoreError> {
        let expression = terms.expression();
        if expression.is_empty() {
            return Ok(vec![]);
        }
        let mut rows = self.connection.prepare_cached(sql)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = rows.query_map(params![expression, first.doc(), last.doc(), most], |row| Ok(SearchPosition::of_doc(row.get(0)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
