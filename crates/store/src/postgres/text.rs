//! Values of rows. PostgreSQL refuses the character NUL in a text, so it is stored escaped: U+0001 introduces an escape, `0` means NUL and
//! `1` means U+0001 itself. All other texts are stored as they are.

use super::fault::PgFault;
use crate::StoreError;
use std::borrow::Cow;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

const ESCAPE: char = '\u{1}';

/// Returns a text as it is stored.
pub(crate) fn encode(text: &str) -> String {
    if !text.contains(['\0', ESCAPE]) {
        return text.to_owned();
    }
    let mut encoded = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0' => encoded.extend([ESCAPE, '0']),
            ESCAPE => encoded.extend([ESCAPE, '1']),
            other => encoded.push(other),
        }
    }
    encoded
}

/// Returns the text that was stored.
pub(super) fn decode(stored: &str) -> Cow<'_, str> {
    if !stored.contains(ESCAPE) {
        return Cow::Borrowed(stored);
    }
    let mut decoded = String::with_capacity(stored.len());
    let mut chars = stored.chars();
    while let Some(c) = chars.next() {
        match c {
            ESCAPE => decoded.push(if chars.next() == Some('0') { '\0' } else { ESCAPE }),
            other => decoded.push(other),
        }
    }
    Cow::Owned(decoded)
}

/// Reads a column.
pub(crate) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, StoreError> {
    Ok(row.try_get(column).map_err(PgFault::from)?)
}

pub(crate) fn get_text(row: &Row, column: usize) -> Result<String, StoreError> {
    Ok(decode(get(row, column)?).into_owned())
}

pub(crate) fn get_optional_text(row: &Row, column: usize) -> Result<Option<String>, StoreError> {
    Ok(get::<Option<&str>>(row, column)?.map(|text| decode(text).into_owned()))
}

/// Reads a number that is never negative.
pub(crate) fn get_count(row: &Row, column: usize) -> Result<u64, StoreError> {
    let number: i64 = get(row, column)?;
    u64::try_from(number).map_err(|error| StoreError::unreadable(&format!("column {column}"), &error))
}

/// Returns a number as it is stored.
///
/// # Errors
/// If it is beyond the numbers of a database.
pub(crate) fn number(n: u64) -> Result<i64, StoreError> {
    i64::try_from(n).map_err(|_| StoreError::Journal(format!("{n} is too large to be stored")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_stored_without_nul_and_read_back() {
        for text in ["", "plain", "\0", "\u{1}", "\u{1}0", "\0\u{1}1\0", "a\0b", "\u{1}\u{1}", "ключ \u{10ffff}\u{fffd}"] {
            let stored = encode(text);
            assert!(!stored.contains('\0'));
            assert_eq!(decode(&stored), text);
        }
        assert!(matches!(decode("plain"), Cow::Borrowed(_)));
    }
}
