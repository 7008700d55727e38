//! A world file: the wallet, balances and fixture answers a trial starts with.

use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::registry::{AddressText, address};
use crate::yaml::{Fields, Node, json, list, map, name, spot, text, whole};
use indexmap::IndexMap;
use serde_json::Value;

#[derive(Debug, Clone)]
pub struct WorldFile {
    pub name: Spot<String>,
    pub about: String,
    pub starts_at: String,
    pub wallet: Spot<AddressText>,
    pub chains: Vec<u64>,
    pub balances: Vec<Balance>,
    /// US dollars per whole token; what policy limits and pools are computed from.
    pub prices: IndexMap<String, Spot<String>>,
    pub vaults: Vec<VaultFile>,
    pub answers: IndexMap<String, Spot<Value>>,
    pub at: Place,
}

#[derive(Debug, Clone)]
pub struct Balance {
    pub chain: u64,
    pub token: Spot<String>,
    pub amount: String,
}

/// An ERC-4626 vault of the world.
#[derive(Debug, Clone)]
pub struct VaultFile {
    pub chain: u64,
    pub address: Spot<AddressText>,
    pub asset: Spot<String>,
    pub symbol: String,
}

pub(crate) fn read_world(node: &Node, report: &Report) -> Option<WorldFile> {
    let fields = Fields::open(node, "a world", report)?;
    let name_ = fields.need("world", spot(name));
    let about = fields.need("about", text);
    let starts_at = fields.need("starts_at", text);
    let wallet = fields.need("wallet", spot(address));
    let chains = fields.need("chains", list(whole));
    let balances = fields.or_default("balances", list(read_balance));
    let prices = fields.or_default("prices", map(spot(text)));
    let vaults = fields.or_default("vaults", list(read_vault));
    let answers = fields.or_default("answers", map(spot(json)));
    fields.close();
    Some(WorldFile {
        name: name_?,
        about: about?,
        starts_at: starts_at?,
        wallet: wallet?,
        chains: chains?,
        balances,
        prices,
        vaults,
        answers,
        at: report.place(node.line),
    })
}

fn read_balance(node: &Node, report: &Report) -> Option<Balance> {
    let fields = Fields::open(node, "a balance", report)?;
    let chain = fields.need("chain", whole);
    let token = fields.need("token", spot(name));
    let amount = fields.need("amount", text);
    fields.close();
    Some(Balance { chain: chain?, token: token?, amount: amount? })
}

fn read_vault(node: &Node, report: &Report) -> Option<VaultFile> {
    let fields = Fields::open(node, "a vault", report)?;
    let chain = fields.need("chain", whole);
    let address = fields.need("address", spot(address));
    let asset = fields.need("asset", spot(name));
    let symbol = fields.need("symbol", name);
    fields.close();
    Some(VaultFile { chain: chain?, address: address?, asset: asset?, symbol: symbol? })
}
