//! Kind of value that a parameter holds. Scorers compare by kind, worlds build calldata by kind, schemas inherit its natural bounds.

use super::kind_error::KindError;
use super::roles::{AddressRole, ChainRole, DurationUnit, IdKind, RangeBound, TokenRole};
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Address(AddressRole),
    /// Symbol or address; the role says which side of the action it is on.
    Token(Option<TokenRole>),
    Chain(Option<ChainRole>),
    Amount {
        unit: Unit,
        of: Option<AmountOf>,
    },
    Bps,
    Percent,
    Ratio,
    Price(Option<RangeBound>),
    Tick(Option<RangeBound>),
    FeeTier,
    Deadline,
    Duration(DurationUnit),
    Timestamp,
    Count,
    Id(IdKind),
    Flag,
    Enum,
    Text,
    Data,
    Url,
    Object,
    List(Box<Kind>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Human,
    Base,
    Usd,
    Shares,
}

/// Which asset an amount counts: the one another parameter names, or a fixed symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AmountOf {
    Param(String),
    Symbol(String),
}

const HEADS: &[&str] = &[
    "address",
    "token",
    "chain",
    "amount",
    "bps",
    "percent",
    "ratio",
    "price",
    "tick",
    "fee_tier",
    "deadline",
    "duration",
    "timestamp",
    "count",
    "id",
    "flag",
    "enum",
    "text",
    "data",
    "url",
    "object",
    "list",
];

impl Kind {
    /// Returns whether a world file may declare things of this word: an id kind or an address role.
    pub fn names_things(word: &str) -> bool {
        IdKind::parse(word).is_some() || AddressRole::parse(word).is_some()
    }

    /// What an amount is counted in, and of what.
    pub fn amount(&self) -> Option<(Unit, Option<&AmountOf>)> {
        if let Kind::Amount { unit, of } = self { Some((*unit, of.as_ref())) } else { None }
    }

    /// Returns the role of an address, or of each address in a list.
    pub fn address_role(&self) -> Option<AddressRole> {
        if let Kind::List(item) = self {
            return item.address_role();
        }
        if let Kind::Address(role) = self { Some(*role) } else { None }
    }
}

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        let text = text.trim();
        let (head, inner) = match text.split_once('(') {
            None => (text, None),
            Some((head, rest)) => {
                let inner = rest.strip_suffix(')').ok_or_else(|| KindError::Unclosed(text.to_owned()))?;
                (head.trim(), Some(inner.trim()))
            }
        };
        let bare = |kind| match inner {
            None => Ok(kind),
            Some(_) => Err(KindError::NoneTaken(head.to_owned())),
        };
        match head {
            "address" => needed(head, inner, AddressRole::ALL).map(Kind::Address),
            "token" => optional(head, inner, TokenRole::ALL).map(Kind::Token),
            "chain" => optional(head, inner, ChainRole::ALL).map(Kind::Chain),
            "amount" => amount(inner.ok_or(KindError::NoUnit)?),
            "bps" => bare(Kind::Bps),
            "percent" => bare(Kind::Percent),
            "ratio" => bare(Kind::Ratio),
            "price" => optional(head, inner, RangeBound::ALL).map(Kind::Price),
            "tick" => optional(head, inner, RangeBound::ALL).map(Kind::Tick),
            "fee_tier" => bare(Kind::FeeTier),
            "deadline" => bare(Kind::Deadline),
            "duration" => needed(head, inner, DurationUnit::ALL).map(Kind::Duration),
            "timestamp" => bare(Kind::Timestamp),
            "count" => bare(Kind::Count),
            "id" => needed(head, inner, IdKind::ALL).map(Kind::Id),
            "flag" => bare(Kind::Flag),
            "enum" => bare(Kind::Enum),
            "text" => bare(Kind::Text),
            "data" => bare(Kind::Data),
            "url" => bare(Kind::Url),
            "object" => bare(Kind::Object),
            "list" => {
                let inner = inner.ok_or(KindError::NoItem)?;
                if inner.starts_with("list") {
                    return Err(KindError::NestedList);
                }
                inner.parse().map(|kind| Kind::List(Box::new(kind)))
            }
            _ => Err(KindError::Unknown { head: head.to_owned(), heads: HEADS.to_vec() }),
        }
    }
}

