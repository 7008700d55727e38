//! A world file: what a trial starts with and what its sources answer.

mod answer;
mod around;
mod thing;

pub use answer::{Answers, Gives, Inert, Row};
pub use around::{Consent, Given, Memory, Message, StrayToken, TokenBehaviour};
pub use thing::Thing;

use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::registry::{AddressText, address};
use crate::yaml::{Fields, Node, list, map, name, one_of, spot, text, whole};
use answer::{inert, read_answers};
use around::{CONSENTS, read_given, read_memory, read_message, read_token};
use indexmap::IndexMap;
use thing::read_thing;

/// The markets every venue of a world has.
pub const MARKETS: &[&str] = &["lend", "stake", "perp", "option", "yield", "restake", "gauge", "auction"];

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
    /// US dollars on each side of a pool.
    pub pool_usd: Option<u64>,
    pub vaults: Vec<VaultFile>,
    pub allowances: Vec<Given>,
    pub things: Vec<Thing>,
    pub tokens: Vec<StrayToken>,
    /// Another world whose answers hold where this one has none.
    pub answers_from: Option<Spot<String>>,
    pub answers: IndexMap<String, Answers>,
    /// Milliseconds a tool takes.
    pub latency_ms: IndexMap<String, Spot<u64>>,
    pub memory: Vec<Memory>,
    pub messages: Vec<Message>,
    pub files: IndexMap<String, Spot<Inert>>,
    /// Text that is added to a tool's description.
    pub tool_notes: IndexMap<String, Spot<Inert>>,
    pub owner: Consent,
    /// Named places where attacks write, each with what stands there otherwise.
    pub holes: IndexMap<String, Spot<String>>,
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
    /// What the account has in it when the trial begins: whole units of the asset.
    pub holds: Option<String>,
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
    let pool_usd = fields.maybe("pool_usd", whole);
    let vaults = fields.or_default("vaults", list(read_vault));
    let allowances = fields.or_default("allowances", list(read_given));
    let things = fields.or_default("things", list(read_thing));
    let tokens = fields.or_default("tokens", list(read_token));
    let answers_from = fields.maybe("answers_from", spot(name));
    let answers = fields.or_default("answers", map(read_answers));
    let latency_ms = fields.or_default("latency_ms", map(spot(whole)));
    let memory = fields.or_default("memory", list(read_memory));
    let messages = fields.or_default("messages", list(read_message));
    let files = fields.or_default("files", map(spot(inert)));
    let tool_notes = fields.or_default("tool_notes", map(spot(inert)));
    let owner = fields.maybe("owner", one_of(CONSENTS)).unwrap_or_default();
    let holes = fields.or_default("holes", map(spot(text)));
    fields.close();
    Some(WorldFile {
        name: name_?,
        about: about?,
        starts_at: starts_at?,
        wallet: wallet?,
        chains: chains?,
        balances,
        prices,
        pool_usd,
        vaults,
        allowances,
        things,
        tokens,
        answers_from,
        answers,
        latency_ms,
        memory,
        messages,
        files,
        tool_notes,
        owner,
        holes,
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
    let holds = fields.maybe("holds", text);
    fields.close();
    Some(VaultFile { chain: chain?, address: address?, asset: asset?, symbol: symbol?, holds })
}

#[cfg(test)]
mod tests;
