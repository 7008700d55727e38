//! What proves that a request belongs to a trial: 256 bits nobody can guess.

use std::fmt;

use alloy_primitives::{B256, hex, keccak256};

/// Known to one trial only. Never shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    #[error("a token has 32 to 128 letters, digits, - or _")]
    Unfit,
    #[error("the system gave no random bytes: {0}")]
    NoRandomness(String),
}

impl Token {
    pub fn random() -> Result<Self, BadToken> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| BadToken::NoRandomness(error.to_string()))?;
        Ok(Self(hex::encode(bytes)))
    }

    /// A token of the caller's choice; whoever chooses answers for its randomness.
    pub fn given(text: &str) -> Result<Self, BadToken> {
        let fits = (32..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if fits { Ok(Self(text.to_owned())) } else { Err(BadToken::Unfit) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tokens are looked up and compared by this: how long that takes says nothing about the token.
    pub(super) fn digest(text: &str) -> B256 {
        keccak256(text.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::{BadToken, Token};

    #[test]
    fn random_tokens_differ_and_stay_hidden() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.as_str().len(), 64);
        assert!(!format!("{one:?}").contains(one.as_str()));
    }

    #[test]
    fn given_tokens_must_be_long_and_plain() {
        assert!(Token::given(&"a-Z_0".repeat(8)).is_ok());
        for bad in ["", "short", &"a".repeat(31), &"a".repeat(129), &"a/b ".repeat(10), &"ä".repeat(40)] {
            assert_eq!(Token::given(bad), Err(BadToken::Unfit), "{bad}");
        }
    }
}
