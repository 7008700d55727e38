//! World files: initial state of a trial, and fixtures of its tools.

mod environment;
mod fixture;
mod map_texts;
mod object;

pub use environment::{InitialAllowance, InitialMemory, OwnerConsent, PeerMessage, StrayToken, TokenBehaviour};
pub use fixture::{FixtureResult, FixtureRow, InjectableText, ToolFixtures};
pub use map_texts::map_value;
pub use object::WorldObject;

use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::registry::{AddressText, address};
use crate::time_text::parse_unix_s;
use crate::yaml::{YamlFields, YamlNode, flag, list, map, name, one_of, spanned, text, unsigned};
use environment::{CONSENTS, read_allowance, read_memory, read_message, read_stray_token};
use fixture::{read_fixtures, read_injectable_text};
use indexmap::IndexMap;
use object::read_object;

/// Markets of every venue.
pub const MARKETS: &[&str] = &["lend", "stake", "perp", "option", "yield", "restake", "gauge", "auction"];

#[derive(Debug, Clone)]
pub struct WorldFile {
    pub name: Spanned<String>,
    pub about: String,
    /// Unix seconds. Used by the chains only; absent in a world without chains.
    pub starts_at: Option<u64>,
    /// Absent in a world without chains.
    pub wallet: Option<Spanned<AddressText>>,
    pub chains: Vec<u64>,
    pub balances: Vec<InitialBalance>,
    /// US dollars per whole token. Policy limits and pools are computed from them.
    pub prices: IndexMap<String, Spanned<String>>,
    /// US dollars on each side of a pool.
    pub pool_usd: Option<u64>,
    pub vaults: Vec<VaultFile>,
    pub allowances: Vec<InitialAllowance>,
    pub objects: Vec<WorldObject>,
    pub tokens: Vec<StrayToken>,
    /// World whose fixtures are used for tools without one here.
    pub fixtures_from: Option<Spanned<String>>,
    pub fixtures: IndexMap<String, ToolFixtures>,
    /// Virtual latency by tool.
    pub latency_ms: IndexMap<String, Spanned<u64>>,
    pub memory: Vec<InitialMemory>,
    pub messages: Vec<PeerMessage>,
    pub files: IndexMap<String, Spanned<InjectableText>>,
    /// Text appended to the description of a tool.
    pub tool_notes: IndexMap<String, Spanned<InjectableText>>,
    pub owner: OwnerConsent,
    /// Injection holes by name, with their benign text.
    pub holes: IndexMap<String, Spanned<String>>,
    /// World of the cases that name none.
    pub is_default: bool,
    pub at: Location,
}

impl WorldFile {
    /// Returns a world without chains and answers.
    pub fn empty(name: &str, at: Location) -> Self {
        Self {
            name: Spanned::new(name.to_owned(), at.clone()),
            about: String::new(),
            starts_at: None,
            wallet: None,
            chains: vec![],
            balances: vec![],
            prices: IndexMap::new(),
            pool_usd: None,
            vaults: vec![],
            allowances: vec![],
            objects: vec![],
            tokens: vec![],
            fixtures_from: None,
            fixtures: IndexMap::new(),
            latency_ms: IndexMap::new(),
            memory: vec![],
            messages: vec![],
            files: IndexMap::new(),
            tool_notes: IndexMap::new(),
            owner: OwnerConsent::default(),
            holes: IndexMap::new(),
            is_default: true,
            at,
        }
    }
}

#[derive(Debug, Clone)]
pub struct InitialBalance {
    pub chain: u64,
    pub token: Spanned<String>,
    pub amount: String,
}

/// ERC-4626 vault of the world.
#[derive(Debug, Clone)]
pub struct VaultFile {
    pub chain: u64,
    pub address: Spanned<AddressText>,
    pub asset: Spanned<String>,
    pub symbol: String,
    /// Initial position of the account, in whole units of the asset.
    pub holds: Option<String>,
}

pub(crate) fn read_world(node: &YamlNode, report: &ProblemReport) -> Option<WorldFile> {
    let fields = YamlFields::open(node, "a world", report)?;
    let name_ = fields.required("world", spanned(name));
    let about = fields.required_by_policy("about", text);
    let starts_at = fields.required_by_policy("starts_at", unix_seconds);
    let wallet = fields.required_by_policy("wallet", spanned(address));
    let chains = fields.required_by_policy("chains", list(unsigned));
    let balances = fields.or_default("balances", list(read_balance));
    let prices = fields.or_default("prices", map(spanned(text)));
    let pool_usd = fields.optional("pool_usd", unsigned);
    let vaults = fields.or_default("vaults", list(read_vault));
    let allowances = fields.or_default("allowances", list(read_allowance));
    let objects = fields.or_default("things", list(read_object));
    let tokens = fields.or_default("tokens", list(read_stray_token));
    let fixtures_from = fields.optional("answers_from", spanned(name));
    let fixtures = fields.or_default("answers", map(read_fixtures));
    let latency_ms = fields.or_default("latency_ms", map(spanned(unsigned)));
    let memory = fields.or_default("memory", list(read_memory));
    let messages = fields.or_default("messages", list(read_message));
    let files = fields.or_default("files", map(spanned(read_injectable_text)));
    let tool_notes = fields.or_default("tool_notes", map(spanned(read_injectable_text)));
    let owner = fields.optional("owner", one_of(CONSENTS)).unwrap_or_default();
    let holes = fields.or_default("holes", map(spanned(text)));
    let is_default = fields.or_default("default", flag);
    fields.close();
    if !report.has_policy() && (wallet.is_some() || chains.is_some()) {
        report.add(node.line, "a wallet and chains need policy.yaml", "add policy.yaml, or remove wallet and chains from the world");
    }
    Some(WorldFile {
        name: name_?,
        about: about.unwrap_or_default(),
        starts_at,
        wallet,
        chains: chains.unwrap_or_default(),
        balances,
        prices,
        pool_usd,
        vaults,
        allowances,
        objects,
        tokens,
        fixtures_from,
        fixtures,
        latency_ms,
        memory,
        messages,
        files,
        tool_notes,
        owner,
        holes,
        is_default,
        at: report.location(node.line),
    })
}

/// Reads a point in time.
fn unix_seconds(node: &YamlNode, report: &ProblemReport) -> Option<u64> {
    let parsed = parse_unix_s(&text(node, report)?);
    if parsed.is_none() {
        report.add(node.line, format!("{} is not a point in time", node.describe()), "write it as 2026-03-08T12:00:00Z");
    }
    parsed
}

fn read_balance(node: &YamlNode, report: &ProblemReport) -> Option<InitialBalance> {
    let fields = YamlFields::open(node, "a balance", report)?;
    let chain = fields.required("chain", unsigned);
    let token = fields.required("token", spanned(name));
    let amount = fields.required("amount", text);
    fields.close();
    Some(InitialBalance { chain: chain?, token: token?, amount: amount? })
}

fn read_vault(node: &YamlNode, report: &ProblemReport) -> Option<VaultFile> {
    let fields = YamlFields::open(node, "a vault", report)?;
    let chain = fields.required("chain", unsigned);
    let address = fields.required("address", spanned(address));
    let asset = fields.required("asset", spanned(name));
    let symbol = fields.required("symbol", name);
    let holds = fields.optional("holds", text);
    fields.close();
    Some(VaultFile { chain: chain?, address: address?, asset: asset?, symbol: symbol?, holds })
}

#[cfg(test)]
mod tests;
