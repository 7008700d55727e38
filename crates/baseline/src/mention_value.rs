//! Values that a message can mention.

use model::Decimal;

/// A typed value of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MentionValue {
    Number(Decimal),
    Dollars(Decimal),
    /// Basis points.
    Share(Decimal),
    /// "3x".
    Times(Decimal),
    /// A part of what there is, in basis points: half, a quarter.
    Part(Decimal),
    /// Everything there is.
    All,
    /// Seconds, and how it was written.
    Span {
        seconds: u64,
        text: String,
    },
    /// ISO date.
    Date(String),
    Token(String),
    Chain(u64),
    Address(String),
    /// Hex of another length: hashes, market ids, calldata.
    Hex(String),
    /// A name with figures in it, such as `8453:1842`.
    Id(String),
    Url(String),
}
