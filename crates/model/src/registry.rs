//! Who is who on a chain: tokens and contracts by address, one file per chain.

use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::text_enum::text_enum;
use crate::yaml::{Fields, Node, list, name, number, one_of, spot, text, whole};
use alloy_primitives::Address;

#[derive(Debug, Clone)]
pub struct Chain {
    pub id: u64,
    pub name: String,
    pub aliases: Vec<String>,
    pub native: String,
    pub block_time_s: f64,
    pub tokens: Vec<Token>,
    pub contracts: Vec<Contract>,
    pub at: Place,
}

#[derive(Debug, Clone)]
pub struct Token {
    pub symbol: Spot<String>,
    pub address: Spot<AddressText>,
    pub decimals: u8,
    pub name: String,
}

#[derive(Debug, Clone)]
pub struct Contract {
    pub name: Spot<String>,
    pub role: Role,
    pub address: Spot<AddressText>,
}

/// An address as written: the checksum is part of what the author said, so the text is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressText {
    pub text: String,
    pub address: Address,
}

impl AddressText {
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("0x")?;
        if digits.len() != 40 {
            return None;
        }
        let address = text.parse::<Address>().ok()?;
        Some(Self { text: text.to_owned(), address })
    }

    /// The EIP-55 spelling of the same address.
    pub fn checksummed(&self) -> String {
        self.address.to_checksum(None)
    }

    pub fn is_checksummed(&self) -> bool {
        self.text == self.checksummed()
    }
}

text_enum! {
    /// Purpose of a contract. Policies approve roles, grounding names them.
    Role {
        Router "router", Quoter "quoter", PoolManager "pool_manager", PositionManager "position_manager", Permit2 "permit2", Factory "factory",
        LendingPool "lending_pool", Staking "staking", Bridge "bridge", IdentityRegistry "identity_registry",
        ReputationRegistry "reputation_registry", FeeJar "fee_jar", FeeBurner "fee_burner", SanctionsOracle "sanctions_oracle",
        PriceOracle "price_oracle", VaultFactory "vault_factory", Weth "weth", PerpRouter "perp_router", YieldRouter "yield_router",
        Restaking "restaking",
    }
}

pub(crate) fn address(node: &Node, report: &Report) -> Option<AddressText> {
    let written = text(node, report)?;
    let parsed = AddressText::parse(&written);
    if parsed.is_none() {
        report.add(node.line, format!("{} is not an address", node.describe()), "0x and 40 hex digits, in quotes");
    }
    parsed
}

pub(crate) fn read_chain(node: &Node, report: &Report) -> Option<Chain> {
    let fields = Fields::open(node, "a registry", report)?;
    let head = fields.need("chain", read_head);
    let tokens = fields.or_default("tokens", list(read_token));
    let contracts = fields.or_default("contracts", list(read_contract));
    fields.close();
    Some(Chain { tokens, contracts, ..head? })
}

fn read_head(node: &Node, report: &Report) -> Option<Chain> {
    let fields = Fields::open(node, "a chain", report)?;
    let id = fields.need("id", whole);
    let name_ = fields.need("name", name);
    let aliases = fields.or_default("aliases", list(name));
    let native = fields.need("native", name);
    let block_time_s = fields.need("block_time_s", number);
    fields.close();
    Some(Chain {
        id: id?,
        name: name_?,
        aliases,
        native: native?,
        block_time_s: block_time_s?,
        tokens: vec![],
        contracts: vec![],
        at: report.place(node.line),
    })
}

fn read_token(node: &Node, report: &Report) -> Option<Token> {
    let fields = Fields::open(node, "a token", report)?;
    let symbol = fields.need("symbol", spot(name));
    let address = fields.need("address", spot(address));
    let decimals = fields.need("decimals", whole).filter(|decimals| {
        let fits = *decimals <= 36;
        if !fits {
            report.add(node.line, format!("{decimals} decimals are not plausible"), "at most 36");
        }
        fits
    });
    let name = fields.need("name", text);
    fields.close();
    Some(Token { symbol: symbol?, address: address?, decimals: u8::try_from(decimals?).unwrap_or(u8::MAX), name: name? })
}

fn read_contract(node: &Node, report: &Report) -> Option<Contract> {
    let fields = Fields::open(node, "a contract", report)?;
    let name_ = fields.need("name", spot(name));
    let role = fields.need("role", one_of(Role::ALL));
    let address = fields.need("address", spot(address));
    fields.close();
    Some(Contract { name: name_?, role: role?, address: address? })
}

#[cfg(test)]
mod tests;
