//! Chain registry: known tokens and contracts by address, one file per chain.

use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::text_enum::text_enum;
use crate::yaml::{YamlFields, YamlNode, list, name, number, one_of, spanned, text, unsigned};
use alloy_primitives::Address;

#[derive(Debug, Clone)]
pub struct ChainRegistry {
    pub id: u64,
    pub name: String,
    pub aliases: Vec<String>,
    pub native: String,
    pub block_time_s: f64,
    pub tokens: Vec<RegistryToken>,
    pub contracts: Vec<RegistryContract>,
    pub at: Location,
}

#[derive(Debug, Clone)]
pub struct RegistryToken {
    pub symbol: Spanned<String>,
    pub address: Spanned<AddressText>,
    pub decimals: u8,
    pub name: String,
}

#[derive(Debug, Clone)]
pub struct RegistryContract {
    pub name: Spanned<String>,
    pub role: Role,
    pub address: Spanned<AddressText>,
}

/// Address with its text, which is kept to verify the checksum.
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

    /// Returns the address with its EIP-55 checksum.
    pub fn to_checksum(&self) -> String {
        self.address.to_checksum(None)
    }

    /// Returns whether the text has a valid EIP-55 checksum.
    pub fn is_checksummed(&self) -> bool {
        self.text == self.to_checksum()
    }
}

text_enum! {
    /// Role of a contract. Policies approve protocols by role.
    Role {
        Router "router", Quoter "quoter", PoolManager "pool_manager", PositionManager "position_manager", Permit2 "permit2", Factory "factory",
        LendingPool "lending_pool", Staking "staking", Bridge "bridge", IdentityRegistry "identity_registry",
        ReputationRegistry "reputation_registry", FeeJar "fee_jar", FeeBurner "fee_burner", SanctionsOracle "sanctions_oracle",
        PriceOracle "price_oracle", VaultFactory "vault_factory", Weth "weth", PerpRouter "perp_router", YieldRouter "yield_router",
        Restaking "restaking",
    }
}

pub(crate) fn address(node: &YamlNode, report: &ProblemReport) -> Option<AddressText> {
    let written = text(node, report)?;
    let parsed = AddressText::parse(&written);
    if parsed.is_none() {
        report.add(node.line, format!("{} is not an address", node.describe()), "0x and 40 hex digits, in quotes");
    }
    parsed
}

pub(crate) fn read_chain(node: &YamlNode, report: &ProblemReport) -> Option<ChainRegistry> {
    let fields = YamlFields::open(node, "a registry", report)?;
    let head = fields.required("chain", read_chain_header);
    let tokens = fields.or_default("tokens", list(read_token));
    let contracts = fields.or_default("contracts", list(read_contract));
    fields.close();
    Some(ChainRegistry { tokens, contracts, ..head? })
}

fn read_chain_header(node: &YamlNode, report: &ProblemReport) -> Option<ChainRegistry> {
    let fields = YamlFields::open(node, "a chain", report)?;
    let id = fields.required("id", unsigned);
    let name_ = fields.required("name", name);
    let aliases = fields.or_default("aliases", list(name));
    let native = fields.required("native", name);
    let block_time_s = fields.required("block_time_s", number);
    fields.close();
    Some(ChainRegistry {
        id: id?,
        name: name_?,
        aliases,
        native: native?,
        block_time_s: block_time_s?,
        tokens: vec![],
        contracts: vec![],
        at: report.location(node.line),
    })
}

fn read_token(node: &YamlNode, report: &ProblemReport) -> Option<RegistryToken> {
    let fields = YamlFields::open(node, "a token", report)?;
    let symbol = fields.required("symbol", spanned(name));
    let address = fields.required("address", spanned(address));
    let decimals = fields.required("decimals", unsigned).filter(|decimals| {
        let fits = *decimals <= 36;
        if !fits {
            report.add(node.line, format!("{decimals} decimals are not plausible"), "at most 36");
        }
        fits
    });
    let name = fields.required("name", text);
    fields.close();
    Some(RegistryToken { symbol: symbol?, address: address?, decimals: u8::try_from(decimals?).unwrap_or(u8::MAX), name: name? })
}

fn read_contract(node: &YamlNode, report: &ProblemReport) -> Option<RegistryContract> {
    let fields = YamlFields::open(node, "a contract", report)?;
    let name_ = fields.required("name", spanned(name));
    let role = fields.required("role", one_of(Role::ALL));
    let address = fields.required("address", spanned(address));
    fields.close();
    Some(RegistryContract { name: name_?, role: role?, address: address? })
}

#[cfg(test)]
mod tests;
