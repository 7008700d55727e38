//! API key of a vendor: read from the environment by the CLI, sent in one header, never displayed.

use crate::secrets::{MIN_SECRET_LEN, REDACTED};
use model::ContentHash;
use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Creates a key. Returns `None` if the text is too short or not valid in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = text.len() >= MIN_SECRET_LEN && text.chars().all(|c| c.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// Returns a name for the key that does not reveal it.
    pub(super) fn fingerprint(&self) -> String {
        ContentHash::of_text(&format!("key of a vendor: {}", self.0)).short().to_owned()
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_key_is_redacted_in_debug() {
        assert_eq!(format!("{:?}", ApiKey::new("not-a-real\"key\n").unwrap()), "[secret]");
    }

    #[test]
    fn api_key_new_rejects_invalid_text() {
        assert!(["", "   ", "short", "with space in it", "with\nline"].iter().all(|text| ApiKey::new(text).is_none()));
    }
}
