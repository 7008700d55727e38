//! Cursor over the text of a small language, with errors by column.

use super::RuleError;

/// Text and read position. Rules and state predicates add their grammar in their own files.
pub(crate) struct TextParser<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
}

impl<'t> TextParser<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn word(&mut self) -> Result<&'t str, RuleError> {
        self.skip_space();
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c))).unwrap_or(rest.len());
        if length == 0 {
            return self.fail("expected a name");
        }
        self.at += length;
        Ok(&rest[..length])
    }

    pub(crate) fn expect(&mut self, wanted: char) -> Result<(), RuleError> {
        self.skip_space();
        if !self.rest().starts_with(wanted) {
            return self.fail(format!("expected \"{wanted}\""));
        }
        self.at += wanted.len_utf8();
        Ok(())
    }

    pub(crate) fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    pub(crate) fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(crate) fn fail<T>(&self, what: impl Into<String>) -> Result<T, RuleError> {
        Err(RuleError { column: self.at + 1, what: what.into() })
    }
}
