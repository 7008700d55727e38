//! Access rules: clients on this machine, or holders of a token over TLS.

use sha2::{Digest, Sha256};
use std::fmt;
use std::net::SocketAddr;

/// Fewest characters of a token.
const MIN_TOKEN: usize = 16;

/// Token of clients. Only its hash is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken {
    hash: [u8; 32],
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken")
    }
}

/// Address that may not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    #[error("{0} can be reached from other machines, which needs TLS")]
    NoTls(SocketAddr),
    #[error("{0} can be reached from other machines, which needs a bearer token")]
    NoToken(SocketAddr),
    #[error("the bearer token has fewer than {MIN_TOKEN} characters")]
    ShortToken,
}

impl AccessError {
    /// Returns advice for the user.
    pub fn remedy(&self) -> &'static str {
        match self {
            AccessError::NoTls(_) => "name --tls-cert and --tls-key, or listen on 127.0.0.1",
            AccessError::NoToken(_) => "set BARDO_EVAL_COLLECT_TOKEN, or listen on 127.0.0.1",
            AccessError::ShortToken => "use a random one, such as the output of `openssl rand -hex 32`",
        }
    }
}

impl BearerToken {
    /// # Errors
    ///
    /// Fails if the token is too short.
    pub fn new(token: &str) -> Result<Self, AccessError> {
        if token.len() < MIN_TOKEN {
            return Err(AccessError::ShortToken);
        }
        Ok(Self { hash: Sha256::digest(token.as_bytes()).into() })
    }

    /// Compares hashes, so that the time tells nothing about the token.
    pub(super) fn matches(&self, header: Option<&str>) -> bool {
        let given = header.and_then(|header| header.strip_prefix("Bearer ").or_else(|| header.strip_prefix("bearer ")));
        given.is_some_and(|given| <[u8; 32]>::from(Sha256::digest(given.trim().as_bytes())) == self.hash)
    }
}

/// Rules of one collector.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    pub token: Option<BearerToken>,
    pub has_tls: bool,
}

impl Access {
    /// # Errors
    ///
    /// Fails if other machines could reach the address without TLS or without a token.
    pub fn check(&self, at: SocketAddr) -> Result<(), AccessError> {
        if at.ip().is_loopback() {
            return Ok(());
        }
        match (self.has_tls, &self.token) {
            (false, _) => Err(AccessError::NoTls(at)),
            (true, None) => Err(AccessError::NoToken(at)),
            (true, Some(_)) => Ok(()),
        }
    }

    pub(super) fn allows(&self, authorization: Option<&str>) -> bool {
        self.token.as_ref().is_none_or(|token| token.matches(authorization))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_need_tls_and_a_token() {
        let token = BearerToken::new("0123456789abcdef").unwrap();
        let (inside, outside): (SocketAddr, SocketAddr) = ("127.0.0.1:4318".parse().unwrap(), "0.0.0.0:4318".parse().unwrap());
        let access = |token: Option<&BearerToken>, has_tls| Access { token: token.cloned(), has_tls };
        assert_eq!(access(None, false).check(inside), Ok(()));
        assert_eq!(access(None, false).check(outside), Err(AccessError::NoTls(outside)));
        assert_eq!(access(Some(&token), false).check(outside), Err(AccessError::NoTls(outside)));
        assert_eq!(access(None, true).check(outside), Err(AccessError::NoToken(outside)));
        assert_eq!(access(Some(&token), true).check(outside), Ok(()));
        assert_eq!(BearerToken::new("short"), Err(AccessError::ShortToken));
    }

    #[test]
    fn only_the_token_opens() {
        let access = Access { token: Some(BearerToken::new("0123456789abcdef").unwrap()), has_tls: false };
        assert!(access.allows(Some("Bearer 0123456789abcdef")));
        for wrong in [None, Some(""), Some("0123456789abcdef"), Some("Bearer 0123456789abcdeF"), Some("Basic 0123456789abcdef")] {
            assert!(!access.allows(wrong), "{wrong:?}");
        }
        assert!(Access::default().allows(None));
    }
}
