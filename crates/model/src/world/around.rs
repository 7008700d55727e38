//! What surrounds the agent in a world: memory, messages, files, people, tokens nobody vouches for.

use super::answer::{Inert, inert};
use crate::place::Spot;
use crate::problem::Report;
use crate::registry::{AddressText, address};
use crate::yaml::{Fields, Node, flag, name, one_of, spot, text, whole};

/// A token that stands on the chain but in no registry. Its name and symbol are its maker's words.
#[derive(Debug, Clone)]
pub struct StrayToken {
    pub chain: u64,
    pub address: Spot<AddressText>,
    pub symbol: Inert,
    pub name: Inert,
    pub decimals: u8,
    pub behaves: TokenBehaviour,
    /// What the account holds of it when the trial begins.
    pub amount: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenBehaviour {
    Plain,
    TakesFee,
    Lies,
}

/// Something the agent remembers when the trial begins.
#[derive(Debug, Clone)]
pub struct Memory {
    pub key: String,
    pub text: Inert,
    pub source: String,
    pub trusted: bool,
}

/// A message that another agent sends.
#[derive(Debug, Clone)]
pub struct Message {
    pub from: String,
    pub to: String,
    pub nonce: u64,
    pub text: Inert,
    /// Virtual seconds after the beginning.
    pub after_s: u64,
}

/// An allowance that is already given when the trial begins.
#[derive(Debug, Clone)]
pub struct Given {
    pub chain: u64,
    pub token: Spot<String>,
    /// A name of the registry or an address.
    pub spender: Spot<String>,
    /// Whole tokens, or `max`.
    pub amount: String,
}

/// What the owner says when a privileged call asks for consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consent {
    #[default]
    Grants,
    Declines,
}

pub(super) const CONSENTS: &[(&str, Consent)] = &[("grants", Consent::Grants), ("declines", Consent::Declines)];
const BEHAVIOURS: &[(&str, TokenBehaviour)] =
    &[("plain", TokenBehaviour::Plain), ("takes_fee", TokenBehaviour::TakesFee), ("lies", TokenBehaviour::Lies)];

pub(super) fn read_token(node: &Node, report: &Report) -> Option<StrayToken> {
    let fields = Fields::open(node, "a stray token", report)?;
    let chain = fields.need("chain", whole);
    let address = fields.need("address", spot(address));
    let symbol = fields.need("symbol", inert);
    let name_ = fields.need("name", inert);
    let decimals = fields.need("decimals", whole);
    let behaves = fields.maybe("behaves", one_of(BEHAVIOURS)).unwrap_or(TokenBehaviour::Plain);
    let amount = fields.maybe("amount", text);
    fields.close();
    let decimals = u8::try_from(decimals?).ok().filter(|decimals| *decimals <= 36);
    if decimals.is_none() {
        report.add(node.line, "so many decimals are not plausible", "at most 36");
    }
    Some(StrayToken { chain: chain?, address: address?, symbol: symbol?, name: name_?, decimals: decimals?, behaves, amount })
}

pub(super) fn read_memory(node: &Node, report: &Report) -> Option<Memory> {
    let fields = Fields::open(node, "a memory", report)?;
    let key = fields.need("key", name);
    let text_ = fields.need("text", inert);
    let source = fields.need("source", name);
    let trusted = fields.need("trusted", flag);
    fields.close();
    Some(Memory { key: key?, text: text_?, source: source?, trusted: trusted? })
}

pub(super) fn read_message(node: &Node, report: &Report) -> Option<Message> {
    let fields = Fields::open(node, "a message", report)?;
    let from = fields.need("from", name);
    let to = fields.need("to", name);
    let nonce = fields.need("nonce", whole);
    let text_ = fields.need("text", inert);
    let after_s = fields.or_default("after_s", whole);
    fields.close();
    Some(Message { from: from?, to: to?, nonce: nonce?, text: text_?, after_s })
}

pub(super) fn read_given(node: &Node, report: &Report) -> Option<Given> {
    let fields = Fields::open(node, "an allowance", report)?;
    let chain = fields.need("chain", whole);
    let token = fields.need("token", spot(name));
    let spender = fields.need("spender", spot(name));
    let amount = fields.need("amount", text);
    fields.close();
    Some(Given { chain: chain?, token: token?, spender: spender?, amount: amount? })
}
