//! What kind of thing a parameter holds. Scorers compare by kind, worlds build calldata by kind, schemas inherit its natural bounds.

use crate::problem::did_you_mean;
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Address(String),
    /// Symbol or address; the role says which side of the action it is on.
    Token(Option<String>),
    Chain(Option<String>),
    Amount {
        unit: Unit,
        of: Option<AmountOf>,
    },
    Bps,
    Percent,
    Ratio,
    Price(Option<String>),
    Tick(Option<String>),
    FeeTier,
    Deadline,
    Duration(String),
    Timestamp,
    Count,
    Id(String),
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

const ADDRESS_ROLES: &[&str] = &[
    "recipient",
    "spender",
    "wallet",
    "owner",
    "pool",
    "vault",
    "token",
    "contract",
    "market",
    "agent",
    "operator",
    "executor",
    "hook",
    "router",
    "borrower",
];
const TOKEN_ROLES: &[&str] = &["in", "out", "asset", "collateral", "debt", "a", "b"];
const CHAIN_ROLES: &[&str] = &["source", "destination"];
const BOUNDS: &[&str] = &["lower", "upper"];
const DURATIONS: &[&str] = &["s", "ms", "h", "d", "text"];
const IDS: &[&str] = &[
    "position",
    "order",
    "action",
    "bridge",
    "bid",
    "market",
    "agent",
    "request",
    "announcement",
    "transaction",
    "subscription",
    "alert",
    "key",
    "episode",
    "insight",
    "execution",
    "golem",
    "pool",
    "vault",
    "job",
    "option",
    "withdrawal",
    "artifact",
    "permit",
];
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
    /// Whether things of a world can be called by this word: the name of an id, or the role of an address.
    pub fn names_things(word: &str) -> bool {
        IDS.contains(&word) || ADDRESS_ROLES.contains(&word)
    }

    /// What an amount is counted in, and of what.
    pub fn amount(&self) -> Option<(Unit, Option<&AmountOf>)> {
        if let Kind::Amount { unit, of } = self { Some((*unit, of.as_ref())) } else { None }
    }

    /// What an address, or each of a list of them, is for.
    pub fn address_role(&self) -> Option<&str> {
        if let Kind::List(item) = self {
            return item.address_role();
        }
        if let Kind::Address(role) = self { Some(role) } else { None }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (head, inner) = match text.split_once('(') {
            None => (text, None),
            Some((head, rest)) => {
                let inner = rest.strip_suffix(')').ok_or_else(|| format!("\"{text}\" lacks its closing parenthesis"))?;
                (head.trim(), Some(inner.trim()))
            }
        };
        let optional = |known| inner.map(|role| word(head, role, known)).transpose();
        let needed = |known| {
            inner.ok_or_else(|| format!("\"{head}\" needs one of ({})", known_words(known))).and_then(|role| word(head, role, known))
        };
        let bare = |kind| match inner {
            None => Ok(kind),
            Some(_) => Err(format!("\"{head}\" takes nothing in parentheses")),
        };
        match head {
            "address" => needed(ADDRESS_ROLES).map(Kind::Address),
            "token" => optional(TOKEN_ROLES).map(Kind::Token),
            "chain" => optional(CHAIN_ROLES).map(Kind::Chain),
            "amount" => amount(inner.ok_or("\"amount\" needs a unit: amount(human of token)")?),
            "bps" => bare(Kind::Bps),
            "percent" => bare(Kind::Percent),
            "ratio" => bare(Kind::Ratio),
            "price" => optional(BOUNDS).map(Kind::Price),
            "tick" => optional(BOUNDS).map(Kind::Tick),
            "fee_tier" => bare(Kind::FeeTier),
            "deadline" => bare(Kind::Deadline),
            "duration" => needed(DURATIONS).map(Kind::Duration),
            "timestamp" => bare(Kind::Timestamp),
            "count" => bare(Kind::Count),
            "id" => needed(IDS).map(Kind::Id),
            "flag" => bare(Kind::Flag),
            "enum" => bare(Kind::Enum),
            "text" => bare(Kind::Text),
            "data" => bare(Kind::Data),
            "url" => bare(Kind::Url),
            "object" => bare(Kind::Object),
            "list" => {
                let inner = inner.ok_or("\"list\" needs the kind of its items: list(token)")?;
                if inner.starts_with("list") {
                    return Err("a list of lists is not a kind; use object".into());
                }
                inner.parse().map(|kind| Kind::List(Box::new(kind)))
            }
            _ => Err(format!("\"{head}\" is not a kind; {}", guess(head, HEADS))),
        }
    }
}

fn amount(inner: &str) -> Result<Kind, String> {
    let (unit, of) = match inner.split_once(" of ") {
        Some((unit, of)) => (unit.trim(), Some(of.trim())),
        None => (inner, None),
    };
    let unit = match unit {
        "human" => Unit::Human,
        "base" => Unit::Base,
        "usd" => Unit::Usd,
        "shares" => Unit::Shares,
        _ => return Err(format!("\"{unit}\" is not a unit of amounts; {}", guess(unit, &["human", "base", "usd", "shares"]))),
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

fn word(head: &str, role: &str, known: &[&str]) -> Result<String, String> {
    if known.contains(&role) { Ok(role.to_owned()) } else { Err(format!("\"{head}\" knows no \"{role}\"; {}", guess(role, known))) }
}

fn guess(word: &str, known: &[&str]) -> String {
    match did_you_mean(word, known.iter().copied()) {
        guess if guess.is_empty() => format!("one of: {}", known_words(known)),
        guess => guess,
    }
}

fn known_words(known: &[&str]) -> String {
    known.join(", ")
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = |f: &mut fmt::Formatter<'_>, head: &str, role: &Option<String>| match role {
            Some(role) => write!(f, "{head}({role})"),
            None => f.write_str(head),
        };
        match self {
            Kind::Address(role) => write!(f, "address({role})"),
            Kind::Token(role) => with(f, "token", role),
            Kind::Chain(role) => with(f, "chain", role),
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
            Kind::Price(bound) => with(f, "price", bound),
            Kind::Tick(bound) => with(f, "tick", bound),
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
        assert!("adress(recipient)".parse::<Kind>().unwrap_err().contains("did you mean \"address\"?"));
        assert!("address(recipent)".parse::<Kind>().unwrap_err().contains("did you mean \"recipient\"?"));
        assert!("amount(wei)".parse::<Kind>().unwrap_err().contains("human"));
        assert!("bps(3)".parse::<Kind>().is_err());
        assert!("list(list(token))".parse::<Kind>().is_err());
        assert!("token(in".parse::<Kind>().is_err());
    }
}
