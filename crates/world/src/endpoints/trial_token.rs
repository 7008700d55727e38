//! Secret token that authenticates the requests of a trial.

use std::fmt;

use alloy_primitives::{B256, hex, keccak256};

/// Token of one trial. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct TrialToken(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("a token must have 32 to 128 letters, digits, - or _")]
    Unfit,
    #[error("the system has no random bytes: {0}")]
    NoRandomness(String),
}

impl TrialToken {
    /// Creates a token of 256 random bits.
    pub fn random() -> Result<Self, TokenError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| TokenError::NoRandomness(error.to_string()))?;
        Ok(Self(hex::encode(bytes)))
    }

    /// Parses a token chosen by the caller, who is responsible for its randomness.
    pub fn from_text(text: &str) -> Result<Self, TokenError> {
        let valid = (32..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if valid { Ok(Self(text.to_owned())) } else { Err(TokenError::Unfit) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Digest for lookup and comparison, so that timing reveals nothing about the token.
    pub(super) fn digest(text: &str) -> B256 {
        keccak256(text.as_bytes())
    }
}

impl fmt::Debug for TrialToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenError, TrialToken};

    #[test]
    fn random_tokens_differ_and_debug_hides_them() {
        let (one, other) = (TrialToken::random().unwrap(), TrialToken::random().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.as_str().len(), 64);
        assert!(!format!("{one:?}").contains(one.as_str()));
    }

    #[test]
    fn from_text_rejects_short_or_odd_tokens() {
        assert!(TrialToken::from_text(&"a-Z_0".repeat(8)).is_ok());
        for bad in ["", "short", &"a".repeat(31), &"a".repeat(129), &"a/b ".repeat(10), &"ä".repeat(40)] {
            assert_eq!(TrialToken::from_text(bad), Err(TokenError::Unfit), "{bad}");
        }
    }
}