fn amount(inner: &str) -> Result<Kind, KindError> {
    let (unit, of) = match inner.split_once(" of ") {
        Some((unit, of)) => (unit.trim(), Some(of.trim())),
        None => (inner, None),
    };
    let unit = match unit {
        "human" => Unit::Human,
        "base" => Unit::Base,
        "usd" => Unit::Usd,
        "shares" => Unit::Shares,
        _ => return Err(KindError::UnknownUnit { unit: unit.to_owned(), units: vec!["human", "base", "usd", "shares"] }),
    };
    let of = of.map(|of| {
        if of.chars().next().is_some_and(|c| c.is_ascii_uppercase()) {
            AmountOf::Symbol(of.to_owned())
        } else {
            AmountOf::Param(of.to_owned())
        }
    });
    Ok(Kind::Amount { unit, of })
}

fn needed<T: Copy>(head: &str, inner: Option<&str>, roles: &[(&'static str, T)]) -> Result<T, KindError> {
    optional(head, inner, roles)?.ok_or_else(|| KindError::NoRole { head: head.to_owned(), roles: texts(roles) })
}

fn optional<T: Copy>(head: &str, inner: Option<&str>, roles: &[(&'static str, T)]) -> Result<Option<T>, KindError> {
    let Some(word) = inner else { return Ok(None) };
    let found = roles.iter().find(|(text, _)| *text == word).map(|(_, role)| *role);
    let unknown = || KindError::UnknownRole { head: head.to_owned(), role: word.to_owned(), roles: texts(roles) };
    found.map(Some).ok_or_else(unknown)
}

fn texts<T>(roles: &[(&'static str, T)]) -> Vec<&'static str> {
    roles.iter().map(|(text, _)| *text).collect()
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Address(role) => write!(f, "address({role})"),
            Kind::Token(role) => write_head(f, "token", role),
            Kind::Chain(role) => write_head(f, "chain", role),
            Kind::Amount { unit, of } => {
                let unit = match unit {
                    Unit::Human => "human",
                    Unit::Base => "base",
                    Unit::Usd => "usd",
                    Unit::Shares => "shares",
                };
                match of {
                    Some(AmountOf::Param(of) | AmountOf::Symbol(of)) => write!(f, "amount({unit} of {of})"),
                    None => write!(f, "amount({unit})"),
                }
            }
            Kind::Bps => f.write_str("bps"),
            Kind::Percent => f.write_str("percent"),
            Kind::Ratio => f.write_str("ratio"),
            Kind::Price(bound) => write_head(f, "price", bound),
            Kind::Tick(bound) => write_head(f, "tick", bound),
            Kind::FeeTier => f.write_str("fee_tier"),
            Kind::Deadline => f.write_str("deadline"),
            Kind::Duration(unit) => write!(f, "duration({unit})"),
            Kind::Timestamp => f.write_str("timestamp"),
            Kind::Count => f.write_str("count"),
            Kind::Id(what) => write!(f, "id({what})"),
            Kind::Flag => f.write_str("flag"),
            Kind::Enum => f.write_str("enum"),
            Kind::Text => f.write_str("text"),
            Kind::Data => f.write_str("data"),
            Kind::Url => f.write_str("url"),
            Kind::Object => f.write_str("object"),
            Kind::List(item) => write!(f, "list({item})"),
        }
    }
}

fn write_head(f: &mut fmt::Formatter<'_>, head: &str, role: &Option<impl fmt::Display>) -> fmt::Result {
    match role {
        Some(role) => write!(f, "{head}({role})"),
        None => f.write_str(head),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_read_back_as_written() {
        for text in [
            "address(recipient)",
            "token",
            "token(in)",
            "chain(source)",
            "amount(human of token_in)",
            "amount(base of ETH)",
            "amount(usd)",
            "price(lower)",
            "duration(text)",
            "id(action)",
            "list(amount(base))",
            "fee_tier",
        ] {
            assert_eq!(text.parse::<Kind>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_wrong_kind_says_what_was_meant() {
        let remedy = |text: &str| text.parse::<Kind>().unwrap_err().remedy();
        assert_eq!(remedy("adress(recipient)"), "did you mean \"address\"?");
        assert_eq!(remedy("address(recipent)"), "did you mean \"recipient\"?");
        assert_eq!(remedy("amount(wei)"), "one of: human, base, usd, shares");
        assert!("bps(3)".parse::<Kind>().is_err());
        assert!("list(list(token))".parse::<Kind>().is_err());
        assert!("token(in".parse::<Kind>().is_err());
    }
}
