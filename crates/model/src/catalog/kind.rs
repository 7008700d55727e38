//! Kinds of parameter values. Scorers compare values by kind, worlds build calldata from it, and schemas inherit its bounds.

use super::kind_error::KindError;
use super::roles::{AddressRole, ChainRole, DurationUnit, IdKind, RangeBound, TokenRole};
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParamKind {
    Address(AddressRole),
    /// Symbol or address. The role is its side of the action.
    Token(Option<TokenRole>),
    Chain(Option<ChainRole>),
    Amount {
        unit: AmountUnit,
        of: Option<AmountAsset>,
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
    /// Number without a unit.
    Number,
    Id(IdKind),
    Flag,
    Enum,
    Text,
    Data,
    Url,
    Object,
    List(Box<ParamKind>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountUnit {
    Human,
    Base,
    Usd,
    Shares,
}

/// Asset of an amount: named by another parameter, or a fixed symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AmountAsset {
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
    "number",
    "id",
    "flag",
    "enum",
    "text",
    "data",
    "url",
    "object",
    "list",
];

impl ParamKind {
    /// Returns whether a world file may declare objects of this kind: an id kind or an address role.
    pub fn is_object_kind(word: &str) -> bool {
        IdKind::parse(word).is_some() || AddressRole::parse(word).is_some()
    }

    /// Returns the unit and the asset of an amount.
    pub fn amount(&self) -> Option<(AmountUnit, Option<&AmountAsset>)> {
        if let ParamKind::Amount { unit, of } = self { Some((*unit, of.as_ref())) } else { None }
    }

    /// Returns the role of an address, or of each address in a list.
    pub fn address_role(&self) -> Option<AddressRole> {
        if let ParamKind::List(item) = self {
            return item.address_role();
        }
        if let ParamKind::Address(role) = self { Some(*role) } else { None }
    }
}

impl FromStr for ParamKind {
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
            Some(_) => Err(KindError::TakesNoArgument(head.to_owned())),
        };
        match head {
            "address" => parse_required_role(head, inner, AddressRole::ALL).map(ParamKind::Address),
            "token" => parse_optional_role(head, inner, TokenRole::ALL).map(ParamKind::Token),
            "chain" => parse_optional_role(head, inner, ChainRole::ALL).map(ParamKind::Chain),
            "amount" => parse_amount(inner.ok_or(KindError::NoUnit)?),
            "bps" => bare(ParamKind::Bps),
            "percent" => bare(ParamKind::Percent),
            "ratio" => bare(ParamKind::Ratio),
            "price" => parse_optional_role(head, inner, RangeBound::ALL).map(ParamKind::Price),
            "tick" => parse_optional_role(head, inner, RangeBound::ALL).map(ParamKind::Tick),
            "fee_tier" => bare(ParamKind::FeeTier),
            "deadline" => bare(ParamKind::Deadline),
            "duration" => parse_required_role(head, inner, DurationUnit::ALL).map(ParamKind::Duration),
            "timestamp" => bare(ParamKind::Timestamp),
            "count" => bare(ParamKind::Count),
            "number" => bare(ParamKind::Number),
            "id" => parse_required_role(head, inner, IdKind::ALL).map(ParamKind::Id),
            "flag" => bare(ParamKind::Flag),
            "enum" => bare(ParamKind::Enum),
            "text" => bare(ParamKind::Text),
            "data" => bare(ParamKind::Data),
            "url" => bare(ParamKind::Url),
            "object" => bare(ParamKind::Object),
            "list" => {
                let inner = inner.ok_or(KindError::NoItem)?;
                if inner.starts_with("list") {
                    return Err(KindError::NestedList);
                }
                inner.parse().map(|kind| ParamKind::List(Box::new(kind)))
            }
            _ => Err(KindError::Unknown { head: head.to_owned(), heads: HEADS.to_vec() }),
        }
    }
}

