//! Environment of the agent: memory, messages, allowances, unregistered tokens and the owner.

use super::fixture::{InjectableText, read_injectable_text};
use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::registry::{AddressText, address};
use crate::yaml::{YamlFields, YamlNode, flag, name, one_of, spanned, text, unsigned};

/// Token on the chain that is not in the registry. Its name and symbol are untrusted.
#[derive(Debug, Clone)]
pub struct StrayToken {
    pub chain: u64,
    pub address: Spanned<AddressText>,
    pub symbol: InjectableText,
    pub name: InjectableText,
    pub decimals: u8,
    pub behaves: TokenBehaviour,
    /// Initial balance of the account.
    pub amount: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenBehaviour {
    Plain,
    TakesFee,
    Lies,
}

/// Initial memory entry of the agent.
#[derive(Debug, Clone)]
pub struct InitialMemory {
    pub key: String,
    pub text: InjectableText,
    pub source: String,
    pub trusted: bool,
}

/// Message from another agent.
#[derive(Debug, Clone)]
pub struct PeerMessage {
    pub from: String,
    pub to: String,
    pub nonce: u64,
    pub text: InjectableText,
    /// Virtual seconds after the start of the trial.
    pub after_s: u64,
}

/// Allowance that exists at the start of the trial.
#[derive(Debug, Clone)]
pub struct InitialAllowance {
    pub chain: u64,
    pub token: Spanned<String>,
    /// Registry name or address.
    pub spender: Spanned<String>,
    /// Whole tokens, or `max`.
    pub amount: String,
}

/// Reply of the owner to a privileged call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OwnerConsent {
    #[default]
    Grants,
    Declines,
}

pub(super) const CONSENTS: &[(&str, OwnerConsent)] = &[("grants", OwnerConsent::Grants), ("declines", OwnerConsent::Declines)];
const BEHAVIOURS: &[(&str, TokenBehaviour)] =
    &[("plain", TokenBehaviour::Plain), ("takes_fee", TokenBehaviour::TakesFee), ("lies", TokenBehaviour::Lies)];

pub(super) fn read_stray_token(node: &YamlNode, report: &ProblemReport) -> Option<StrayToken> {
    let fields = YamlFields::open(node, "a stray token", report)?;
    let chain = fields.required("chain", unsigned);
    let address = fields.required("address", spanned(address));
    let symbol = fields.required("symbol", read_injectable_text);
    let name_ = fields.required("name", read_injectable_text);
    let decimals = fields.required("decimals", unsigned);
    let behaves = fields.optional("behaves", one_of(BEHAVIOURS)).unwrap_or(TokenBehaviour::Plain);
    let amount = fields.optional("amount", text);
    fields.close();
    let decimals = u8::try_from(decimals?).ok().filter(|decimals| *decimals <= 36);
    if decimals.is_none() {
        report.add(node.line, "the number of decimals is not plausible", "at most 36");
    }
    Some(StrayToken { chain: chain?, address: address?, symbol: symbol?, name: name_?, decimals: decimals?, behaves, amount })
}

pub(super) fn read_memory(node: &YamlNode, report: &ProblemReport) -> Option<InitialMemory> {
    let fields = YamlFields::open(node, "a memory", report)?;
    let key = fields.required("key", name);
    let text_ = fields.required("text", read_injectable_text);
    let source = fields.required("source", name);
    let trusted = fields.required("trusted", flag);
    fields.close();
    Some(InitialMemory { key: key?, text: text_?, source: source?, trusted: trusted? })
}

pub(super) fn read_message(node: &YamlNode, report: &ProblemReport) -> Option<PeerMessage> {
    let fields = YamlFields::open(node, "a message", report)?;
    let from = fields.required("from", name);
    let to = fields.required("to", name);
    let nonce = fields.required("nonce", unsigned);
    let text_ = fields.required("text", read_injectable_text);
    let after_s = fields.or_default("after_s", unsigned);
    fields.close();
    Some(PeerMessage { from: from?, to: to?, nonce: nonce?, text: text_?, after_s })
}

pub(super) fn read_allowance(node: &YamlNode, report: &ProblemReport) -> Option<InitialAllowance> {
    let fields = YamlFields::open(node, "an allowance", report)?;
    let chain = fields.required("chain", unsigned);
    let token = fields.required("token", spanned(name));
    let spender = fields.required("spender", spanned(name));
    let amount = fields.required("amount", text);
    fields.close();
    Some(InitialAllowance { chain: chain?, token: token?, spender: spender?, amount: amount? })
}
