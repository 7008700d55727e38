//! Words of suggested commands.

/// Quotes a word if a shell would split or change it.
pub(crate) fn shell_quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| format!("{word:?}"), std::borrow::Cow::into_owned)
}