fn parse_amount(inner: &str) -> Result<ParamKind, KindError> {
    let (unit, of) = match inner.split_once(" of ") {
        Some((unit, of)) => (unit.trim(), Some(of.trim())),
        None => (inner, None),
    };
    let unit = match unit {
        "human" => AmountUnit::Human,
        "base" => AmountUnit::Base,
        "usd" => AmountUnit::Usd,
        "shares" => AmountUnit::Shares,
        _ => return Err(KindError::UnknownUnit { unit: unit.to_owned(), units: vec!["human", "base", "usd", "shares"] }),
    };
    let of = of.map(|of| {
        if of.chars().next().is_some_and(|c| c.is_ascii_uppercase()) {
            AmountAsset::Symbol(of.to_owned())
        } else {
            AmountAsset::Param(of.to_owned())
        }
    });
    Ok(ParamKind::Amount { unit, of })
}

fn parse_required_role<T: Copy>(head: &str, inner: Option<&str>, roles: &[(&'static str, T)]) -> Result<T, KindError> {
    parse_optional_role(head, inner, roles)?.ok_or_else(|| KindError::NoRole { head: head.to_owned(), roles: role_words(roles) })
}

fn parse_optional_role<T: Copy>(head: &str, inner: Option<&str>, roles: &[(&'static str, T)]) -> Result<Option<T>, KindError> {
    let Some(word) = inner else { return Ok(None) };
    let found = roles.iter().find(|(text, _)| *text == word).map(|(_, role)| *role);
    let unknown = || KindError::UnknownRole { head: head.to_owned(), role: word.to_owned(), roles: role_words(roles) };
    found.map(Some).ok_or_else(unknown)
}

fn role_words<T>(roles: &[(&'static str, T)]) -> Vec<&'static str> {
    roles.iter().map(|(text, _)| *text).collect()
}

impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamKind::Address(role) => write!(f, "address({role})"),
            ParamKind::Token(role) => write_head(f, "token", role),
            ParamKind::Chain(role) => write_head(f, "chain", role),
            ParamKind::Amount { unit, of } => {
                let unit = match unit {
                    AmountUnit::Human => "human",
                    AmountUnit::Base => "base",
                    AmountUnit::Usd => "usd",
                    AmountUnit::Shares => "shares",
                };
                match of {
                    Some(AmountAsset::Param(of) | AmountAsset::Symbol(of)) => write!(f, "amount({unit} of {of})"),
                    None => write!(f, "amount({unit})"),
                }
            }
            ParamKind::Bps => f.write_str("bps"),
            ParamKind::Percent => f.write_str("percent"),
            ParamKind::Ratio => f.write_str("ratio"),
            ParamKind::Price(bound) => write_head(f, "price", bound),
            ParamKind::Tick(bound) => write_head(f, "tick", bound),
            ParamKind::FeeTier => f.write_str("fee_tier"),
            ParamKind::Deadline => f.write_str("deadline"),
            ParamKind::Duration(unit) => write!(f, "duration({unit})"),
            ParamKind::Timestamp => f.write_str("timestamp"),
            ParamKind::Count => f.write_str("count"),
            ParamKind::Number => f.write_str("number"),
            ParamKind::Id(what) => write!(f, "id({what})"),
            ParamKind::Flag => f.write_str("flag"),
            ParamKind::Enum => f.write_str("enum"),
            ParamKind::Text => f.write_str("text"),
            ParamKind::Data => f.write_str("data"),
            ParamKind::Url => f.write_str("url"),
            ParamKind::Object => f.write_str("object"),
            ParamKind::List(item) => write!(f, "list({item})"),
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
            "number",
            "list(number)",
        ] {
            assert_eq!(text.parse::<ParamKind>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn kind_error_suggests_the_intended_kind() {
        let remedy = |text: &str| text.parse::<ParamKind>().unwrap_err().remedy();
        assert_eq!(remedy("adress(recipient)"), "did you mean \"address\"?");
        assert_eq!(remedy("address(recipent)"), "did you mean \"recipient\"?");
        assert_eq!(remedy("amount(wei)"), "one of: human, base, usd, shares");
        assert!("bps(3)".parse::<ParamKind>().is_err());
        assert!("list(list(token))".parse::<ParamKind>().is_err());
        assert!("token(in".parse::<ParamKind>().is_err());
    }
}
