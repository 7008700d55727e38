//! Values that a message can mention.

use model::Decimal;

/// Typed value in a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MentionValue {
    Number(Decimal),
    Dollars(Decimal),
    /// Basis points.
    BasisPoints(Decimal),
    /// Multiple such as "3x".
    Multiple(Decimal),
    /// Part of the available amount in basis points: half, a quarter.
    Fraction(Decimal),
    /// Whole available amount.
    All,
    /// Duration in seconds, with a short text form such as "24h".
    Duration {
        seconds: u64,
        text: String,
    },
    /// ISO date.
    Date(String),
    Token(String),
    Chain(u64),
    Address(String),
    /// Hex that is not an address: hashes, market ids, calldata.
    Hex(String),
    /// Identifier that contains digits, such as `8453:1842`.
    Id(String),
    Url(String),
}
